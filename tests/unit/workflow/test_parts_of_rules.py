"""Patterns of wildcards match the names alone; the prefix quotes the checkout; commands start processes."""

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.hardware.slurm import launcher
from pubmill.workflow.preparation import any_of, shell_prefix, wildcard_patterns


@given(st.lists(st.text(min_size=1, max_size=8), max_size=6), st.text(min_size=1, max_size=8))
def test_a_pattern_matches_its_names_alone(names: list[str], other: str) -> None:
    pattern = re.compile(any_of(names))
    assert all(pattern.fullmatch(name) for name in names)
    assert bool(pattern.fullmatch(other)) == (other in names)


def test_wildcards_are_one_part_of_a_path_or_a_known_name() -> None:
    patterns = wildcard_patterns(["blurb", "gu2020"])
    assert re.fullmatch(patterns["model"], "bio-lm@1") and not re.fullmatch(patterns["model"], "a/b")
    assert re.fullmatch(patterns["protocol"], "blurb") and not re.fullmatch(patterns["protocol"], "lewis2020")
    assert re.fullmatch(patterns["table"], "table06") and not re.fullmatch(patterns["table"], "table")
    assert re.fullmatch(patterns["table"], "section3") and not re.fullmatch(patterns["table"], "section")
    assert re.fullmatch(patterns["seed"], "12") and not re.fullmatch(patterns["seed"], "{seed}")


@pytest.mark.parametrize("own", [False, True])
def test_programs_import_the_checkout_and_stop_at_the_first_fault(tmp_path: Path, own: bool) -> None:
    root = tmp_path / "a 'checkout' of pubmill"
    prefix = shell_prefix(root, own)
    shown = subprocess.run(
        ["bash", "-c", f"{prefix} echo $PYTHONPATH; false | true; echo on"], capture_output=True, text=True
    )
    assert (shown.returncode, shown.stdout) == (1, f"{root}\n")
    assert ("PATH=" in re.sub(r"PYTHON\w+=", "", prefix)) is not own


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
