"""The decision tree that leaves the package, and what is done to it alone: prune, compare, count classes in leaves.

Writing and drawing trees is left to `export`, `display` and `report`.
"""
