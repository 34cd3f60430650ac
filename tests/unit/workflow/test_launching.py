"""Commands that start several processes."""

from pathlib import Path

from pubmill.workflow.launching import launcher


def test_processes_are_started_by_torchrun_on_each_node() -> None:
    assert launcher(1, 1, 8) == "python"
    assert launcher(1, 4, 8) == "python -m torch.distributed.run --nproc-per-node=4 --standalone"
    srun, torchrun = launcher(2, 4, 16).split(" python ")
    assert {"srun", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpus-per-task=16"} <= set(
        srun.split()
    )
    assert "--nproc-per-node=4 --nnodes=2 --rdzv-backend=c10d --rdzv-id=$SLURM_JOB_ID" in torchrun


def test_processes_have_as_long_to_save_as_the_profile_leaves_before_the_limit(root: Path) -> None:
    assert "SHUTDOWN_TIMEOUT:-180" in (root / "rules/pretraining.smk").read_text()
    assert "--signal=TERM@180'" in (root / "profiles/slurm/config.yaml").read_text()
