"""One page for those who sign: is a credit model fair, does it follow its directions, what changed since last year?

Two versions of a model that decides about people; the audit of the newer one asks whether sex alone ever changes a
decision, and whether more income or fewer debts can ever harm. Every answer is a proof, or a case that refutes it.

Without data it makes some up, with a seed. Run it: python examples/sign_off.py [FOLDER [DATA.csv]]
DATA.csv may be UCI's adult (columns sex, class, ...) or German credit (personal_status, class, ...), with a header.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

import onetree


def applicants(n: int = 2000, seed: int = 3) -> pd.DataFrame:
    """Make up applicants; whoever decided about them before looked at sex, a little."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.gamma(4, 700, n).round(-2),
            "debt": rng.gamma(2, 4000, n).round(-3),
            "job": rng.choice(["none", "clerk", "manager"], n, p=[0.2, 0.6, 0.2]),
            "sex": rng.choice(["female", "male"], n),
        }
    )
    score = frame.income - 0.1 * frame.debt + 900 * (frame.job == "manager") + 150 * (frame.sex == "male")
    return frame.assign(decision=np.where(score + rng.normal(0, 400, n) > 2200, "granted", "declined"))


def fitted(X: pd.DataFrame, y: pd.Series, seed: int) -> Pipeline:
    """Fit a forest behind one-hot columns; the audit speaks of the raw columns all the same."""
    words = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), remainder="passthrough")
    forest = RandomForestClassifier(10, max_depth=5, min_samples_leaf=10, random_state=seed)
    return make_pipeline(encoder, forest).fit(X, y)


def questions(frame: pd.DataFrame) -> tuple[str, list[str], dict[str, str]]:
    """Return the column of decisions, what is protected, and the directions, for the data at hand."""
    if "personal_status" in frame:  # German credit: it says sex and marital status in one code
        return "class", ["personal_status", "foreign_worker"], {"duration": "increasing"}
    if "capital_gain" in frame:  # adult
        return "class", ["sex", "race"], {"capital_gain": "increasing", "education_num": "increasing"}
    return "decision", ["sex"], {"income": "increasing", "debt": "decreasing"}


def main(folder: Path, data: str | None) -> None:
    """Audit the newer of two versions."""
    frame = applicants() if data is None else pd.read_csv(data, skipinitialspace=True)
    frame = frame.drop(columns=[name for name in ("fnlwgt", "education") if name in frame])
    decision, protected, monotone = questions(frame)
    y = frame.pop(decision)
    half = len(frame) // 2
    previous, model = fitted(frame[:half], y[:half], 0), fitted(frame, y, 1)
    found = onetree.audit(
        model,
        frame,
        y=y,
        protected=protected,
        monotone=monotone,
        previous=previous,
        title="Audit" if data is None else f"Audit on {Path(data).stem}",
        path=folder / "sign-off.html",
        max_rows=300,
        time_limit=10 if data is None else 30,
    )
    print(found)
    print("written:", folder / "sign-off.html")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."), sys.argv[2] if len(sys.argv) > 2 else None)
