"""The files around the package say the same: versions are pinned, tools are those that the tests bring."""

import importlib.util
import re
import tomllib

import pytest
import yaml


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


def test_every_version_that_is_promised_as_the_oldest_is_tested(repository, project):
    constraints = repository / ".ci" / "constraints-oldest.txt"
    if not constraints.exists():
        pytest.skip("a source distribution has no .ci")
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", constraints.read_text(), re.MULTILINE))
    needed = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["test"]
    promised = {canonical(each): re.search(r">=([\d.]+)", each)[1] for each in needed}
    assert {canonical(each) for each in project["project"]["dependencies"]} <= set(pinned)
    for name, version in pinned.items():
        assert f"{version}.".startswith(f"{promised[name]}."), name


def test_all_files_name_the_version_of_the_package(repository):
    path = repository / "tools" / "release.py"
    if not (repository / "packaging").exists():
        pytest.skip("a source distribution has no recipe")
    spec = importlib.util.spec_from_file_location("release", path)
    release = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(release)
    assert set(release.repeated().values()) == {release.version()}


def test_the_workflows_run_files_that_are_there(repository):
    folder = repository / ".github" / "workflows"
    if not folder.exists():
        pytest.skip("a source distribution has no workflows")
    commands = [
        step["run"]
        for path in sorted(folder.glob("*.yml"))
        for job in yaml.safe_load(path.read_text())["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    named = {word for command in commands for word in re.findall(r"(?<![\w/.])(?:\.ci|tools|tests)/[\w./-]+", command)}
    assert {".ci/run", "tools/cross_build.py", "tools/release.py"} <= named
    assert not [name for name in named if not (repository / name).exists()]
