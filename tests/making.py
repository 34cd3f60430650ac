"""What several test processes need is made by one of them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that the first test process to need it makes, and that all of them read.

    If it cannot be made, the first process fails with the reason; the others skip the tests that need it.
    """
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    state = folder.with_name(f"{name}.state")
    with FileLock(folder.with_name(f"{name}.lock")):
        if not state.exists():
            state.write_text("failed")  # until it is made
            folder.mkdir()
            make(folder)
            state.write_text("made")
        elif state.read_text() == "failed":
            pytest.skip(f"{name} could not be made; the first test that needed it says why")
    return folder
