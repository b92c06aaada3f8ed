"""A PostgreSQL server of our own, in a folder of its own and without a network, for as long as it is needed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

OWNER = "postgres"  # root must not run a server


def programs():
    """Where initdb, pg_ctl and psql are; None if there is no server on this machine."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    folders = [folder for folder in folders if (folder / "initdb").exists() and (folder / "psql").exists()]
    return folders[0] if folders and (os.geteuid() or _has_owner()) else None


def _has_owner():
    import pwd

    return any(entry.pw_name == OWNER for entry in pwd.getpwall())


@contextmanager
def server():
    """Start a server; gives a function that runs a script and returns the lines that it prints."""
    bin_, folder = programs(), Path(tempfile.mkdtemp(prefix="onetree-pg-"))
    options = {} if os.geteuid() else {"user": OWNER}
    if options:
        shutil.chown(folder, OWNER)

    def call(program, *arguments, **more):
        done = subprocess.run(
            [bin_ / program, *arguments], capture_output=True, text=True, cwd=folder, **options, **more
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(script):
        settings = ["-h", str(folder), "-U", OWNER, "-d", "postgres", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        return call("psql", *settings, input=script).splitlines()

    data = folder / "data"
    try:
        call("initdb", "-D", str(data), "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        where = f"-k {folder} -c listen_addresses='' -c fsync=off"
        call("pg_ctl", "-D", str(data), "-o", where, "-l", str(folder / "log"), "-w", "start")
        try:
            yield run
        finally:
            call("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def predictions(run, tree, rows, **options):
    """The labels (not indices) that the exported query gives."""
    columns = ", ".join('"{}" DOUBLE PRECISION'.format(name.replace('"', '""')) for name in tree.feature_names)
    copied = "\n".join("\t".join([str(i), *map(repr, row)]) for i, row in enumerate(rows.astype(float).tolist()))
    lines = run(
        "\n".join(
            [
                "DROP TABLE IF EXISTS onetree_nodes, inputs CASCADE;",
                f"CREATE TABLE inputs (id INTEGER, {columns});",
                "COPY inputs FROM STDIN;",
                copied,
                "\\.",
                tree.to_code("sql", view="predictions", **options),
                "SELECT to_json(prediction) FROM predictions ORDER BY id;",
            ]
        )
    )
    return [json.loads(line) if line else None for line in lines]
