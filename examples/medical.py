"""Medicine: a forest for tumours as one tree that a ward can read, check and keep.

Cross-validated as a scikit-learn classifier, converted with proof, pruned for the bedside with what that gives up, and
written as a report for the file.

The data come with scikit-learn. Run it: python examples/medical.py [FOLDER]
"""

import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score, train_test_split

import onetree

FEATURES = ["worst radius", "worst texture", "worst concave points"]


def main(folder: Path) -> None:
    data = load_breast_cancer(as_frame=True)
    X, y = data.data[FEATURES], data.target_names[data.target]
    forest = RandomForestClassifier(10, max_depth=2, random_state=0)
    model = onetree.BornAgainTreeClassifier(forest, objective="leaves")

    # The tree is the forest, so it is as good: the same scores in every fold.
    of_forest, of_tree = cross_val_score(forest, X, y, cv=5), cross_val_score(model, X, y, cv=5)
    assert (of_forest == of_tree).all()  # noqa: S101
    print(f"accuracy in 5 folds: {of_tree.mean():.3f}, forest and tree alike")

    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model.fit(X_train, y_train)
    print(f"one tree: depth {model.tree_.depth}, {model.tree_.n_leaves} leaves, {model.solution_.status}")

    # For the bedside: without the splits that no patient so far has needed. No longer the forest, and marked so.
    pruned = onetree.prune(model.tree_, X_train)
    compared = onetree.compare(model.tree_, pruned, X_test)
    print(f"pruned: {pruned.n_leaves} leaves; same class on {compared.n_agreeing} of {compared.n_rows} new patients,")
    print(f"        another one in {compared.changed:.1%} of all cells of the space\n")
    print(pruned.to_text(digits=3))
    right = (pruned.predict(X_test) == y_test).mean()
    print(f"\nright on {right:.1%} of the new patients; the forest: {model.score(X_test, y_test):.1%}")

    path = folder / "tumours.html"
    onetree.write_report(model.solution_, path, source=model.estimator_, X=X_test, title="Tumours")
    print(f"report on the exact tree: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
