"""One HTML file that needs nothing else: the assets of this package and a conversion's data, put together safely.

Names and labels come from model files that nobody has looked at. They only ever enter the page as JSON in which no
character can end a script, and the page shows them as text. Its content security policy allows this one script and this
one style by their hashes, and no connection at all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

_SCRIPTS = (  # put together in this order
    "elements.js",
    "coverage.js",
    "model.js",
    "format.js",
    "wrap_text.js",
    "places.js",
    "row_element.js",
    "list_view.js",
    "viewport.js",
    "drawing_layout.js",
    "drawing_nodes.js",
    "drawing.js",
    "download.js",
    "map_view.js",
    "search.js",
    "links.js",
    "input_form.js",
    "selected.js",
    "rules.js",
    "sections.js",
    "frontier.js",
    "tolerance.js",
    "checks.js",
    "page.js",
)
_STYLES = ("page.css", "tree.css")
_PAGE = "page.html"
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def render_page(data: dict[str, Any]) -> str:
    """Return the page that shows `data`, as `write_report` puts it together."""
    from importlib.metadata import version

    style = "".join(_asset(name) for name in _STYLES)
    script = '"use strict";\n(() => {\n' + "\n".join(_asset(name) for name in _SCRIPTS) + "})();\n"
    parts = {
        "policy": _policy(script, style),
        "style": style,
        "data": script_safe_json({**data, "version": version("onetree")}),
        "script": script,
    }
    # In one pass, so that a name which looks like a place is left alone.
    return _PLACE.sub(lambda place: parts[place[1]], _asset(_PAGE))


def script_safe_json(value: Any) -> str:
    """Return JSON that can stand inside a script element: pure ASCII, without ``<``, ``>`` and ``&``."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&]", lambda found: _UNSAFE[found[0]], text)


def _policy(script: str, style: str) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "img-src data:",  # the empty icon, so that a browser asks nobody for one
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",  # no text ever becomes markup or code
        )
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return files("onetree.report").joinpath("assets", name).read_text(encoding="utf-8")
