"""Shows choices in the reference as they are written: `{"depth", "leaves"}` is no default and no Python.

Griffe takes the first choice of a numpydoc parameter for its default, whatever the signature says.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

CHOICES = re.compile(r"^(?P<names>\w+(?:, \w+)*) : \{(?P<choices>[^}]*)\}", re.MULTILINE)


class Choices(griffe.Extension):
    """Puts the choices back as text, and the defaults of the signature beside them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Mend the parameters of one function or class."""
        if obj.docstring is None or not isinstance(obj, griffe.Function | griffe.Class):
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
