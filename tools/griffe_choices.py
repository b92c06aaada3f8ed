"""Shows choices and defaults in the reference as a reader needs them.

`{"depth", "leaves"}` is no default and no Python: Griffe takes the first choice of a numpydoc parameter for its
default, whatever the signature says. And a default that is the name of a constant is shown as what it stands for.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

CHOICES = re.compile(r"^(?P<names>\w+(?:, \w+)*) : \{(?P<choices>[^}]*)\}", re.MULTILINE)


def constant(function: griffe.Function, name: griffe.ExprName) -> griffe.Expr | str:
    """Return what a constant of the project stands for, or its name where that is not a plain number or text."""
    try:
        found = function.modules_collection[name.canonical_path]
    except (KeyError, griffe.GriffeError):
        return name
    if isinstance(found, griffe.Alias):
        found = found.final_target
    value = found.value if isinstance(found, griffe.Attribute) else None
    return value if isinstance(value, str) else name


class Choices(griffe.Extension):
    """Puts the choices back as text, and the defaults of the signature beside them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Mend one function or class; constants first, since docstrings are read with them."""
        if not isinstance(obj, griffe.Function | griffe.Class):
            return
        function = obj.members.get("__init__") if isinstance(obj, griffe.Class) else obj
        if isinstance(function, griffe.Function):
            for given in function.parameters:
                if isinstance(given.default, griffe.ExprName):
                    given.default = constant(function, given.default)
        mend_choices(obj)


def mend_choices(obj: griffe.Function | griffe.Class) -> None:
    """Show the choices of each parameter, and its real default."""
    if obj.docstring is None:
        return
    written = {
        name: match["choices"].replace(", ", " | ")
        for match in CHOICES.finditer(obj.docstring.value)
        for name in match["names"].split(", ")
    }
    if not written:
        return
    obj.docstring.parser = griffe.Parser.numpy
    for section in obj.docstring.parsed:
        if section.kind is griffe.DocstringSectionKind.parameters:
            for parameter in section.value:
                if parameter.name in written:
                    known = parameter.name in obj.parameters
                    parameter.annotation = written[parameter.name]
                    parameter.default = obj.parameters[parameter.name].default if known else None
