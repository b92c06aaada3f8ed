"""Measurements that anyone can repeat: each module is a command, ``python -m benchmarks.NAME``."""
