"""A model that many tests of fine-tuning need."""

from pathlib import Path

import pytest

from tests.unit.finetuning.encoder_families import save_encoder


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny BERT, which no test changes."""
    return save_encoder(tmp_path_factory.mktemp("models") / "bert", "bert")
