"""Fixtures shared by several kinds of tests."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import settings

from pubmill.hardware.process_limits import cores
from tests.warm import Warm

# On the tiny models of tests, several threads only wait for each other; must be set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The time of an example depends on the machine: on a busy one, the default limit is sometimes exceeded.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

LONGEST = tuple(
    f"tests/{name}.py"
    for name in (
        "workflow/test_demo", "workflow/test_slurm", "workflow/test_finetuning", "workflow/test_reruns",
        "gpu/test_traces", "workflow/test_printed_commands", "workflow/test_wheel", "workflow/test_kills",
        "workflow/test_pretraining", "workflow/test_tasks_beyond", "unit/finetuning/test_seeds",
        "workflow/test_found_records", "unit/pretraining/test_distributed", "workflow/test_access",
        "workflow/test_archive", "workflow/test_elsewhere", "gpu/test_rehearsal", "workflow/test_tutorial",
        "acceptance/test_pmc_real", "acceptance/test_tokens_real", "acceptance/test_relations_real",
        "workflow/test_extras", "workflow/test_moves", "unit/test_attacks", "unit/inspection/test_explain",
        "unit/finetuning/test_pairs", "unit/extras/ask/test_asking", "unit/pretraining/test_engine",
    )
)  # fmt: skip
"""Files that start first, so that none of them is alone at the end while other cores are idle."""


def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than cores: workflow tests often wait, for Snakemake or Slurm."""
    return cores() + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the longest files first, all others as collected."""
    place = {file: number for number, file in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.location[0], len(place)))


ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def python() -> Iterator[str]:
    """A Python that has imported what Snakemake, its jobs and other programs need."""
    with closing(Warm()) as warm:
        yield warm.python


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of real public data (`mirror/`, `standins/`, `oracles/`) that acceptance tests read.

    `PUBMILL_REAL_DATA` names it; the default is `shared` beside the checkout.
    """
    folder = Path(os.environ.get("PUBMILL_REAL_DATA", ROOT.parent / "shared"))
    if not (folder / "mirror").is_dir():
        pytest.skip(
            f"no real data: {folder}/mirror is absent (set PUBMILL_REAL_DATA to a folder that has it)"
        )
    return folder
