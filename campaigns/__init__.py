"""Correctness at length: more models and more inputs than the tests take, each run by ``python -m campaigns.NAME``."""
