"""How deep a tree is that shows that nothing recurses: too deep for Python's stack, in full for the core's."""

from tests.tiers import share

DEEP = share(100_000, least=20_000)
