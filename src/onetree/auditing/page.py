"""An audit as one HTML page: no script, no network; for a screen, a phone and paper.

All names and labels go through `_text`, which escapes them.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from onetree.auditing.words import Words, percent
from onetree.export.words.wording import printable
from onetree.questions.checks import Check
from onetree.questions.costs import changed_features
from onetree.questions.wording import shown

if TYPE_CHECKING:
    from onetree.auditing.audit import Audit, AuditedCheck
    from onetree.questions.difference import ModelDifference

_STATES = {True: ("good", "Proven"), False: ("bad", "Refuted"), None: ("open", "Not decided")}
_TITLES = {"fair": "Protected", "monotone": "Direction", "stable": "Stability", "reachable": "Reachable"}
_RULES = {"hard": "each has one vote", "soft": "class shares are added up", "combined": "models are combined"}
_MOST_BOXES = 10


def render_audit(audit: Audit) -> str:
    """Return the page."""
    from importlib.metadata import version

    words = Words(audit.ensemble, audit.domain)
    style = files("onetree.auditing").joinpath("assets", "audit.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    sections = [_glance(audit, words), _promise(audit, words), _checks(audit, words), _rules(audit, words)]
    if audit.difference is not None:
        sections.append(_changes(audit.difference, words))
    sections += [_meaning(audit), _signature()]
    title = _text(audit.title)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="lead">{_lead(audit)}</p>
</header>
<main>
{"".join(sections)}
</main>
<footer><p>Made by onetree {_text(version("onetree"))}. This page holds all it shows and loads nothing.</p></footer>
</body>
</html>
"""


def _text(value: object) -> str:
    return escape(printable(str(value)))


def _badge(holds: bool | None, refuted: str = "Refuted") -> str:
    kind, word = _STATES[holds]
    return f'<span class="badge {kind}">{refuted if holds is False else word}</span>'


