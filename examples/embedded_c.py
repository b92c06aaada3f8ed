"""A small processor: a forest as one C function without library, allocation or doubles, and with the same answers.

The code is compiled, run on 100,000 inputs, on thresholds and next to them too, and compared with the forest.

The data come with scikit-learn; a C compiler (cc) is needed. Run it: python examples/embedded_c.py [FOLDER]
"""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import onetree

FEATURES = ["flavanoids", "color_intensity", "proline"]
MAIN = """\
#include <stdio.h>
int wine_predict(const float *x);
int main(void) {
  float x[3];
  while (fread(x, sizeof x, 1, stdin) == 1) putchar(wine_predict(x));
  return 0;
}
"""


def inputs(tree: onetree.Tree, n: int = 100_000) -> np.ndarray:
    """Return float inputs, half of their values on thresholds or one float beside them."""
    rng = np.random.default_rng(0)
    columns = []
    for feature in range(tree.n_features):
        cuts = tree.threshold[tree.feature == feature].astype(np.float32)
        beside = [np.nextafter(cuts, np.float32(end)) for end in (-np.inf, np.inf)]
        anywhere = rng.uniform(cuts.min() / 2, 2 * cuts.max(), n).astype(np.float32)
        columns.append(np.where(rng.random(n) < 0.5, rng.choice(np.concatenate([cuts, *beside]), n), anywhere))
    return np.column_stack(columns)


def main(folder: Path) -> None:
    data = load_wine(as_frame=True)
    X, y = data.data[FEATURES].astype(np.float32), data.target_names[data.target]
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    tree = onetree.born_again(forest, objective="leaves").tree
    n_leaves = sum(each.get_n_leaves() for each in forest.estimators_)
    print(f"forest: {len(forest)} trees with {n_leaves} leaves; one tree: {tree.n_leaves} leaves")

    source, harness, program = folder / "wine.c", folder / "wine_main.c", folder / "wine"
    source.write_text(tree.to_code("c", number="float", name="wine", style="table"), encoding="utf-8")
    harness.write_text(MAIN, encoding="utf-8")
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print(f"written to {source}; to try it here, install a C compiler")
        return
    strict = ["-std=c99", "-Os", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run([compiler, *strict, str(source), str(harness), "-o", str(program)], check=True)  # noqa: S603

    rows = inputs(tree)
    ran = subprocess.run([str(program)], input=rows.tobytes(), capture_output=True, check=True)  # noqa: S603
    classes = tree.classes[np.frombuffer(ran.stdout, dtype=np.uint8)]
    wrong = int((classes != forest.predict(pd.DataFrame(rows, columns=FEATURES))).sum())
    print(f"{source}: {len(rows):,} inputs, {wrong} answers differ from the forest")
    assert wrong == 0  # noqa: S101


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
