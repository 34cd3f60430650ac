"""The profiles that are shipped: their keys, and the commands of clusters without a plugin of their own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

GENERIC = {"submit-cmd", "status-cmd", "cancel-cmd", "cancel-nargs", "sidecar-cmd"}
"""Settings of snakemake-executor-plugin-cluster-generic."""
COMMANDS = {"sge": "qconf", "pbs": "pbsnodes", "lsf": "bsub"}
"""Command by which each system is known."""


def values(root: Path, profile: str) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load((root / f"profiles/{profile}/config.yaml").read_text())
    return found


def test_snakemake_knows_every_key(root: Path) -> None:
    command = [sys.executable, "-m", "snakemake", "--help"]
    known = set(re.findall(r"--[a-z-]+", subprocess.run(command, capture_output=True, text=True).stdout))
    known |= {f"--cluster-generic-{name}" for name in GENERIC}
    for profile in ("local", "gpu", "slurm", "cluster-generic"):
        found = values(root, profile)
        assert {f"--{key}" for key in found} <= known, profile
        assert str(found.get("executor", "slurm")) in ("slurm", "cluster-generic")


def test_the_profile_of_other_clusters_requests_as_that_of_slurm(root: Path) -> None:
    slurm, generic = values(root, "slurm"), values(root, "cluster-generic")
    same = {key for key in slurm if not key.startswith(("executor", "slurm", "group", "default", "set-"))}
    assert {key: slurm[key] for key in same} == {key: generic[key] for key in same}
    wanted = {rule: of["gpu"] for rule, of in slurm["set-resources"].items()}  # type: ignore[attr-defined]
    assert {rule: of["gpu"] for rule, of in generic["set-resources"].items()} == wanted  # type: ignore[attr-defined]


def fake(folder: Path, name: str, text: str, code: int = 0) -> None:
    """A command that writes its arguments to a file and prints a text."""
    path = folder / name
    path.write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/{name}.args\ncat <<'END'\n{text}\nEND\nexit {code}\n"
    )
    path.chmod(0o755)


def jobs(root: Path, folder: Path, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the profile where only the commands of the folder and the system's there are."""
    return subprocess.run(
        [str(root / "profiles/cluster-generic" / verb), *words],
        env={"PATH": f"{folder}:/usr/bin:/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("system", "program", "cancels", "answer", "expected", "words"),
    [
        ("sge", "qsub", "qdel", "71", "71", ["smp", "4", "h_rt=5400,mem_free=2001M", "gpu=1"]),
        (
            "pbs", "qsub", "qdel", "71.head", "71.head",
            ["select=1:ncpus=4:mem=8001mb:ngpus=1", "walltime=1:30:00"],
        ),
        ("lsf", "bsub", "bkill", "Job <71> is submitted to queue <q>.", "71", ["90", "8001MB", "num=1"]),
    ],
)  # fmt: skip
def test_a_job_requests_cores_memory_time_and_gpus_and_is_cancelled(
    root: Path,
    tmp_path: Path,
    system: str,
    program: str,
    cancels: str,
    answer: str,
    expected: str,
    words: list[str],
) -> None:
    fake(tmp_path, COMMANDS[system], "")
    fake(tmp_path, program, answer)
    made = jobs(root, tmp_path, "submit", "finetune", "4", "8001", "90", "1", "job.sh")
    assert (made.returncode, made.stdout) == (0, f"{expected}\n"), made.stderr
    given = (tmp_path / f"{program}.args").read_text().splitlines()
    assert set(words) <= set(given) and given[-1] == "job.sh"
    jobs(root, tmp_path, "submit", "table", "1", "100", "5", "0", "job.sh")
    assert not any("gpu" in word for word in (tmp_path / f"{program}.args").read_text().splitlines())
    fake(tmp_path, cancels, "")
    assert jobs(root, tmp_path, "cancel", "71", "72").returncode == 0
    assert (tmp_path / f"{cancels}.args").read_text() == "71\n72\n"


@pytest.mark.parametrize(
    ("system", "commands", "expected"),
    [
        ("sge", {"qstat": ("job_number: 71", 0)}, "running"),
        ("sge", {"qstat": ("error reason 1: no disk", 0)}, "failed"),
        ("sge", {"qstat": ("", 1), "qacct": ("", 1)}, "running"),
        ("sge", {"qstat": ("", 1), "qacct": ("failed       0\nexit_status  0", 0)}, "success"),
        ("sge", {"qstat": ("", 1), "qacct": ("failed       0\nexit_status  1", 0)}, "failed"),
        ("sge", {"qstat": ("", 1), "qacct": ("failed       100 : killed\nexit_status  0", 0)}, "failed"),
        ("pbs", {"qstat": ("    job_state = R", 0)}, "running"),
        ("pbs", {"qstat": ("    job_state = F\n    Exit_status = 0", 0)}, "success"),
        ("pbs", {"qstat": ("    job_state = C\n    exit_status = 271", 0)}, "failed"),
        ("pbs", {"qstat": ("", 1)}, "running"), ("lsf", {"bjobs": ("PEND", 0)}, "running"),
        ("lsf", {"bjobs": ("DONE", 0)}, "success"), ("lsf", {"bjobs": ("EXIT", 0)}, "failed"),
    ],
)  # fmt: skip
def test_the_state_of_a_job(
    root: Path, tmp_path: Path, system: str, commands: dict[str, tuple[str, int]], expected: str
) -> None:
    fake(tmp_path, COMMANDS[system], "")
    for name, (text, code) in commands.items():
        fake(tmp_path, name, text, code)
    assert jobs(root, tmp_path, "status", "71").stdout == f"{expected}\n"


def test_a_submission_that_fails_has_no_id(root: Path, tmp_path: Path) -> None:
    fake(tmp_path, "bsub", "no such queue", 1)
    assert jobs(root, tmp_path, "submit", "a", "1", "1", "1", "0", "x").returncode == 1
    fake(tmp_path, "bsub", "thank you")
    made = jobs(root, tmp_path, "submit", "a", "1", "1", "1", "0", "x")
    assert made.returncode == 1 and "printed no id of a job: thank you" in made.stderr


def test_a_machine_without_any_of_them_is_refused(root: Path, tmp_path: Path) -> None:
    made = jobs(root, tmp_path, "status", "1")
    assert made.returncode == 1 and "neither LSF" in made.stderr
