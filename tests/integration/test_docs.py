"""What the README and the documentation show is true: their code runs, their commands run, their links lead somewhere.

Each page is one story, told in an empty folder: its Python blocks share one namespace, and its blocks of commands come
in between, as they stand on the page. A block that needs a library that is not installed is skipped, with those that
build on it, and the test says so.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

import onetree
from onetree.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```([\w-]*)[^\n]*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
SHOWN_ONLY = {"c", "json", "text"}  # blocks that show something and do nothing
NOT_RUN = {"pip", "python", "mkdocs", "dot", "gcc"}  # commands that install, draw, measure for hours, or serve

# Libraries that may be absent, by the name of their module, and how to get them.
OPTIONAL = {
    "catboost": "catboost",
    "distributed": "distributed",
    "duckdb": "duckdb",
    "imblearn": "imbalanced-learn",
    "lightgbm": "lightgbm",
    "matplotlib": "matplotlib",
    "onnx": "onnx",
    "onnxruntime": "onnxruntime",
    "pandas": "pandas",
    "skl2onnx": "skl2onnx",
    "skops": "skops",
    "xgboost": "xgboost",
    "ydf": "ydf",
}


def blocks(text):
    """All fenced blocks of a page: language and content, without the indentation of the fence."""
    return [
        (language, re.sub(rf"^{indent}", "", content, flags=re.MULTILINE))
        for indent, language, content in BLOCK.findall(text)
    ]


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def names(tree, context):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def imported(tree):
    """Modules that a block imports, as far as their names can tell, and what a parameter silently needs."""
    nodes = list(ast.walk(tree))
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    modules = {name.split(".")[0] for name in found}
    if "onetree.report.figures" in found:
        modules.add("matplotlib")
    if any(isinstance(node, ast.Attribute) and node.attr == "to_onnx" for node in nodes):
        modules.add("onnx")
    if any(isinstance(node, ast.keyword) and node.arg == "as_frame" for node in nodes):
        modules.add("pandas")
    return modules


def bound(tree):
    """Names that a block defines."""
    nodes = list(ast.walk(tree))
    aliases = [alias for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return names(tree, ast.Store) | {(alias.asname or alias.name).split(".")[0] for alias in aliases} | defined


class Story:
    """A page while it is run."""

    def __init__(self, page):
        self.page = page
        self.namespace = {"__name__": "__main__"}
        self.absent = set()  # libraries that were needed and are not installed
        self.lost = set()  # names that skipped blocks would have defined

    def python(self, code):
        tree = ast.parse(code, self.page)
        absent = {name for name in imported(tree) & OPTIONAL.keys() if importlib.util.find_spec(name) is None}
        if absent or names(tree, ast.Load) & self.lost:
            self.absent |= absent
            self.lost |= bound(tree)
            return
        self.lost -= bound(tree)
        exec(compile(tree, self.page, "exec"), self.namespace)

    def shell(self, text):
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if not words or words[0] in NOT_RUN:
                continue
            assert words[0] == "onetree", f"{self.page}: a command that the tests do not know: {line}"
            if self.absent:  # the file that it reads may not be there
                continue
            expected = re.search(r"#.*exit code (\d)", line)
            self.command(words[1:], int(expected[1]) if expected else 0)

    def command(self, words, expected):
        words, target = (words[: words.index(">")], words[words.index(">") + 1]) if ">" in words else (words, None)
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            try:
                code = main(words)
            except SystemExit as ended:  # --help, --version
                code = ended.code
        assert code == expected, (self.page, words, errors.getvalue())
        if target is not None:
            Path(target).write_text(output.getvalue(), encoding="utf-8")


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if importlib.util.find_spec("matplotlib") is None:
        yield tmp_path
        return
    import matplotlib.pyplot as plt

    before = plt.get_backend()
    plt.switch_backend("Agg")
    yield tmp_path
    plt.close("all")
    plt.switch_backend(before)


SLOW_PAGES = {"docs/long-runs.md": pytest.mark.slow}  # its limits are in seconds, which the work uses up


@pytest.mark.parametrize("page", [pytest.param(page, marks=SLOW_PAGES.get(page, ())) for page in PAGES])
def test_the_code_and_the_commands_of_a_page_run(page, empty_folder):
    found = blocks(read(page))
    story = Story(page)
    for language, content in found:
        if language == "python":
            story.python(content)
        elif language == "sh":
            story.shell(content)
        else:
            assert language in SHOWN_ONLY, f"{page}: a block in {language or 'no language'} would not be checked"
    if story.absent:
        needed = " ".join(sorted(OPTIONAL[name] for name in story.absent))
        pytest.skip(f"{page}: some blocks were not run; they need: pip install {needed}")


def test_a_block_without_its_library_is_skipped_with_all_that_build_on_it(monkeypatch, empty_folder):
    monkeypatch.setitem(OPTIONAL, "surely_absent", "surely-absent")
    story = Story("a page")
    story.python("import surely_absent\nmodel = surely_absent.Model()")
    story.python("size = model.size")
    story.python("other = 1")
    story.shell("onetree inspect model.json")
    assert story.absent == {"surely_absent"}
    assert story.namespace["other"] == 1
    assert "size" not in story.namespace


@pytest.mark.parametrize("page", PAGES)
def test_the_files_that_a_page_points_to_are_there(page):
    text = BLOCK.sub("", read(page))
    folder = (ROOT / page).parent
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if not target.startswith("https://"):
            place = (folder / target).resolve()
            assert place.is_file(), f"{page} points to {target}"
            assert place.is_relative_to(ROOT)


def pages_for_users():
    """Those under the first headings of the site; the rest is for looking things up, and for those who build it."""
    nav = re.search(r"^nav:\n(.*?)  - Reference:", read("mkdocs.yml"), re.DOTALL | re.MULTILINE)[1]
    return [f"docs/{place}" for place in re.findall(r": (\S+\.md)$", nav, re.MULTILINE)]


@pytest.mark.parametrize("page", pages_for_users())
def test_a_page_for_users_is_short(page):
    assert len(BLOCK.sub("", read(page)).split()) <= 1200


def named_tests():
    """All tests that the page on the method names, as file and name."""
    return sorted(set(re.findall(r"`(tests/[\w/.]+)::(\w+)`", read("docs/method.md"))))


@pytest.mark.parametrize(("file", "name"), named_tests())
def test_a_test_that_the_method_names_is_there(file, name):
    assert re.search(rf"^(?:def {name}\(|TEST\({name}\))", read(file), re.MULTILINE)


def test_every_statement_of_the_method_names_a_test():
    page = read("docs/method.md")
    numbers = [int(number) for number in re.findall(r"^\*\*Statement (\d+)", page, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    for statement in re.split(r"^\*\*Statement (?=\d)", page, flags=re.MULTILINE)[1:]:
        assert "*Held by* `tests/" in statement, statement[:40]


def test_the_readme_says_how_to_begin():
    readme = read("README.md")
    assert "\npip install . && onetree demo\n" in readme
    assert "\npip install '.[test]' && python -m pytest\n" in readme


def test_the_page_on_commands_says_what_help_says():
    tool = runpy.run_path(str(ROOT / "tools" / "commands_page.py"))
    page = read("docs/commands.md")
    assert tool["updated"](page) == page, "out of date; run: python tools/commands_page.py"


def test_the_reference_names_everything_public():
    named = set(re.findall(r"^::: onetree\.([\w.]+)$", read("docs/api.md"), re.MULTILINE))
    assert "errors" in named  # the whole module
    assert "verify.verify" in named  # the function, which the package has the name of
    assert set(onetree.__all__) - named - set(vars(onetree.errors)) == {"verify"}


# What each example must have said or written when it is done.
EXAMPLES = {
    "audit_boosted_model.py": ("proven, for all customers", "audit.html"),
    "categories.py": ("region not in {2, 4}", "accidents.sql"),
    "credit.py": ("change:", "credit-rules.txt"),
    "embedded_c.py": ("wine.c", "wine.c"),
    "medical.py": ("forest and tree alike", "tumours.html"),
    "readme_picture.py": ("", "iris.svg"),
    "sign_off.py": ("sex alone never changes the class; holds for 283 of 300 rows", "sign-off.html"),
}
TESTED_ELSEWHERE = {
    "arduino.py",
    "deploy_elsewhere.py",
    "exported_tree_tools.py",
    "figures.py",
    "score_in_database.py",
    "spark_scorer.py",
}


def test_every_example_is_run_by_some_test():
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == EXAMPLES.keys() | TESTED_ELSEWHERE


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name, empty_folder, monkeypatch, capsys):
    pytest.importorskip("pandas", reason="the examples need: pip install pandas")
    if name == "readme_picture.py":
        pytest.importorskip("matplotlib", reason="the picture needs: pip install matplotlib")
    said, written = EXAMPLES[name]
    argument = empty_folder / written if name == "readme_picture.py" else empty_folder
    monkeypatch.setattr(sys, "argv", [name, str(argument)])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert said in capsys.readouterr().out
    assert (empty_folder / written).stat().st_size > 100


@pytest.fixture(scope="module")
def notebook_code():
    notebook = json.loads(read("examples/tutorial.ipynb"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_runs(notebook_code, empty_folder):
    pytest.importorskip("pandas", reason="the notebook needs: pip install pandas")
    pytest.importorskip("matplotlib", reason="the notebook needs: pip install matplotlib")
    story = Story("examples/tutorial.ipynb")
    for code in notebook_code:
        story.python(code)
    assert not story.absent
    assert (empty_folder / "report.html").is_file()


def test_the_notebook_holds_the_code_of_the_tutorial(notebook_code):
    tutorial = [content.strip() for language, content in blocks(read("docs/tutorial.md")) if language == "python"]
    assert [code for code in notebook_code if code in tutorial] == tutorial
