"""Domains as the stages take them, from what a user would write."""

from onetree.domain.domain import as_domain
from onetree.domain.restrict import restrict
from onetree.lowering.axes import axes_of
from onetree.lowering.grid import Grid


def axes_in(ensemble, domain):
    return axes_of(ensemble, as_domain(domain, ensemble))


def grid_in(ensemble, domain):
    return Grid.of(ensemble, as_domain(domain, ensemble))


def restricted(ensemble, domain):
    return restrict(ensemble, as_domain(domain, ensemble))
