"""CatBoost: models in memory, and files in JSON."""
