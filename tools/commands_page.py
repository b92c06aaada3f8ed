"""Writes the tables of docs/commands.md from the parser of the command, so that the page and `--help` say the same.

Run it after a change of an option: python tools/commands_page.py. The tests fail while the page is out of date.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

from onetree.cli import build_parser
from onetree.files.atomic import write_whole

PAGE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
PART = re.compile(r"(<!-- options of ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
COMMON = "several"  # the part with what several commands take
MANY = 3  # commands that take an option with the same words, so that these are said once
Rows = dict[str, str]  # by the name of the option


def subcommands() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each subcommand by its name, in the order of ``onetree --help``."""
    (group,) = (action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return dict(group.choices)


def updated(page: str) -> str:
    """Return the page with the tables as they have to be; refuses a page that leaves out a command."""
    commands = subcommands()
    named = [match[2] for match in PART.finditer(page)]
    if sorted(named) != sorted([*commands, COMMON]):
        raise SystemExit(f"{PAGE} has the commands {', '.join(named)}; there are {', '.join(commands)}")
    rows = {name: _rows(parser) for name, parser in commands.items()}
    times = Counter(row for each in rows.values() for row in each.items())
    common = {option: text for (option, text), count in times.items() if count >= MANY}
    parts = {name: _section(parser, rows[name], common) for name, parser in commands.items()}
    parts[COMMON] = "\n".join(["", *_table(common), "", ""])
    return PART.sub(lambda match: match[1] + parts[match[2]] + match[3], page)


def _rows(parser: argparse.ArgumentParser) -> Rows:
    actions = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    return {_name(action): _help(action, parser) for action in actions}


def _section(parser: argparse.ArgumentParser, rows: Rows, common: Rows) -> str:
    own = {option: text for option, text in rows.items() if common.get(option) != text}
    shared = ", ".join(re.sub(r" .*", "`", option) for option in rows if option not in own)
    also = (
        [f"{'And ' if own else ''}{shared}: see [several commands](#options-of-several-commands).", ""]
        if shared
        else []
    )
    table = [*_table(own), ""] if own else []
    return "\n".join(["", _plain(parser.description or ""), "", *table, *also, ""])


def _table(rows: Rows) -> list[str]:
    return ["| argument | meaning |", "|---|---|", *(f"| {option} | {text} |" for option, text in rows.items())]


def _name(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    value = ""
    if action.nargs != 0:
        choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper()
        value = f" {action.metavar or choices}"
    words = "`, `".join([*action.option_strings[:-1], action.option_strings[-1] + value])
    # A bar inside of code would end the cell for some readers of Markdown, and escaped it is shown as such by others.
    return f"`{words}`".replace("|", " or ") + (" (required)" if action.required else "")


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    return _plain((action.help or "") % {"default": action.default, "prog": parser.prog})


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([|<>*_])", r"\\\1", text)


if __name__ == "__main__":
    write_whole(PAGE, updated(PAGE.read_text(encoding="utf-8")).encode())
