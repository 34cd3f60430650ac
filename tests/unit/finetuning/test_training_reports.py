"""What a run reports of its training, and trainings without dev."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.finetuning import run as runs
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.run import finetune
from pubmill.finetuning.trainer import FinetuningProgress
from tests.unit.tiny_encoders import tiny_bert
from tests.unit.toy_tasks import SYLLABLES, TOKENS, write_dataset

BOTH = replace(TOKENS, train_on="train+dev")


def test_tokens_and_seconds_are_those_of_both_trainings() -> None:
    first = FinetuningProgress(steps=5, steps_per_epoch=4, tokens=60, seconds=2.0, best=(5, 0.5))
    again = FinetuningProgress(steps=3, tokens=90, seconds=1.0)
    report = runs._training_course(BOTH, first, again)
    assert (report["tokens"], report["tokens_per_second"]) == (150, 50)
    assert (report["steps"], report["steps_on_train_and_dev"], report["dev"]["best_epoch"]) == (5, 3, 1.25)
    alone = runs._training_course(TOKENS, first, None)
    assert (alone["tokens_per_second"], alone["steps_on_train_and_dev"]) == (30, None)
    assert runs._training_course(TOKENS, FinetuningProgress(), None)["tokens_per_second"] is None


def test_without_dev_the_last_weights_are_kept(tmp_path: Path) -> None:
    model = tiny_bert(tmp_path / "model", SYLLABLES)
    tokens = write_dataset(tmp_path / "tokens", "tokens")
    job = FinetuningJob(replace(TOKENS, learning_rate=1e-30, epochs=1), model, tokens, 1, "test", dev=None)
    with pytest.raises(PubmillError, match="no dev to choose the best weights by"):
        finetune(job)
    run = finetune(replace(job, recipe=replace(job.recipe, keep="last")))
    assert run.report["data_sha256"].keys() == {"train", "test"} and run.predictions
