"""The device, the length and the precision that a model predicts with, and outputs put back in order."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from pubmill.errors import PubmillError
from pubmill.finetuning import encoders, predicting
from pubmill.finetuning.encoders import (
    UNLIMITED,
    load_encoder,
    load_encoder_and_pooler,
    load_encoder_tokenizer,
)
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.predicting import (
    ON_GPU,
    ON_TENSOR_CORES,
    PLAIN,
    DivergenceError,
    Execution,
    Predictor,
    choose_device,
    choose_execution,
    make_reader,
)
from tests.unit.tiny_encoders import POSITIONS, tiny_bert
from tests.unit.toy_tasks import SYLLABLES, TOKENS

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("models") / "bert", SYLLABLES)


def test_a_gpu_is_configured_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []
    monkeypatch.setattr(predicting, "gpu_is_used", lambda: True)
    monkeypatch.setattr(predicting, "configure_cuda", lambda deterministic: done.append(deterministic))

    def take() -> torch.device:
        done.append("taken")
        return torch.device("cuda", 1)

    monkeypatch.setattr(predicting, "emptiest_gpu", take)
    monkeypatch.setattr(torch.cuda, "set_device", done.append)
    assert choose_device() == torch.device("cuda", 1)
    assert done == [True, "taken", torch.device("cuda", 1)]


@pytest.mark.parametrize(
    ("device", "precision", "execution"),
    [
        ("cpu", "bfloat16", PLAIN),
        ("cpu", "float32", PLAIN),
        ("cuda", "bfloat16", ON_TENSOR_CORES),
        ("cuda", "float16", ON_GPU),
        ("cuda", "float32", ON_GPU),
    ],
)
def test_bfloat16_on_a_gpu_computes_with_a_copy(device: str, precision: str, execution: Execution) -> None:
    chosen = choose_execution(torch.device(device), precision)
    assert chosen is execution
    assert (chosen.weights == "bfloat16") == chosen.graphs == (execution is ON_TENSOR_CORES)


@pytest.mark.parametrize("weights", ["float32", "bfloat16"])
def test_a_copy_is_made_where_the_device_computes_in_bfloat16(
    bert: Path, monkeypatch: pytest.MonkeyPatch, weights: Any
) -> None:
    monkeypatch.setattr(predicting, "choose_execution", lambda device, precision: Execution(weights=weights))
    model = TaskModel(load_encoder(bert, 0.0, CPU), torch.nn.Identity())
    task = SimpleNamespace(reader=SimpleNamespace(max_length=20))
    made = Predictor(TOKENS, task, model)  # type: ignore[arg-type]
    assert (made.working is model) == (weights == "float32")
    assert made.working.encoder.dtype == getattr(torch, weights)
    assert made.model is model and made.model.encoder.dtype == torch.float32
    assert made.working.head is model.head


@pytest.mark.parametrize(("wanted", "length"), [(None, POSITIONS), (20, 20), (POSITIONS + 1, POSITIONS)])
def test_an_input_is_as_long_as_recipe_and_encoder_allow(bert: Path, wanted: int | None, length: int) -> None:
    encoder, tokenizer = load_encoder(bert, 0.0, CPU), load_encoder_tokenizer(bert)
    reader = make_reader(replace(TOKENS, max_length=wanted), tokenizer, encoder)
    assert reader.max_length == length and not reader.causal
    assert reader.framed([7], [8])[1] == [0, 0, 0, 1, 1]


def test_an_encoder_without_a_limit_needs_one_in_the_recipe(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, tokenizer = load_encoder(bert, 0.0, CPU), load_encoder_tokenizer(bert)
    monkeypatch.setattr(encoders, "longest_input", lambda encoder: UNLIMITED)
    assert make_reader(replace(TOKENS, max_length=1000), tokenizer, encoder).max_length == 1000
    with pytest.raises(PubmillError) as caught:
        make_reader(replace(TOKENS, max_length=None), tokenizer, encoder)
    assert str(caught.value) == (
        "max_length: null takes the encoder's limit, but bert has none; "
        "set max_length to a number of subwords"
    )


def test_an_encoder_that_reads_padding_has_one_width(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The width may be shorter than the recipe's length, and every batch has it."""
    encoder, tokenizer = load_encoder(bert, 0.0, CPU), load_encoder_tokenizer(bert)
    monkeypatch.setattr(encoders, "fixed_width", lambda encoder, longest: 12)
    assert make_reader(replace(TOKENS, max_length=20), tokenizer, encoder).max_length == 12
    assert make_reader(replace(TOKENS, max_length=10), tokenizer, encoder).max_length == 10
    task = SimpleNamespace(reader=SimpleNamespace(max_length=20))
    made = Predictor(TOKENS, task, TaskModel(encoder, torch.nn.Identity()))  # type: ignore[arg-type]
    assert made._width(5) == 12


@pytest.mark.parametrize(
    ("multiple", "longest", "width"),
    [
        (1, 17, 17),
        (8, 16, 16),
        (8, 17, 24),
        (48, POSITIONS - 1, POSITIONS),
        (48, POSITIONS + 1, POSITIONS + 1),
    ],
)
def test_batches_are_padded_to_a_multiple_within_the_positions(
    bert: Path, multiple: int, longest: int, width: int
) -> None:
    task = SimpleNamespace(reader=SimpleNamespace(max_length=POSITIONS))
    model = TaskModel(load_encoder(bert, 0.0, CPU), torch.nn.Identity())
    made = Predictor(TOKENS, task, model)  # type: ignore[arg-type]
    made.execution = Execution(width=multiple)
    assert made._width(longest) == width


def test_outputs_are_read_together_and_put_back_in_order() -> None:
    finite, outputs = (
        torch.ones((), dtype=torch.bool),
        [torch.tensor([[1, 2]]), torch.tensor([[3, 4], [5, 6]])],
    )
    read = predicting._read(outputs, finite)
    assert read.tolist() == [[1, 2], [3, 4], [5, 6]]
    found = predicting._by_instance(read, [1, 2], [1, 0])
    assert [rows.tolist() for rows in found] == [[[3, 4], [5, 6]], [[1, 2]]]
    with pytest.raises(DivergenceError):
        predicting._read(outputs, ~finite)


def test_without_batches_there_is_nothing_to_read() -> None:
    assert predicting._read([], torch.ones((), dtype=torch.bool)).shape == (0,)


@pytest.mark.parametrize(("device", "attention"), [("cpu", "blocks"), ("cuda", "sdpa")])
def test_attention_is_in_blocks_on_a_processor_alone(bert: Path, device: str, attention: str) -> None:
    """An encoder for a GPU is still on the processor after it has been read."""
    encoder, pooler = load_encoder_and_pooler(bert, 0.1, torch.device(device))
    assert encoder.config._attn_implementation == attention and encoder.device == CPU
    assert pooler is not None
