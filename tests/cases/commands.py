"""The command run as a person would, and a small model file in the authors' format."""

from onetree.cli import main

TEXT = """\
DATASET_NAME: test
ENSEMBLE: RF
NB_TREES: 2
NB_FEATURES: 2
NB_CLASSES: 2
MAX_TREE_DEPTH: 2
Format: node / node type (LN - leave node, IN - internal node) left child / right child / feature / threshold / node_depth / majority class (starts with index 0)

[TREE 0]
NB_NODES: 5
0 IN 1 2 0 0.5 0 -1
1 LN -1 -1 -1 -1 1 0
2 IN 3 4 1 1.5 1 -1
3 LN -1 -1 -1 -1 2 0
4 LN -1 -1 -1 -1 2 1

[TREE 1]
NB_NODES: 3
0 IN 1 2 1 2.5 0 -1
1 LN -1 -1 -1 -1 1 1
2 LN -1 -1 -1 -1 1 0
"""  # noqa: E501


def run(*words):
    """Run the command; give its exit code."""
    try:
        return main([str(word) for word in words])
    except SystemExit as ended:  # argparse ends the process on its own
        return ended.code


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def refused(capsys, folder, *words, code=2):
    """Run a command that must fail; give its message."""
    before = files(folder)
    assert run(*words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert files(folder) == before
    return err
