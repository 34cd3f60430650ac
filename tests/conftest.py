"""Fixtures that several kinds of test share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Several threads only wait for each other on models as small as those of tests; set before torch is imported.
os.environ["OMP_NUM_THREADS"] = "1"

# How long an example takes is the machine's affair: on a busy one the usual limit is met by chance.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real public data (`mirror/`, `standins/`, `oracles/`) that acceptance tests read.

    `PUBMILL_REAL_DATA` names it; without it, `shared` beside the checkout is tried.
    """
    folder = Path(os.environ.get("PUBMILL_REAL_DATA", ROOT.parent / "shared"))
    if not (folder / "mirror").is_dir():
        pytest.skip(
            f"no real data: {folder}/mirror is absent (set PUBMILL_REAL_DATA to a folder that has it)"
        )
    return folder
