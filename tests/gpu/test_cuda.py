"""Pretraining and fine-tuning with real CUDA, for machines that have a GPU."""

from pathlib import Path

import pytest
import torch

from tests.gpu.cuda_checks import CHECKS, make_models

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that PyTorch finds")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    make_models(folder)
    return folder


@pytest.mark.parametrize("name", CHECKS, ids=", ".join)
def test_on_cuda(name: tuple[str, str], models: Path) -> None:
    check, recipe = CHECKS[name]
    assert check(recipe, models)
