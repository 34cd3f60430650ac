"""A proof that all tests of the room share."""

from pathlib import Path

import pytest

from pubmill.storage.result_paths import BELOW
from tests.unit.extras.proof import toy_proof


@pytest.fixture(scope="package")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of a small study with its proof; do not change it."""
    return toy_proof.make(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="package")
def data(results: Path) -> bytes:
    return (results / BELOW.proof("toy")).read_bytes()
