"""Fixtures that many tests of pretraining need."""

from pathlib import Path

import pytest

from tests.unit.pretraining.toy_pretraining import make_data


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A packed corpus and its vocabulary, which no test changes."""
    return make_data(tmp_path_factory.mktemp("data"))
