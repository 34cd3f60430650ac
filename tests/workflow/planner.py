"""Plan projects in a process that has imported Snakemake: each in a fork, with the project's own code.

A dry run spends most of its time on imports. `python -m tests.workflow.planner` reads lines of JSON (folder,
targets) and answers with the jobs that are to be done, by rule, or with what went wrong.
"""

import gc
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Planner:
    """The planning process and its requests."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.workflow.planner"],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # edits may follow each other within a second
        )

    def planned(self, folder: Path, *targets: str) -> dict[str, int]:
        """Return the number of jobs by rule that a run in the project's folder would start."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([str(folder), targets]) + "\n")
        self.process.stdin.flush()
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert "error" not in found, found["error"]
        return found

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def _plan(folder: str, targets: Sequence[str]) -> dict[str, Any]:
    """Plan in a fork, which imports the project's own pubmill and builds its graph."""
    os.chdir(folder)
    sys.path.insert(0, folder)
    from pubmill.errors import PubmillError
    from pubmill.workflow.jobs import jobs_of

    try:
        jobs = jobs_of(Path(folder), {}, targets)
    except PubmillError as error:
        return {"error": str(error)}
    return dict(Counter(job.rule for job in jobs if job.to_do))


def _serve() -> None:
    import snakemake.api  # noqa: F401
    import snakemake.cli  # noqa: F401

    gc.freeze()  # else every collection in a fork would visit, and so copy, all that was imported
    answers = os.dup(1)
    os.dup2(2, 1)  # Snakemake's output must not mix with the answer
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            found = _plan(*json.loads(line))
            os.write(answers, json.dumps(found).encode() + b"\n")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            os.write(
                answers, json.dumps({"error": f"the planner's child ended with {status}"}).encode() + b"\n"
            )


if __name__ == "__main__":
    _serve()
