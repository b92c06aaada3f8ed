"""A conversion for people to look at: the HTML report, and figures.

Comes last in the pipeline: shows what earlier stages found and decides nothing.
"""

from onetree.report.facts import Equality
from onetree.report.write import write_report

__all__ = ["Equality", "write_report"]
