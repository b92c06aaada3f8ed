"""The one tree, handed on: treelite, tl2cgen, m2cgen, sklearn-onnx, MLflow and a web service of FastAPI.

Run it: python examples/deploy_elsewhere.py [FOLDER]. A tool that is not installed is left out, with a message:
pip install treelite tl2cgen m2cgen skl2onnx onnxruntime mlflow-skinny fastapi httpx2. C for small processors and SQL
need no tool: embedded_c.py, arduino.py and score_in_database.py.

Each is asked for the classes of rows that lie on thresholds and next to them, and compared with the forest.
"""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import onetree

X, Y = load_iris(return_X_y=True)


def rows(tree: onetree.Tree, n: int = 2000) -> np.ndarray:
    """Return float32 inputs, half of their values on thresholds or one float beside them."""
    rng = np.random.default_rng(0)
    columns = []
    for feature in range(tree.n_features):
        cuts = tree.threshold[tree.feature == feature].astype(np.float32)
        beside = [np.nextafter(cuts, np.float32(end)) for end in (-np.inf, np.inf)]
        anywhere = rng.uniform(X[:, feature].min(), X[:, feature].max(), n).astype(np.float32)
        near = rng.choice(np.concatenate([cuts, *beside]), n) if len(cuts) else anywhere
        columns.append(np.where(rng.random(n) < 0.5, near, anywhere))
    return np.column_stack(columns)


def main(folder: Path) -> None:
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, Y)
    tree = onetree.born_again(forest, objective="leaves").tree
    tree.save(folder / "iris.json")
    model = tree.to_sklearn(X, Y)
    asked = rows(tree)
    for tool in (treelite_library, m2cgen_source, sklearn_onnx, mlflow_model, fastapi_service):
        try:
            answers = tool(model, asked, folder)
        except ImportError as error:
            print(f"{tool.__name__}: skipped, {error}")
            continue
        same = (np.asarray(answers) == forest.predict(asked)).mean()
        print(f"{tool.__name__}: {same:.2%} of {len(asked):,} rows as the forest")


def as_forest(model: DecisionTreeClassifier) -> RandomForestClassifier:
    """Return a forest of one tree: treelite reads forests only."""
    forest = RandomForestClassifier(1)
    forest.estimators_, forest.classes_, forest.n_classes_ = [model], model.classes_, model.n_classes_
    forest.n_outputs_, forest.n_features_in_ = 1, model.n_features_in_
    return forest


def treelite_library(model: DecisionTreeClassifier, asked: np.ndarray, folder: Path) -> np.ndarray:
    """Compile the tree to a library with tl2cgen, where there is a compiler; treelite's own predictor otherwise."""
    import tl2cgen
    import treelite

    imported = treelite.sklearn.import_model(as_forest(model))
    if shutil.which("gcc") is None:
        return treelite.gtil.predict(imported, asked).reshape(len(asked), -1).argmax(axis=1)
    library = folder / "iris_treelite.so"
    tl2cgen.export_lib(imported, toolchain="gcc", libpath=library)
    found = tl2cgen.Predictor(library).predict(tl2cgen.DMatrix(asked.astype(np.float64), dtype="float64"))
    return found.reshape(len(asked), -1).argmax(axis=1)


def m2cgen_source(model: DecisionTreeClassifier, asked: np.ndarray, folder: Path) -> np.ndarray:
    """Write a Python function without imports; m2cgen writes Java, Go, Rust and others likewise."""
    import m2cgen

    path = folder / "iris_m2cgen.py"
    path.write_text(m2cgen.export_to_python(model), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return np.array([np.argmax(module.score(row)) for row in asked.tolist()])


def sklearn_onnx(model: DecisionTreeClassifier, asked: np.ndarray, folder: Path) -> np.ndarray:
    """Convert with sklearn-onnx; `tree.save("iris.onnx")` needs no scikit-learn."""
    import onnxruntime
    import skl2onnx

    written = skl2onnx.to_onnx(model, asked[:1], options={id(model): {"zipmap": False}})
    (folder / "iris_sklearn.onnx").write_bytes(written.SerializeToString())
    session = onnxruntime.InferenceSession(folder / "iris_sklearn.onnx", providers=["CPUExecutionProvider"])
    return session.run(["label"], {session.get_inputs()[0].name: asked})[0]


MLFLOW_MODEL = """\
import mlflow
import numpy as np
import onetree


class OneTree(mlflow.pyfunc.PythonModel):
    def load_context(self, context):
        self.tree = onetree.load_tree(context.artifacts["tree"])

    def predict(self, context, model_input, params=None):
        return self.tree.predict(np.asarray(model_input))


mlflow.models.set_model(OneTree())
"""


def mlflow_model(model: DecisionTreeClassifier, asked: np.ndarray, folder: Path) -> np.ndarray:
    """Log the tree's file with five lines of code as a pyfunc model, and load it as any other: nothing is pickled."""
    import mlflow.pyfunc

    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # a folder is enough here; yours may be a server
    mlflow.set_tracking_uri((folder / "mlruns").resolve().as_uri())
    code = folder / "iris_mlflow.py"
    code.write_text(MLFLOW_MODEL, encoding="utf-8")
    with mlflow.start_run():
        logged = mlflow.pyfunc.log_model(
            name="iris",
            python_model=str(code),
            artifacts={"tree": str(folder / "iris.json")},
            pip_requirements=["onetree"],
            signature=mlflow.models.infer_signature(asked, model.predict(asked)),
        )
    return mlflow.pyfunc.load_model(logged.model_uri).predict(asked)


def fastapi_service(model: DecisionTreeClassifier, asked: np.ndarray, folder: Path) -> np.ndarray:
    """Serve predictions: run such a file with `fastapi run`; here a test client asks."""
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    app, tree = FastAPI(), onetree.load_tree(folder / "iris.json")

    @app.post("/predict")
    def predict(rows: list[list[float]]) -> list[int]:
        return tree.predict(np.array(rows)).tolist()

    return np.array(TestClient(app).post("/predict", json=asked.tolist()).json())


if __name__ == "__main__":
    destination = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    destination.mkdir(parents=True, exist_ok=True)
    main(destination)
