"""Specs that tests may change."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    """A copy of the real specs that a test may spoil."""
    shutil.copytree(root / "specs", tmp_path / "specs")
    return tmp_path / "specs"
