"""Fixtures that many tests of pretraining need, and that none of them changes."""

from pathlib import Path

import pytest

from tests.unit.pretraining.toy_pretraining import make_data, pretrain


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A packed corpus and its vocabulary."""
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All the steps at one go."""
    return pretrain(data, tmp_path_factory.mktemp("whole") / "step-40", 40)
