"""Fine-tuning in float16 on a processor: overflows are skipped, recorded, and neither scheduled nor averaged."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pubmill.finetuning import run
from pubmill.finetuning.execution import ON_GPU, choose_execution
from pubmill.finetuning.parameter_groups import GroupedAdam, schedule
from pubmill.finetuning.trainer import Trainer
from tests.gpu.finetuning_cases import RECIPES as CASES
from tests.unit.finetuning.encoder_families import save_encoder
from tests.unit.finetuning.test_recorded_steps import RECIPE, begin, made_up

HALF = replace(RECIPE, precision="float16")
ROOT_SCALE = 2.0**16


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("models") / "bert", "bert")
