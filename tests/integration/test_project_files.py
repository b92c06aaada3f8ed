"""The files around the package say the same: versions are pinned, tools are those that the tests bring."""

import re
import tomllib

import pytest


def canonical(requirement):
    """Give the name in a requirement as pip compares it."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


@pytest.fixture(scope="module")
def project(repository):
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tested(project):
    """Names of all that `pip install '.[test]'` installs by itself, also to build."""
    needed = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["test"]
    return {canonical(each) for each in needed + project["build-system"]["requires"]}


def test_every_package_that_strict_checks_use_is_pinned(repository, tested):
    constraints = repository / ".ci" / "constraints.txt"
    if not constraints.exists():
        pytest.skip("a source distribution has no .ci")
    pinned = {canonical(line) for line in constraints.read_text().splitlines() if re.fullmatch(r"[\w.-]+==\S+", line)}
    assert tested - pinned <= {"xgboost"}  # where there is xgboost-cpu, which is pinned


def test_the_hooks_before_a_commit_run_what_the_tests_bring(repository, tested):
    hooks = repository / ".pre-commit-config.yaml"
    if not hooks.exists():
        pytest.skip("a source distribution has no hooks")
    programs = set(re.findall(r"entry: (\S+)", hooks.read_text()))
    assert programs
    assert programs - tested == {"lint-imports"}  # of import-linter
