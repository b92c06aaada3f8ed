"""Trees for models of any size: faithful where the data are, not everywhere, and honest about it.

`support_tree` grows a tree from reference rows and the ensemble's answers; `SupportSolution` says what it promises and
how well it does. `frontier/` shows what trees of several sizes are worth. Never says that such a tree is exact.
"""

from onetree.support.agreement import Agreement, NumberAgreement
from onetree.support.build import support_tree
from onetree.support.cores.regions import Cores, Coverage
from onetree.support.solution import SupportSolution

__all__ = ["Agreement", "Cores", "Coverage", "NumberAgreement", "SupportSolution", "support_tree"]
