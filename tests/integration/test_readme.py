"""What the README shows is true: its Python runs, its commands run, its picture can be drawn."""

from __future__ import annotations

import re
import runpy
import shlex
import sys

import pytest

from onetree.cli import main


@pytest.fixture(scope="module")
def readme(repository):
    return (repository / "README.md").read_text(encoding="utf-8")


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands(text):
    lines = [shlex.split(line, comments=True) for block in blocks(text, "sh") for line in block.splitlines()]
    return [words[1:] for words in lines if words and words[0] == "onetree"]


def test_the_python_runs(readme, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(readme, "python")
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("optimal ")
    assert (tmp_path / "tree.json").is_file()


def test_the_commands_run_one_after_another(readme, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = commands(readme)
    assert {words[0] for words in found} == {"demo", "inspect", "estimate", "convert", "verify"}
    for words in found:
        try:
            code = main(words)
        except SystemExit as ended:  # --help
            code = ended.code
        assert code == 0, (words, capsys.readouterr().err)


def test_the_two_commands_that_install_are_there(readme):
    assert "\npip install . && onetree demo\n" in readme
    assert "\npip install '.[test]' && python -m pytest\n" in readme


def test_files_that_the_readme_points_to_are_there(readme, repository):
    for target in re.findall(r"\]\(([^)#]+)\)", readme):
        assert target.startswith("https://") or (repository / target).is_file(), target


def test_the_picture_can_be_drawn(repository, tmp_path, monkeypatch):
    target = tmp_path / "iris.svg"
    monkeypatch.setattr(sys, "argv", ["readme_picture.py", str(target)])
    runpy.run_path(str(repository / "examples" / "readme_picture.py"), run_name="__main__")
    assert target.read_text(encoding="utf-8").startswith("<?xml")
