"""Count the jobs that a run would start, by rule, with a project's own code: `planner.py [TARGET ...]`.

It runs in a fork that has imported Snakemake (tests/warm.py); a dry run spends most of its time on imports.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path


def planned(python: str, folder: Path, *targets: str) -> dict[str, int]:
    """Return the number of jobs by rule that a run in the project's folder would start."""
    command = [python, __file__, *targets]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def _plan() -> None:
    sys.dont_write_bytecode = True  # edits may follow each other within a second
    sys.path.insert(0, str(Path.cwd()))
    import yaml

    from pubmill.errors import PubmillError
    from pubmill.planning.plan import jobs_of_study

    config = yaml.safe_load(Path("config.yaml").read_text(encoding="utf-8"))
    try:
        jobs = jobs_of_study(Path.cwd(), config, sys.argv[1:])
    except PubmillError as error:
        sys.exit(str(error))
    print(json.dumps(Counter(job.rule for job in jobs if job.to_do)))


if __name__ == "__main__":
    _plan()
