"""Commands that start several processes; what Slurm says is made up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.hardware.launching import TORCHRUN_ENVIRONMENT, SlurmJob, command, slurm_job

PROGRAM = ["pretrain.py", "--to", "40"]


def test_one_process_is_started_as_it_is() -> None:
    assert command(PROGRAM, nodes=1, processes=1) == [sys.executable, *PROGRAM]


def test_processes_of_one_machine_are_torchruns() -> None:
    started = command(PROGRAM, nodes=1, processes=4)
    assert started[1:5] == ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=4"]
    assert started[5:] == PROGRAM


def test_processes_have_as_long_to_save_as_the_profile_leaves_before_the_limit(
    root: Path, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os; print(os.environ['TORCH_ELASTIC_SHUTDOWN_TIMEOUT'], end='')")
    line = [sys.executable, str(root / "scripts/launch.py"), str(program)]
    bare = {key: value for key, value in os.environ.items() if key not in TORCHRUN_ENVIRONMENT}

    def seen(**more: str) -> str:
        return subprocess.run(line, env=bare | more, capture_output=True, text=True, check=True).stdout

    assert f"--signal=TERM@{seen()}'" in (root / "profiles/slurm/config.yaml").read_text()
    assert seen(TORCH_ELASTIC_SHUTDOWN_TIMEOUT="600") == "600"


def test_each_node_of_a_job_has_a_torchrun_that_meets_the_others_at_the_first_node() -> None:
    started = command(PROGRAM, nodes=2, processes=4, job=SlurmJob(123_456, "10.0.0.1", "16"))
    srun, torchrun = started[: started.index(sys.executable)], started[started.index(sys.executable) :]
    assert srun[0] == "srun"
    assert {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpus-per-task=16"} <= set(srun)
    assert {"--nnodes=2", "--nproc-per-node=4", "--rdzv-endpoint=10.0.0.1:23456"} <= set(torchrun)
    assert torchrun[-3:] == PROGRAM


def test_a_job_of_one_node_starts_as_one_machine_does() -> None:
    job = SlurmJob(7, "gpu03", "12")
    for processes in (1, 4):
        assert command(PROGRAM, 1, processes, job) == command(PROGRAM, 1, processes)


def test_several_nodes_without_a_job_are_refused() -> None:
    with pytest.raises(PubmillError, match="2 nodes are asked for, but this is not a job of Slurm"):
        command(PROGRAM, nodes=2, processes=1)


@pytest.fixture
def scontrol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of that name which answers as Slurm 22.05 does."""
    program = tmp_path / "scontrol"
    program.write_text(
        "#!/bin/sh\n"
        'case "$2" in\n'
        "job) echo 'JobId=7 JobName=a ReqNodeList=(null) NodeList=gpu[03-04] NumNodes=2 CPUs/Task=12';;\n"
        "hostnames) printf 'gpu03\\ngpu04\\n';;\n"
        'node) echo "NodeName=$4 Arch=x86_64 NodeAddr=$4.cluster NodeHostName=$4";;\n'
        "esac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return program


def test_a_job_is_what_the_controller_says_of_its_number(scontrol: Path) -> None:
    assert slurm_job({}) is None
    assert slurm_job({"SLURM_JOB_ID": "7"}) == SlurmJob(7, "gpu03.cluster", "12")


def test_an_answer_that_cannot_be_read_and_none_at_all_are_reported(scontrol: Path) -> None:
    scontrol.write_text("#!/bin/sh\necho JobId=7\n", encoding="utf-8")
    with pytest.raises(PubmillError, match="scontrol names no NodeList in: JobId=7"):
        slurm_job({"SLURM_JOB_ID": "7"})
    scontrol.write_text(
        "#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n", encoding="utf-8"
    )
    with pytest.raises(PubmillError, match="scontrol show job --oneliner 7 failed: Unable to contact"):
        slurm_job({"SLURM_JOB_ID": "7"})
