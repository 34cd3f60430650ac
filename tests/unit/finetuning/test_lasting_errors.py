"""Failed trainings: those that would fail again are recorded, the others end the program."""

import errno
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.lasting_errors import MachineError, TrainingFailedError, is_lasting, lasting_errors
from pubmill.finetuning.run import finetune_or_fail, write_outcome
from pubmill.metrics import SCORERS
from pubmill.metrics.records import score_run
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.storage.files import read_json, read_jsonl_gz
from tests.unit.tiny_encoders import tiny_bert
from tests.unit.toy_tasks import TOKENS

LASTING = [
    PubmillError("the weights of 3 parameters are missing"),
    ValueError("Expected input batch_size (4) to match target batch_size (8)"),
    RuntimeError("The size of tensor a (512) must match the size of tensor b (128)"),
    IndexError("index out of range in self"),
    RuntimeError("CUDA error: device-side assert triggered"),
    OSError("does not appear to have a file named config.json"),
]
PASSING = [
    MemoryError(), torch.OutOfMemoryError("CUDA out of memory"),
    RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    RuntimeError("CUDA error: uncorrectable ECC error encountered"),
    RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR"), OSError(errno.EIO, "Input/output error"),
    RuntimeError("could not create a primitive"), RuntimeError("std::bad_alloc"),
    PubmillError("the folder can't be loaded (SafetensorError: Input/output error (os error 5))"),
    MachineError("the GPU has too little memory for 1 inputs"), RuntimeError("what nobody has seen yet"),
    ModuleNotFoundError("No module named 'sentencepiece'"), StopRequestedError(),
]  # fmt: skip


@pytest.mark.parametrize("error", [*LASTING, *PASSING], ids=str)
def test_what_a_model_or_recipe_causes_comes_again_and_what_a_machine_causes_may_not(
    error: Exception,
) -> None:
    lasting = error in LASTING
    assert is_lasting(error) == lasting
    with pytest.raises(TrainingFailedError if lasting else type(error)), lasting_errors(public=True):
        raise error


def test_what_a_fault_of_the_machine_led_to_may_not_come_again() -> None:
    with pytest.raises(PubmillError, match="cannot be read"), lasting_errors(public=True):
        try:
            raise OSError(errno.EIO, "Input/output error")
        except OSError:
            raise PubmillError("the model cannot be read") from None


def test_messages_of_libraries_on_licensed_data_are_withheld() -> None:
    with pytest.raises(TrainingFailedError, match=r"^KeyError: test_lasting_errors\.py:\d+$"):
        with lasting_errors(public=False):
            raise KeyError("The patient Jane")


@pytest.mark.parametrize("keeps", [False, True])
def test_a_training_on_a_bad_model_is_a_result_with_a_reason(
    tokens: Path, tmp_path: Path, keeps: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of the model's weights is missing."""
    bad = tiny_bert(tmp_path / "my-bert", ["ba", "co"])
    weights = load_file(bad / "model.safetensors")
    weights.pop(next(name for name in weights if "attention" in name))
    save_file(weights, bad / "model.safetensors", {"format": "pt"})
    job = FinetuningJob(TOKENS, bad, tokens, 1, "test", "dev")
    outcome = finetune_or_fail(job)
    reason = outcome.report["failed"]
    assert reason and reason.startswith("my-bert: 1 tensors of the encoder are not as config.json")
    assert "would fail again: my-bert: 1 tensors" in capsys.readouterr().err
    output, kept = tmp_path / "seed-1.predictions.jsonl.gz", tmp_path / "kept"
    write_outcome(outcome, job, output, kept if keeps else None)
    assert all(line["labels"] is None for line in read_jsonl_gz(output))
    recipe = ScoringRecipe(
        model="my-bert", dataset="tokens", protocol="blurb", setting="standard", scale="demo", seed=1,
        split="test", kind="tokens", metric="entity_f1", versions={},
    )  # fmt: skip
    training = tmp_path / "seed-1.training.json"
    record, items = score_run(recipe, SCORERS["tokens"], output, tokens / "test.jsonl.gz", training)
    assert (record.failed, record.metrics, items.contributions) == (reason, None, None)
    if keeps:
        assert finetune_or_fail(replace(job, model=kept)).report["failed"] == reason
        assert read_json(kept / "training.json")["failed"] == reason


def test_a_missing_dataset_ends_the_program(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="does not exist"):
        finetune_or_fail(FinetuningJob(TOKENS, tiny, tmp_path, 1, "test", "dev"))
