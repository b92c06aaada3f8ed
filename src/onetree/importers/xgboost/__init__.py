"""XGBoost: models in memory, and files in JSON and UBJSON."""
