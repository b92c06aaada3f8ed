"""The tree as source code, by language; each language has a module of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from onetree.errors import InvalidInputError
from onetree.export.c import to_c
from onetree.export.python import to_python
from onetree.export.sql import to_sql

if TYPE_CHECKING:
    from onetree.tree.tree import Tree

LANGUAGES: dict[str, Callable[..., str]] = {"python": to_python, "c": to_c, "sql": to_sql}


def to_code(tree: Tree, language: str, **options: Any) -> str:
    """Return `tree` as source code without dependencies.

    Parameters
    ----------
    tree : Tree
    language : {"python", "c", "sql"}
    **options
        Of the language: see `onetree.export.python.to_python`, `onetree.export.c.to_c` and `onetree.export.sql.to_sql`.
        All take `style`: "nested" conditions, "table" (any depth and size), or "auto".

    Examples
    --------
    >>> from onetree.tree.tree import Tree
    >>> labels = ["kitten", "cat"]
    >>> tree = Tree([0, -1, -1], [2.5, 0, 0], [1, -1, -1], [2, -1, -1], [-1, 0, 1], labels, ("age",), [False])
    >>> module = {}
    >>> exec(tree.to_code("python"), module)
    >>> module["predict"]([3])
    'cat'
    """
    if language not in LANGUAGES:
        raise InvalidInputError(f"no code in {language!r}; use one of {', '.join(LANGUAGES)}")
    return LANGUAGES[language](tree, **options)
