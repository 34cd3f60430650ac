"""Fixtures that many tests of pretraining need, and that none of them changes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pubmill.hardware import torch_setup
from tests.unit.pretraining.toy_pretraining import make_data, pretrain


@pytest.fixture(scope="session", autouse=True)
def small_products() -> Iterator[None]:
    """Let a segment measure the processor's rate by products of small matrices, which take no time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(torch_setup.MEASURED, "cpu", 64)
        yield


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pretrain(data, tmp_path_factory.mktemp("whole") / "step-40", 40)
