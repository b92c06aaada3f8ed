"""Spark ML: saved trees, forests and gradient boosted trees, read without Spark."""