def _section(name: str, title: str, content: str) -> str:
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{title}</h2>\n{content}\n</section>\n'


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], label: str, numbers: int = 0) -> str:
    """Return a table of markup; the last columns hold numbers."""
    first_number = len(header) - numbers

    def cells(row: Sequence[str]) -> str:
        head, *others = row
        return f'<th scope="row">{head}</th>' + "".join(
            f'<td class="number">{each}</td>' if at >= first_number else f"<td>{each}</td>"
            for at, each in enumerate(others, start=1)
        )

    heads = "".join(
        f'<th scope="col"{" class=number" if at >= first_number else ""}>{each}</th>' for at, each in enumerate(header)
    )
    body = "".join(f"<tr>{cells(row)}</tr>\n" for row in rows)
    return (
        f'<div class="wide" role="group" aria-label="{_text(label)}" tabindex="0"><table>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def _lead(audit: Audit) -> str:
    states = [check.holds for check in audit.checks]
    counts = [(states.count(state), word.lower()) for state, (_, word) in _STATES.items()]
    said = ", ".join(f"{count} {word}" for count, word in counts if count)
    return f"{_count(len(states), 'check')}: {said}. {_count(audit.n_rows, 'row')} of data."


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _glance(audit: Audit, words: Words) -> str:
    rows = []
    for number, check in enumerate(audit.checks, start=1):
        claim = f'<a href="#check-{number}">{_text(_claim(check))}</a>'
        rows.append((claim, _badge(check.holds), _of_rows(check.rows)))
    if audit.difference is not None:
        same = None if audit.difference.differ is None else not audit.difference.differ
        said = "–" if audit.difference.share is None else f"{1 - audit.difference.share:.1%} of rows the same"
        rows.append(('<a href="#changes">The same as the previous version</a>', _badge(same, "Changed"), said))
    return _section("glance", "At a glance", _table(("what", "answer", "rows"), rows, "All checks"))


def _claim(check: AuditedCheck) -> str:
    each = check.everywhere or check.rows
    claim = "" if each is None else each.claim
    return claim[:1].upper() + claim[1:]


def _of_rows(check: Check | None) -> str:
    if check is None or check.rows is None:
        return "–"
    holds = sum(each is True for each in check.rows)
    return f"holds for {percent(holds, len(check.rows))} of {len(check.rows):,}"


def _promise(audit: Audit, words: Words) -> str:
    ensemble = audit.ensemble
    used = len(np.unique(ensemble.feature[ensemble.feature >= 0]))
    kind = _RULES.get(ensemble.rule.kind, "scores are added up")
    facts = [
        ("Trees", f"{ensemble.n_trees:,} with {ensemble.n_leaves:,} leaves; {kind}"),
        ("Features", f"{used:,} used of {ensemble.n_features:,}"),
        ("Classes", ", ".join(_text(each) for each in ensemble.classes.tolist()[:20])),
        ("Fingerprint", f"<code>{audit.fingerprint}</code>"),
        ("Rows", f"{audit.n_rows:,}{_outside(audit)}; {audit.n_checked:,} of them checked one by one"),
        (
            "Decisions",
            ", ".join(
                f"{_text(label)} {percent(count, audit.n_rows)}"
                for label, count in list(audit.class_counts.items())[:20]
            ),
        ),
    ]
    if audit.accuracy is not None:
        facts.append(("Accuracy", f"{audit.accuracy:.1%} of these rows; training rows flatter it"))
    if audit.tree is None:
        facts.append(("As one tree", _text(audit.tree_note)))
    else:
        size = f"{_count(audit.tree.n_leaves, 'leaf', 'leaves')}, depth {audit.tree.depth:,}"
        facts.append(("As one tree", f"{size}; {_text(audit.tree_note)}"))
    listed = "".join(f"<dt>{name}</dt><dd>{said}</dd>\n" for name, said in facts)
    return _section("model", "The model", f'<dl class="card">\n{listed}</dl>{_domain(audit, words)}')


def _outside(audit: Audit) -> str:
    n = audit.n_rows - audit.n_inside
    return f", {n:,} outside the domain" if n else ""


def _domain(audit: Audit, words: Words) -> str:
    if audit.domain is None:
        return '<p class="note">All proofs hold for every input that the model takes.</p>'
    said = words.domain(audit.domain)
    origin = f" ({_text(audit.domain.origin)})" if audit.domain.origin else ""
    items = "".join(f"<li>{_text(each)}</li>" for each in said)
    return (
        f'<details class="note"><summary>Proofs hold for inputs of this domain{origin}</summary>'
        f'<ul class="columns">{items}</ul></details>'
    )


def _checks(audit: Audit, words: Words) -> str:
    cards = [_card(number, check, words) for number, check in enumerate(audit.checks, start=1)]
    return _section("checks", "Checks", "".join(cards))


def _card(number: int, check: AuditedCheck, words: Words) -> str:
    parts = [
        f'<article class="card" aria-labelledby="check-{number}">',
        f'<p class="kind">{_TITLES[check.kind]}</p>',
        f'<h3 id="check-{number}">{_text(_claim(check))}</h3>',
    ]
    if check.kind == "monotone":
        parts.append(f'<p class="note">Classes from low to high: {", ".join(map(_text, words.classes()[:20]))}.</p>')
    if check.everywhere is not None:
        parts.append(f"<p>{_badge(check.everywhere.holds)} {_everywhere(check)}</p>")
    if check.rows is not None:
        parts.append(f"<p>{_badge(check.rows.holds)} {_row_words(check.rows)}</p>")
    # The witness among the rows is a case that occurs, so it comes first.
    shown = next((each for each in (check.rows, check.everywhere) if each is not None and each.witness), None)
    if shown is not None:
        parts.append(_witness(shown, words, is_row=shown is check.rows, alone=check.kind == "reachable"))
    return "\n".join([*parts, "</article>\n"])


def _everywhere(check: AuditedCheck) -> str:
    assert check.everywhere is not None  # noqa: S101 - for the type checker
    if check.kind == "reachable":
        return {
            True: "An input below gets this class.",
            False: "No input of the domain gets it.",
            None: "No such input was found before the limit, nor a proof that there is none.",
        }[check.everywhere.holds]
    return {
        True: "For every input of the domain.",
        False: "Not for every input of the domain.",
        None: "For every input of the domain: neither a proof nor a counterexample was found before the limit.",
    }[check.everywhere.holds]


def _row_words(check: Check) -> str:
    assert check.rows is not None  # noqa: S101 - for the type checker
    n = len(check.rows)
    counts = [sum(each is state for each in check.rows) for state in (True, False, None)]
    said = [f"For the rows: holds for {counts[0]:,} of {n:,} ({percent(counts[0], n)})"]
    if counts[1]:
        said.append(f"fails for {counts[1]:,} ({percent(counts[1], n)})")
    if counts[2]:
        said.append(f"not decided for {counts[2]:,} ({percent(counts[2], n)})")
    return ", ".join(said) + "."


def _witness(check: Check, words: Words, *, is_row: bool, alone: bool) -> str:
    """Return the inputs that decide it, side by side."""
    assert check.witness is not None and check.witness_classes is not None  # noqa: S101, PT018 - for the type checker
    one, other = check.witness
    first, second = (_text(each) for each in check.witness_classes)
    differs = sorted(changed_features(one, other))
    same = [feature for feature in range(len(one)) if feature not in differs]
    rest = ", ".join(f"{_text(words.name(at))} = {_text(words.value(at, one[at]))}" for at in same)
    if alone:
        return f'<p class="rest">For example {rest}.</p>'
    rows = [(_text(words.name(at)), *(_text(words.value(at, x[at])) for x in (one, other))) for at in differs]
    rows.append(("decision", f"<strong>{first}</strong>", f"<strong>{second}</strong>"))
    header = ("feature", "this row" if is_row else "one input", "changed" if is_row else "another")
    caption = "A row of the data, and the same row changed" if is_row else "Two inputs that refute it"
    same_words = f'<p class="rest">Both have {rest}.</p>' if same else ""
    return f'<p class="caption">{caption}; the model itself confirms both decisions.</p>' + (
        _table(header, rows, caption) + same_words
    )


def _rules(audit: Audit, words: Words) -> str:
    if not audit.rules:
        return _section("rules", "Rules", "<p>No rule was found before the limit.</p>")
    whole = audit.n_inside
    source = (
        "Leaves of the tree, which is proven equal to the model; they exclude each other."
        if audit.rules_of == "tree"
        else "Each is proven for the model itself, whatever the other features are. They may overlap."
    )
    items = []
    for rule in audit.rules:
        right = "" if rule.n_right is None else f", {percent(rule.n_right, rule.n_rows)} of them right"
        conditions = "".join(f"<li>{_text(each)}</li>" for each in words.rule(rule.bounds)) or "<li>always</li>"
        items.append(
            f'<li class="card"><p><strong>{_text(rule.label)}</strong> '
            f'<span class="note">{percent(rule.n_rows, whole)} of {whole:,} rows{right}</span></p>'
            f'<ul class="columns">{conditions}</ul></li>'
        )
    covered = f'<p class="note">{source}</p><ol class="rules">{"".join(items)}</ol>'
    return _section("rules", "The rules that decide most rows", covered)


def _changes(found: ModelDifference, words: Words) -> str:
    same = None if found.differ is None else not found.differ
    parts = [f'<div class="card"><p>{_badge(same, "Changed")} {_difference_words(found)}</p>']
    if found.changes:
        rows = [(f"{_text(a)} → {_text(b)}", f"{n:,}", percent(n, found.n_rows)) for (a, b), n in found.changes.items()]
        parts.append(_table(("decision", "rows", "share"), rows, "Decisions that change", numbers=2))
    if found.boxes:
        n = len(found.boxes)
        size = "" if found.volume is None else f", {found.volume:.2%} of the volume of the domain"
        parts.append(f'<p class="caption">All of the difference: {_count(n, "box", "boxes")}{size}.</p>')
        rows = []
        for box in found.boxes[:_MOST_BOXES]:
            said = " and ".join(_text(each) for each in _box_words(box.bounds, words)) or "always"
            change = f"{_text(box.classes[0])} → {_text(box.classes[1])}"
            rows.append((change, said, "–" if box.n_rows is None else f"{box.n_rows:,}"))
        parts.append(_table(("decision", "where", "rows"), rows, "Boxes that change", numbers=1))
        if n > _MOST_BOXES:
            parts.append(f'<p class="note">And {n - _MOST_BOXES:,} more.</p>')
    if found.values is not None and not found.boxes and found.classes is not None:
        named = [f"{name} = {shown(x)}" for name, x in found.values.items()]
        change = f"{_text(found.classes[0])} → {_text(found.classes[1])}"
        parts.append(f'<p class="rest">For example {change} at {_text(", ".join(named))}.</p>')
    if found.note:
        note = found.note.partition(";")[0]
        parts.append(f'<p class="note">{_text(note[:1].upper() + note[1:])}.</p>')
    return _section("changes", "Against the previous version", "\n".join([*parts, "</div>"]))


def _box_words(bounds: dict[str, tuple[Any, ...]], words: Words) -> list[str]:
    known = set(words.names())
    if set(bounds) <= known:
        return words.rule(bounds)
    return [f"{name}: {', '.join(map(str, ends))}" for name, ends in bounds.items()]


def _difference_words(found: ModelDifference) -> str:
    if found.differ is False:
        return "Every input of the domain gets the same decision as before."
    if found.differ is None:
        return "Neither a difference nor a proof that there is none was found before the limit."
    share = "" if found.share is None else f" {found.share:.1%} of the rows get another decision."
    return f"Some inputs get another decision than before.{share}"


def _meaning(audit: Audit) -> str:
    return _section(
        "meaning",
        "What the answers mean",
        """<dl class="card">
<dt>Proven</dt><dd>There is no counterexample: all inputs of the domain were ruled out, in the arithmetic of the model's
own library. No sample was drawn.</dd>
<dt>Refuted</dt><dd>There is a counterexample, which is shown. The model's own prediction confirms it.</dd>
<dt>Not decided</dt><dd>Neither was found in the time that was given. For the rows, the share that is decided is
shown.</dd>
<dt>Not said here</dt><dd>Whether the data are right, whether other features stand in for a protected one, and whether
the model is good enough for its purpose.</dd>
</dl>""",
    )


def _signature() -> str:
    blank = "".join(f"<div><span></span><p>{what}</p></div>" for what in ("Name", "Date", "Signature"))
    lines = f'<div class="lines">{blank}</div>'
    return f'<section aria-labelledby="sign" class="sign"><h2 id="sign">Signed</h2>{lines}</section>'
