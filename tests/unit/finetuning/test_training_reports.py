"""What a run reports of its training, and trainings without dev."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.run import finetune
from tests.unit.tiny_encoders import tiny_bert
from tests.unit.toy_tasks import SYLLABLES, TOKENS, write_dataset

BOTH = replace(TOKENS, train_on="train+dev")


def test_without_dev_the_last_weights_are_kept(tmp_path: Path) -> None:
    model = tiny_bert(tmp_path / "model", SYLLABLES)
    tokens = write_dataset(tmp_path / "tokens", "tokens")
    job = FinetuningJob(replace(TOKENS, learning_rate=1e-30, epochs=1), model, tokens, 1, "test", dev=None)
    with pytest.raises(PubmillError, match="no dev to choose the best weights by"):
        finetune(job)
    run = finetune(replace(job, recipe=replace(job.recipe, keep="last")))
    assert run.report["data_sha256"].keys() == {"train", "test"} and run.predictions
