"""LightGBM: models in memory, and its text files."""
