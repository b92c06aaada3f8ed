"""Killed at random moments and resumed: ``python -m campaigns.resume``.

One large tree is converted without a break; then again, by processes that are killed with SIGKILL at random moments,
each of which goes on from the file that the one before it left. When the tree is done before there were enough kills,
it begins again. Ends with status 1 if a tree differs from the first, if what was done is lost, or if a file is left
broken.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from campaigns.limits_one import train
from onetree.scale.records import Records

FILES = {"model.json", "tree.json", "whole.json", "checkpoint", "checkpoint-journal"}


def parse(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m campaigns.resume", description=__doc__)
    parser.add_argument("--model", default="breast_cancer,9,3", help="data set of scikit-learn, trees and depth")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    return parser.parse_args(arguments)


class Conversion:
    """A conversion in a folder of its own, as the command does it."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = folder, jobs
        self.checkpoint = folder / "checkpoint"

    def start(self, output):
        words = ["convert", "model.json", "-o", output, "--objective", "leaves", "--method", "heuristic", "--force"]
        command = [sys.executable, "-m", "onetree", *words, "--jobs", str(self.jobs), "--resume", "checkpoint"]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def n_records(self):
        """Records in the file, whose checksums have to be right."""
        if not self.checkpoint.exists():
            return 0
        return sum(1 for _ in Records(self.checkpoint)) - 1  # one says what the run is about


def run(conversion, output, wait=None):
    """Let it run, and kill it after some seconds; True if it ended by itself before."""
    with conversion.start(output) as process:
        try:
            _, errors = process.communicate(timeout=wait)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return False
        if process.returncode:
            raise SystemExit(f"the command ended with status {process.returncode}: {errors}")
        return True


def main(arguments=None):
    options = parse(arguments)
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(*(int(word) if word.isdigit() else word for word in options.model.split(","))).save(folder / "model.json")
        conversion = Conversion(folder, options.jobs)
        started = time.perf_counter()
        run(conversion, "whole.json")
        whole = time.perf_counter() - started
        expected = (folder / "whole.json").read_bytes()
        print(f"{whole:.1f} s without a break", flush=True)
        n_kills = n_trees = n_known = n_lost = n_different = 0
        while n_kills < options.kills or n_trees == 0 or conversion.checkpoint.exists():  # the last kill is resumed too
            # Long enough, as a rule, to get further than the one before.
            wait = moments.uniform(0.0, whole / 3) if n_kills < options.kills else None
            # A process can be killed after its work: the tree is saved, and the checkpoint removed.
            if run(conversion, "tree.json", wait) or (folder / "tree.json").exists():
                same = (folder / "tree.json").read_bytes() == expected
                n_trees, n_different, n_known = n_trees + 1, n_different + (not same), 0
                (folder / "tree.json").unlink()
                conversion.checkpoint.unlink(missing_ok=True)
                print(f"  done: {'the same tree' if same else 'ANOTHER TREE'}", flush=True)
                continue
            n_kills += 1
            n_records = conversion.n_records()
            n_lost += max(0, n_known - n_records)
            print(f"  killed after {wait:5.2f} s, {n_records:4} records kept", flush=True)
            n_known = n_records
        litter = {path.name for path in folder.iterdir()} - FILES
    print(f"{n_kills} kills, {n_trees} trees finished, {n_different} different, {n_lost} records lost")
    if litter:
        print(f"left behind: {', '.join(sorted(litter))}")
    return 1 if n_different or n_lost or litter else 0


if __name__ == "__main__":
    sys.exit(main())
