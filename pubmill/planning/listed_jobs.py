"""Jobs of a study, listed by Snakemake's dry run."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.stage_groups import TARGET
from pubmill.planning.plan import Job


def jobs_of_study(
    root: Path,
    config: Mapping[str, Any],
    targets: Sequence[str] = (),
    options: Sequence[str] = (),
    finished: bool = False,
) -> list[Job]:
    """Return the jobs to do behind the targets, by the whole configuration of a study; without targets, those
    of the whole study. `options`: further ones of Snakemake; `finished`: return finished jobs too. Raise a
    `PubmillError` with Snakemake's message if the graph cannot be built."""
    with TemporaryDirectory(prefix="pubmill-jobs-") as folder:
        merged = Path(folder) / "config.json"
        merged.write_text(json.dumps(config, default=str), encoding="utf-8")
        command = [sys.executable, "-m", "snakemake", "--logger=pubmill", *targets]
        command += ["--dry-run", "--snakefile", str(root / "Snakefile"), "--configfile", str(merged)]
        command += [*([] if "--profile" in options else ["--profile", commands.profile()]), *options]
        started = [_start(command), *([_start([*command, "--forceall"])] if finished else [])]
        to_do, *every = [_jobs(process) for process in started]
    known = {(job.rule, *job.wildcards.values()) for job in to_do}
    there = (job for jobs in every for job in jobs if (job.rule, *job.wildcards.values()) not in known)
    return [*to_do, *(Job(job.rule, job.wildcards, False, job.text) for job in there)]


def _start(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _jobs(process: subprocess.Popen[str]) -> list[Job]:
    """Return the jobs that a dry run prints."""
    printed, errors = process.communicate()
    if process.returncode:
        raise PubmillError(errors.strip().removeprefix("pubmill: error: "))
    found = (json.loads(line) for line in printed.splitlines() if line.startswith("{"))
    return [
        Job(one["rule"], one["wildcards"], True, one["text"], one["reason"])
        for one in found
        if one["rule"] != TARGET
    ]
