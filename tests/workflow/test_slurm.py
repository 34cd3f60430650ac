"""Runs on a real Slurm with several node daemons on this machine (tests/cluster/)."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import patience, wait_until
from tests.workflow.conftest import Project, copy_of
from tests.workflow.test_kills import PRETRAINING, SAVED, WEIGHTS, appears, same_weights, sha256

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch")
missing = [name for name in PROGRAMS if shutil.which(name) is None]
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)}: apt-get install slurm-wlm munge"),
    pytest.mark.skipif(
        os.getuid() != 0, reason="only root can start a Slurm with several nodes on one machine"
    ),
]
PATIENT = ("--seconds-between-status-checks", "1", "--slurm-init-seconds-before-status-checks", "1")
TABLE = "results/demo/tables/demo/gu2020-table06"
FIRST = f"{PRETRAINING}/step-20/model.safetensors"
ONE_NODE = "    gpu: 1\n    processes: 1  "
TWO_NODES = """\
    nodes: 2
    tasks: 2
    mpi: srun
    processes: 2  """


@dataclass(frozen=True)
class OnSlurm(Project):
    def command(self, *arguments: str) -> list[str]:
        line = super().command("--slurm-no-account", "--latency-wait", "10", *PATIENT, *arguments)
        return [word.replace("profiles/local", "profiles/slurm") for word in line]

    def ended(self, process: subprocess.Popen[bytes]) -> str:
        assert process.wait(timeout=patience(600)) == 0, (self.folder / "killed.log").read_text()
        return (self.folder / "killed.log").read_text()


@pytest.fixture(scope="module")
def slurm(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder of a running Slurm; commands find it through the environment."""
    folder = tmp_path_factory.mktemp("slurm")
    environment = {**os.environ, "SLURM_ROOT": str(folder), "NODES": "4"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(folder / "etc/slurm.conf"))
        patch.setenv("GLOO_SOCKET_IFNAME", "lo")
        try:
            subprocess.run([root / "tests/cluster/slurm_up.sh"], env=environment, check=True)
            yield folder
        finally:
            subprocess.run([root / "tests/cluster/slurm_down.sh"], env=environment, check=True)


