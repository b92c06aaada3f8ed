"""The exported tree on a local Spark, as the example runs it."""

from __future__ import annotations

import runpy
import shutil

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.cluster]


@pytest.mark.filterwarnings("ignore:::pyspark")
def test_spark_scores_rows_as_the_forest_does(repository, capsys):
    pytest.importorskip("pyspark", reason="the example needs: pip install pyspark")
    pytest.importorskip("pandas", reason="the example needs: pip install pandas")
    pytest.importorskip("pyarrow", reason="the example needs: pip install pyarrow")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    runpy.run_path(str(repository / "examples" / "spark_scorer.py"), run_name="__main__")
    assert "100% as the forest predicts" in capsys.readouterr().out
