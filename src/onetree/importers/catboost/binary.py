"""CatBoost's binary format, turned into JSON by CatBoost itself.

CatBoost reads such files in native code that damaged ones can crash, so that it runs in a process of its own.
"""

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from onetree.errors import ModelFileError
from onetree.errors import missing as missing_package
from onetree.files.atomic import read_whole

_SECONDS = 120
_CONVERT = """
import sys
import catboost
model = catboost.CatBoost()
model.load_model(sys.argv[1])
model.save_model(sys.argv[2], format="json")
"""


def json_of_binary(content: bytes) -> bytes:
    """Return the JSON of the model in the content of a `.cbm` file."""
    if importlib.util.find_spec("catboost") is None:
        raise missing_package("catboost", "catboost")
    with tempfile.TemporaryDirectory(prefix="onetree-") as folder:
        source, target = Path(folder) / "model.cbm", Path(folder) / "model.json"
        source.write_bytes(content)
        command = [sys.executable, "-c", _CONVERT, str(source), str(target)]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
        except subprocess.TimeoutExpired:
            raise ModelFileError(f"CatBoost did not read this file within {_SECONDS} s") from None
        if done.returncode != 0 or not target.is_file():
            said = done.stderr.decode(errors="replace").strip().splitlines()
            reason = said[-1][:300] if said and done.returncode > 0 else "it crashed"
            raise ModelFileError(f"CatBoost does not read this file: {reason}")
        return read_whole(target)
