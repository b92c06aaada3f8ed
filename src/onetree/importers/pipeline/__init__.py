"""From a model behind column functions to an `Ensemble` on the raw columns; knows no library.

A pipeline gives its model columns each of which is a function of one raw column. `compose` rewrites every test of the
model as a test on the raw column, and `aligned` brings several ensembles onto the same columns.
"""

from onetree.importers.pipeline.aligned import aligned
from onetree.importers.pipeline.columns import Break, Column, Raw
from onetree.importers.pipeline.compose import compose

__all__ = ["Break", "Column", "Raw", "aligned", "compose"]
