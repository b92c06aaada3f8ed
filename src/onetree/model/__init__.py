"""The model as data: an `Ensemble`, the rule that combines its trees, its columns and categories, and inputs for it.

Libraries are read in `importers`; which inputs can occur is in `domain`.
"""