@pytest.fixture(scope="module")
def finished(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a table of one dataset, because each Slurm job takes seconds to start."""
    smaller = copy_of(finished, tmp_path_factory.mktemp("one") / "dataset")
    smaller.edit("config.yaml", "datasets: [bc5-chem, jnlpba]", "datasets: [bc5-chem]")
    for folder in smaller.folder.glob("results/demo/runs/*/*/jnlpba"):
        shutil.rmtree(folder)  # a table shows records on disk, requested or not
    smaller.run(f"{TABLE}.html")
    return smaller


def unfinished(finished: Project, folder: Path) -> OnSlurm:
    copy = copy_of(finished, folder)
    for made in (PRETRAINING, "results/demo/models/pubmedbert-base", "results/demo/runs"):
        shutil.rmtree(copy.folder / made)
    for table in copy.folder.glob(f"{TABLE}.*"):
        table.unlink()
    return OnSlurm(copy.folder)


def asked(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def running(project: Project, rule: str) -> list[str]:
    lines = asked("squeue", "--noheader", "--states=R", "--format=%A %Z %k").splitlines()
    rows = (line.split(maxsplit=2) for line in lines)
    place = str(project.folder)
    named = re.compile(rf"rule_{rule}_")
    return [job for job, folder, comment in rows if folder == place and named.search(comment)]


def until(holds: Callable[[], bool]) -> None:
    wait_until(holds, 600, "Slurm")


def at_its_time_limit_a_pretraining_saves_and_the_next_job_continues(
    cluster: OnSlurm, finished: Project
) -> None:
    cluster.edit("config.yaml", "save_minutes: 0", "save_minutes: 60")
    run = cluster.start_until(appears(cluster, f"{PRETRAINING}/tensorboard/*"), (FIRST,))
    [process] = pretraining_processes(cluster)
    until(lambda: sigterm_in("Cgt", process))
    os.kill(process, signal.SIGSTOP)  # so that it does not end too early
    [job] = running(cluster, "pretrain")
    hours, minutes, _ = f"0:{asked('squeue', '--noheader', '--format=%M', f'--jobs={job}')}".split(":")[-3:]
    asked("scontrol", "update", f"job={job}", f"timelimit={60 * int(hours) + int(minutes) + 2}")
    until(lambda: sigterm_in("Pnd", process))
    with suppress(ProcessLookupError):  # Slurm may have woken it
        os.kill(process, signal.SIGCONT)
    said = cluster.ended(run)
    assert re.search(r"Error in rule pretrain:\n.*FAILED", said)
    log = (cluster.folder / "results/demo/logs/pretraining/pubmedbert-base/step-20.log").read_text()
    assert re.search(r"going on from the last save, step \d+", log)
    assert sha256(cluster.folder / FIRST) == sha256(finished.folder / FIRST)


def pretraining_processes(project: Project) -> list[int]:
    program = str(project.folder / "scripts/pretrain.py").encode()
    lines = ((path, read(path / "cmdline").split(b"\0")) for path in Path("/proc").glob("[0-9]*"))
    return [int(path.name) for path, line in lines if line[1:2] == [program]]


def sigterm_in(which: str, process: int) -> bool:
    """Return whether a process catches SIGTERM (Cgt), has one pending (Pnd), or has ended."""
    masks = re.findall(rf"(?:Sig|Shd){which}:\s+([0-9a-f]+)", read(Path(f"/proc/{process}/status")).decode())
    return not masks or any(int(mask, 16) >> (signal.SIGTERM - 1) & 1 for mask in masks)


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


def jobs_that_outlive_a_killed_snakemake_are_reported_and_count(cluster: OnSlurm, finished: Project) -> None:
    run = cluster.start_until(appears(cluster, SAVED), (WEIGHTS,))
    jobs = pretraining_processes(cluster)
    for process in jobs:
        os.kill(process, signal.SIGSTOP)  # so that they do not end before the next run looks
    run.kill()
    run.wait()
    too_early = cluster.run(WEIGHTS, check=False)
    for process in jobs:
        os.kill(process, signal.SIGCONT)
    assert too_early.returncode != 0
    assert re.search(r"1 jobs of an earlier run .* `scancel [0-9]+`", too_early.stderr), too_early.stderr
    until(lambda: not running(cluster, "pretrain"))
    first = cluster.folder / FIRST
    made = first.stat().st_mtime_ns
    cluster.run(WEIGHTS)
    assert first.stat().st_mtime_ns == made
    assert same_weights(cluster, finished)


def code_changed_under_a_run_stops_its_waiting_jobs(cluster: OnSlurm, finished: Project) -> None:
    """The running job has imported its code; the next one starts when its code is another than the run's."""
    cluster.edit("profiles/slurm/config.yaml", "retries: 2  ", "retries: 0  ")
    run = cluster.start_until(appears(cluster, SAVED), (WEIGHTS,))
    engine = cluster.folder / "pubmill/pretraining/engine.py"
    engine.write_text(engine.read_text() + "\n")
    assert run.wait(timeout=patience(600)) != 0
    log = (cluster.folder / "results/demo/logs/pretraining/pubmedbert-base/step-40.log").read_text()
    assert "changed since this run began: pubmill/pretraining/engine.py" in log
    assert (cluster.folder / FIRST).is_file() and not (cluster.folder / WEIGHTS).exists()
    cluster.run(WEIGHTS)
    assert same_weights(cluster, finished)


def recipes_changed_under_a_run_stop_its_waiting_jobs(cluster: OnSlurm, finished: Project) -> None:
    """A job on a node reads the specs again, but Snakemake records the recipe that it submitted."""
    cluster.edit("profiles/slurm/config.yaml", "retries: 2  ", "retries: 0  ")
    run = cluster.start_until(appears(cluster, SAVED), (WEIGHTS,))
    scale = cluster.folder / "specs/scales/demo.yaml"
    text = scale.read_text()
    scale.write_text(text.replace("learning_rate: 3e-3", "learning_rate: 2e-3"))
    assert run.wait(timeout=patience(600)) != 0
    logs = cluster.folder.glob(".snakemake/slurm_logs/**/*.log")
    assert any("changed since this run began: specs/scales/demo.yaml" in log.read_text() for log in logs)
    scale.write_text(text)
    cluster.run(WEIGHTS)
    assert same_weights(cluster, finished)


def two_nodes_of_two_processes_train_as_one_process_does(cluster: OnSlurm, finished: Project) -> None:
    """The next segment then continues with one process on one node."""
    profile = "profiles/slurm/config.yaml"
    cluster.edit(profile, ONE_NODE, TWO_NODES)
    cluster.edit(profile, "'--signal", "'--gpus-per-node=2 --signal")
    cluster.run(FIRST)
    cluster.edit(profile, "'--gpus-per-node=2 --signal", "'--signal")
    cluster.edit(profile, TWO_NODES, ONE_NODE)
    cluster.run(WEIGHTS)
    for step, processes in ((20, 4), (40, 1)):
        ours, alone = (state(project, step) for project in (cluster, finished))
        assert (ours["hardware"]["processes"], alone["hardware"]["processes"]) == (processes, 1)
        loss, expected = (it["held_out"]["whole-word"]["mlm_loss"] for it in (ours, alone))
        assert loss == pytest.approx(expected, rel=0.01)  # sums in another order, in bfloat16
        assert loss != expected or step == 40


def state(project: Project, step: int) -> Any:
    return json.loads((project.folder / f"{PRETRAINING}/step-{step}/state.json").read_text())


def what_the_cluster_lacks_is_named(
    cluster: OnSlurm, finished: Project, asked_for: str, reported: str
) -> None:
    cluster.edit("profiles/slurm/config.yaml", ONE_NODE, f"    {asked_for}\n    processes: 1  ")
    cluster.edit("profiles/slurm/config.yaml", "retries: 2  ", "retries: 0  ")
    refused = cluster.run(FIRST, check=False)
    assert refused.returncode != 0
    assert reported in refused.stdout + refused.stderr


Case = Callable[[OnSlurm, Project], None]
LACKING = {
    "partition": ("gpu: 1\n    slurm_partition: dgx", "invalid partition specified: dgx"),
    "type of GPU": ("constraint: h100", "Invalid feature specification"),
    "GPUs of a node": ("gpu: 8", "Requested node configuration is not available"),
}
CASES: tuple[Any, ...] = (
    at_its_time_limit_a_pretraining_saves_and_the_next_job_continues,
    jobs_that_outlive_a_killed_snakemake_are_reported_and_count,
    code_changed_under_a_run_stops_its_waiting_jobs,
    recipes_changed_under_a_run_stop_its_waiting_jobs,
    two_nodes_of_two_processes_train_as_one_process_does,
)
TOGETHER: dict[str, Case] = {case.__name__.replace("_", " "): case for case in CASES}
TOGETHER |= {
    f"a lacking {name} is named": partial(what_the_cluster_lacks_is_named, asked_for=line, reported=error)
    for name, (line, error) in LACKING.items()
}
"""Cases that leave the cluster as it is, so that each can wait while others run."""
ALWAYS = ("at its time limit", "a lacking partition")
"""Beginnings of the names of cases that are not weekly."""


@pytest.fixture(scope="module")
def together(
    slurm: Path, finished: Project, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[str, Future[None]]]:
    """The chosen ones of these cases, started at once, each in its own copy of the finished project."""
    chosen = [name for name in TOGETHER if any(f"[{name}]" in item.name for item in request.session.items)]
    copies = {name: unfinished(finished, tmp_path_factory.mktemp("together") / "copy") for name in chosen}
    with ThreadPoolExecutor(len(chosen)) as pool:
        yield {name: pool.submit(TOGETHER[name], copy, finished) for name, copy in copies.items()}


@pytest.mark.parametrize(
    "case",
    [pytest.param(name, marks=() if name.startswith(ALWAYS) else pytest.mark.weekly) for name in TOGETHER],
)
def test_together(together: dict[str, Future[None]], case: str) -> None:
    together[case].result()


@pytest.mark.weekly
def test_a_cancelled_job_a_lost_node_and_a_restarted_controller_change_no_table(
    slurm: Path, finished: Project, tmp_path: Path
) -> None:
    """The last test: it takes a node away, and uses a Slurm in which nothing else runs."""
    cluster = unfinished(finished, tmp_path / "copy")
    run = cluster.start_until(appears(cluster, SAVED), (f"{TABLE}.html",))
    asked("scancel", *running(cluster, "pretrain"))
    until(appears(cluster, f"{PRETRAINING}/step-20/state.json"))
    os.kill(int((slurm / "run/slurmctld.pid").read_text()), signal.SIGKILL)
    asked("slurmctld", "-f", str(slurm / "etc/slurm.conf"))
    until(lambda: bool(running(cluster, "trial")))
    [node] = asked("squeue", "--noheader", f"--jobs={running(cluster, 'trial')[0]}", "--format=%N").split()
    asked("scontrol", "update", f"nodename={node}", "state=down", "reason=a test")
    said = cluster.ended(run)
    assert "NODE_FAIL" in (slurm / "log/jobs.log").read_text()
    assert re.search(r"Error in rule pretrain:\n.*CANCELLED", said)
    assert same_weights(cluster, finished)
    for kind in ("csv", "html"):
        assert (cluster.folder / f"{TABLE}.{kind}").read_text() == (
            finished.folder / f"{TABLE}.{kind}"
        ).read_text()
