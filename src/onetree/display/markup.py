"""Pieces of HTML that look right in any notebook, light or dark, and without their styles too.

All text is escaped here: names and labels come from models and files that nobody has looked at. Styles stand on the
elements, since notebooks share one page, and colours are those of the page but for the classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from onetree.export.words.wording import printable

_PANEL = "font:13px/1.5 system-ui,sans-serif;max-width:100%;margin:2px 0"
_FACTS = "display:grid;grid-template-columns:max-content minmax(0,1fr);gap:0 1.2em;margin:4px 0"
_NAME = "margin:0;opacity:.7;font-weight:normal"
_VALUE = "margin:0;overflow-wrap:anywhere"
_NOTE = "margin:2px 0;opacity:.7"

Fact = tuple[str, str]


def text(words: object) -> str:
    """Escape words, so that they are nothing but text, on one line."""
    return escape(printable(str(words)))


def panel(title: str, facts: Iterable[Fact] = (), *bodies: str) -> str:
    """Return a title, named facts below it, and what is already HTML after them."""
    rows = "".join(
        f'<dt style="{_NAME}">{text(name)}</dt><dd style="{_VALUE}">{text(value)}</dd>' for name, value in facts
    )
    listed = f'<dl style="{_FACTS}">{rows}</dl>' if rows else ""
    return f'<div style="{_PANEL}"><strong>{text(title)}</strong>{listed}{"".join(bodies)}</div>'


def note(words: str) -> str:
    """Return a sentence in the background."""
    return f'<p style="{_NOTE}">{text(words)}</p>'


def bullets(sentences: Sequence[str]) -> str:
    """Return sentences one below the other."""
    return "".join(['<ul style="margin:4px 0">', *(f"<li>{text(each)}</li>" for each in sentences), "</ul>"])


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return lines under a header, all to the right."""
    cell = 'style="text-align:right;padding:1px .8em"'
    head = "".join(f"<th {cell}>{text(entry)}</th>" for entry in header)
    body = "".join("<tr>" + "".join(f"<td {cell}>{text(entry)}</td>" for entry in line) + "</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def scrolled(content: str) -> str:
    """Let large content scroll by itself, so that the page does not."""
    return f'<div style="overflow:auto;max-height:560px">{content}</div>'


def some(names: Sequence[object], limit: int = 8) -> str:
    """List names, up to a readable number."""
    listed = ", ".join(printable(str(name)) for name in names[:limit])
    return listed if len(names) <= limit else f"{listed}, … ({len(names):,} in all)"
