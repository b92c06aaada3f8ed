"""Tools for scikit-learn trees, used on the one tree: SHAP, dtreeviz and supertree.

Run it: python examples/exported_tree_tools.py [FOLDER]. A tool that is not installed is left out, with a message:
pip install shap dtreeviz supertree. Pictures of dtreeviz also need Graphviz's command `dot`.
"""

import logging
import shutil
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import onetree

mpl.use("Agg")
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # dtreeviz asks for fonts that few have

DATA = load_iris()
X, Y = DATA.data, DATA.target
NAMES, CLASSES = list(DATA.feature_names), DATA.target_names.tolist()


def main(folder: Path) -> None:
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, Y)
    # With the data, leaves know how many rows of each class they hold; the predictions are those of the forest.
    model = onetree.born_again(forest, objective="leaves").tree.to_sklearn(X, Y)
    assert (model.predict(X) == forest.predict(X)).all()  # noqa: S101
    for tool in (explain_with_shap, draw_with_dtreeviz, explore_with_supertree):
        try:
            print(f"{tool.__name__}: {tool(model, folder)}")
        except ImportError as error:
            print(f"{tool.__name__}: skipped, {error}")


def explain_with_shap(model: DecisionTreeClassifier, folder: Path) -> str:
    """Show which features matter.

    The tree also has leaves for inputs that no row of the data resembles. SHAP's default counts rows in leaves and
    refuses empty ones; compared with the data as a background ("interventional") they are no difficulty.
    """
    import shap

    found = shap.TreeExplainer(model, X, feature_perturbation="interventional")(X)
    # What the features add to the mean is the prediction of the tree, for every row and class.
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, model.predict_proba(X), atol=1e-6)
    importance = np.abs(found.values).mean(axis=(0, 2))
    return ", ".join(f"{NAMES[i]} {importance[i]:.3f}" for i in np.argsort(-importance))


def draw_with_dtreeviz(model: DecisionTreeClassifier, folder: Path) -> str:
    """Explain one prediction, and draw the tree with the data in it."""
    import dtreeviz

    view = dtreeviz.model(model, X_train=X, y_train=Y, feature_names=NAMES, target_name="iris", class_names=CLASSES)
    path = " and ".join(line.strip() for line in view.explain_prediction_path(X[100]).split("\n") if line.strip())
    if shutil.which("dot") is None:
        return f"{path}; the picture needs Graphviz's command dot"
    view.view(fancy=True).save(str(folder / "tree-dtreeviz.svg"))
    return f"{path}; drawn to {folder / 'tree-dtreeviz.svg'}"


def explore_with_supertree(model: DecisionTreeClassifier, folder: Path) -> str:
    """Write a page with a tree to fold and unfold."""
    from supertree import SuperTree

    SuperTree(model, X, Y, NAMES, CLASSES).save_html(str(folder / "tree-supertree"))
    return f"{(folder / 'tree-supertree.html').stat().st_size:,} bytes of HTML"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
