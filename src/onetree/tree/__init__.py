"""The decision tree that leaves the package, and what is done to it alone: prune, compare, count classes in leaves.

How a tree is written or drawn is said in `export`, `display` and `report`.
"""
