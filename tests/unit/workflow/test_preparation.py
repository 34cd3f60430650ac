"""Preparation of a run: Pythons of jobs, patterns of wildcards, the prefix and the launcher of commands."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pubmill.errors import PubmillError
from pubmill.hardware.slurm import launcher
from pubmill.specs.study import Study
from pubmill.workflow.preparation import (
    CACHES,
    COMPILED,
    any_of,
    has_own_environments,
    keep_compiled,
    shell_prefix,
    wildcard_patterns,
)

CONDA, APPTAINER, MODULES = "CONDA", "APPTAINER", "ENV_MODULES"
"""Names of Snakemake's methods of deployment."""


def study(container: str | None) -> Study:
    return Study(study="x", title="", scale="demo", tables=(), container=container)


def own(methods: set[str], container: str | None = None) -> bool:
    return has_own_environments(methods, study(container))


def test_conda_and_images_bring_their_own_python() -> None:
    assert not own(set()) and not own(set(), "pubmill.sif") and not own({MODULES})
    assert own({CONDA}) and own({APPTAINER}, "pubmill.sif") and own({APPTAINER, CONDA}, "pubmill.sif")


def test_without_an_image_there_is_nothing_to_run_in() -> None:
    with pytest.raises(PubmillError, match="names no image; set `container:`"):
        own({APPTAINER})


@pytest.mark.parametrize("image", ["/data/pubmill.sif", "docker://ghcr.io/a/pubmill@sha256:0a"])
def test_images_are_files_or_addresses(image: str) -> None:
    assert study(image).container == image


@pytest.mark.parametrize("image", ["", "a b.sif", "a;b", "$(id)", "`id`", "a'b", "{x}", "--bind", "a\n"])
def test_what_a_shell_would_read_is_no_image(image: str) -> None:
    """Snakemake puts the image into a shell's command as it is."""
    with pytest.raises(ValidationError):
        study(image)


def test_compiled_kernels_are_kept_below_the_results_or_where_the_user_wants(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = CACHES
    monkeypatch.setenv(mine, "restored afterwards")
    monkeypatch.delenv(mine)
    monkeypatch.setenv(theirs, "/of mine")
    keep_compiled(tmp_path / "results")
    assert (os.environ[mine], os.environ[theirs]) == (str(tmp_path / "results/.compiled/torch"), "/of mine")
    assert f"results/{COMPILED}" in (root / "Makefile").read_text().partition("\nclean:\n")[2]


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
