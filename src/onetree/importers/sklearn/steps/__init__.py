"""Pipelines of scikit-learn on their raw columns: which steps are read, and the model behind them composed with them.

Each step is known by its class, which says what a column becomes; its own `transform` says how, in its own arithmetic.
"""

from onetree.importers.sklearn.steps.pipeline import import_pipeline

__all__ = ["import_pipeline"]
