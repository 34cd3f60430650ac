"""Fixtures that unit tests share."""

import shutil
from pathlib import Path

import pytest

from tests.licensed import add_spec, write_files


@pytest.fixture
def specs(root: Path, tmp_path: Path) -> Path:
    """The checkout's specs, with a made-up dataset that one must apply for."""
    shutil.copytree(root / "specs", tmp_path / "specs")
    add_spec(tmp_path / "specs")
    return tmp_path / "specs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of that dataset."""
    return write_files(tmp_path / "my files")
