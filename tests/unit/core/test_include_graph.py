"""Rooms of the native core include only what is below them, and the proof next to nothing: lint-imports for C++."""

import re

import pytest

# Limits, progress and interrupts; no algorithm.
ALLOWED = {"base/control.hpp"}
# The lowest first. The proof has no place among them.
LAYERS = (
    "base", "model", "kernel", "grid", "tree", "table", "search", "region", "bound", "support", "question", "solve",
    "bindings",
)  # fmt: skip
_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def include_graph(folder):
    """Own files and the own files that each includes; names are relative to the folder."""
    graph, folder = {}, folder.resolve()
    for path in sorted(folder.rglob("*.*pp")) + sorted(folder.rglob("*.inl")):
        beside = path.parent.relative_to(folder)
        names = [name for quote, name in _INCLUDE.findall(path.read_text()) if quote == '"']
        found = [next((at for at in (beside / name, name) if (folder / at).is_file()), None) for name in names]
        assert None not in found, f"{path} includes a file that is not there"
        graph[path.relative_to(folder).as_posix()] = {
            (folder / at).resolve().relative_to(folder.resolve()).as_posix() for at in found
        }
    return graph


def reached(graph, start):
    """Every file that is included from `start`, directly or not."""
    seen, todo = set(), list(start)
    while todo:
        new = graph[todo.pop()] - seen
        seen |= new
        todo += new
    return seen


def foreign(folder):
    """What files in proof/ include that is neither in proof/ nor allowed."""
    graph = include_graph(folder)
    own = {name for name in graph if name.startswith("proof/")}
    assert own
    return {name for name in reached(graph, own) if not name.startswith("proof/")} - ALLOWED


def test_the_proof_includes_nothing_of_the_search(repository):
    assert foreign(repository / "cpp") == set()


def test_what_the_proof_may_include_includes_nothing_in_turn(repository):
    assert reached(include_graph(repository / "cpp"), ALLOWED) == set()


@pytest.mark.parametrize("line", ['#include "region.hpp"', '# include "proof/../region.hpp"', '#include "between.hpp"'])
def test_an_include_of_the_search_is_noticed(tmp_path, line):
    (tmp_path / "proof").mkdir()
    (tmp_path / "base").mkdir()
    (tmp_path / "region.hpp").write_text("#pragma once\n")
    (tmp_path / "between.hpp").write_text('#pragma once\n#include "region.hpp"\n')
    (tmp_path / "base" / "control.hpp").write_text("#pragma once\n#include <atomic>\n")
    (tmp_path / "proof" / "prove.cpp").write_text('#include "base/control.hpp"\n')
    assert foreign(tmp_path) == set()
    (tmp_path / "proof" / "prove.cpp").write_text(f'#include "base/control.hpp"\n{line}\n')
    assert any("region.hpp" in name for name in foreign(tmp_path))


def test_nothing_of_the_search_includes_the_proof(repository):
    graph = include_graph(repository / "cpp")
    users = {name for name, included in graph.items() if any(each.startswith("proof/") for each in included)}
    assert {name for name in users if not name.startswith("proof/")} == {"bindings/proof.cpp"}


def upward(graph):
    """Includes of a room that is not below the one that includes it."""
    layers = {room: number for number, room in enumerate(LAYERS)}
    return {
        (name, each)
        for name, included in graph.items()
        for each in included
        if name.split("/")[0] in layers
        and each.split("/")[0] != name.split("/")[0]
        and layers.get(each.split("/")[0], -1) >= layers[name.split("/")[0]]
    }


def test_each_room_includes_only_rooms_below_it(repository):
    graph = include_graph(repository / "cpp")
    assert {name.split("/")[0] for name in graph} == {*LAYERS, "proof"}
    assert upward(graph) == set()


def test_an_include_of_a_room_above_is_noticed():
    assert upward({"grid/grid.cpp": {"table/a.hpp", "base/b.hpp", "grid/c.hpp"}}) == {("grid/grid.cpp", "table/a.hpp")}


def test_each_room_says_what_belongs_there(repository):
    for room in (*LAYERS, "proof"):
        assert "Does not belong here" in (repository / "cpp" / room / "README.md").read_text()
