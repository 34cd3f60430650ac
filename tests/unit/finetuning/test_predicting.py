"""The device, the length and the precision that a model computes with, and outputs put back in order."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pubmill.errors import PubmillError
from pubmill.examples.kinds import MultilabelExample, TokensExample, write_examples
from pubmill.finetuning import encoders, predicting
from pubmill.finetuning.encoders import load_encoder, load_encoder_tokenizer, read_encoder
from pubmill.finetuning.finetuning_job import FinetuningJob, read_split
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import collate
from pubmill.finetuning.predicting import Execution, Predictor, choose_device, make_reader
from pubmill.finetuning.recorded_steps import cuda_recorder
from pubmill.finetuning.run import finetune
from pubmill.finetuning.tasks import TASKS
from pubmill.finetuning.tasks.relations import written_tokens
from pubmill.finetuning.tasks.tokens import Tokens
from tests.gpu.finetuning_cases import RECIPES
from tests.gpu.pretended_graphs import Graphs
from tests.unit.finetuning.encoder_families import save_encoder
from tests.unit.tiny_encoders import POSITIONS
from tests.unit.toy_tasks import OURS, TOKENS
from tests.unit.toy_tasks import text as toy_text

CPU = torch.device("cpu")


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


@pytest.mark.parametrize(("wanted", "length"), [(None, POSITIONS), (20, 20), (POSITIONS + 1, POSITIONS)])
def test_an_input_is_as_long_as_recipe_and_encoder_allow(tiny: Path, wanted: int | None, length: int) -> None:
    encoder, tokenizer = load_encoder(tiny, 0.0, CPU), load_encoder_tokenizer(tiny)
    reader = make_reader(replace(TOKENS, max_length=wanted), tokenizer, encoder)
    assert reader.max_length == length and not reader.causal
    assert reader.framed([7], [8])[1] == [0, 0, 0, 1, 1]


def test_an_encoder_that_reads_padding_has_one_width(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which may be shorter than the recipe's length."""
    encoder, tokenizer = load_encoder(tiny, 0.0, CPU), load_encoder_tokenizer(tiny)
    monkeypatch.setattr(encoders, "fixed_width", lambda encoder, longest: 12)
    assert make_reader(replace(TOKENS, max_length=20), tokenizer, encoder).max_length == 12
    assert make_reader(replace(TOKENS, max_length=10), tokenizer, encoder).max_length == 10
    assert width(tiny, 1, 5) == 12


def width(model: Path, multiple: int, longest: int) -> int:
    """The width of a batch whose longest input has so many tokens."""
    encoder, seen = load_encoder(model, 0.0, CPU), list[int]()
    reader = make_reader(replace(TOKENS, max_length=None), load_encoder_tokenizer(model), encoder)
    task = Tokens(TOKENS, reader, ["O", "B"])
    made = Predictor(TOKENS, task, TaskModel(encoder, task.head(32)))
    made.execution = Execution(width=multiple)
    encoder.get_input_embeddings().register_forward_hook(lambda *given: seen.append(given[-1].shape[1]))
    words = ["ba"] * (longest - 2)
    made.predict(
        task.encode_split([TokensExample(id="1", document=None, words=words, labels=["O"] * len(words))])
    )
    return seen[0]


@pytest.mark.parametrize(
    ("multiple", "longest", "expected"),
    [(1, 17, 17), (8, 16, 16), (8, 17, 24), (48, POSITIONS - 1, POSITIONS)],
)
def test_batches_are_padded_to_a_multiple_within_the_positions(
    tiny: Path, multiple: int, longest: int, expected: int
) -> None:
    assert width(tiny, multiple, longest) == expected


@pytest.mark.parametrize(("device", "attention"), [("cpu", "blocks"), ("cuda", "sdpa")])
def test_attention_is_in_blocks_on_a_processor_alone(tiny: Path, device: str, attention: str) -> None:
    """An encoder for a GPU is still on the processor after it has been read."""
    encoder, pooler = read_encoder(tiny, 0.1, torch.device(device))
    assert encoder.config._attn_implementation == attention and encoder.device == CPU
    assert pooler is not None


@pytest.mark.parametrize("case", RECIPES)
def test_an_input_in_a_batch_has_the_scores_and_outputs_that_it_has_alone(case: str, cases: Path) -> None:
    recipe, task = RECIPES[case], RECIPES[case].task
    model, kind = cases / "bert", TASKS[task]
    examples, encoder = read_split(cases / task, "train", kind.kind), load_encoder(model, 0.0, CPU)
    reader = make_reader(recipe, load_encoder_tokenizer(model, recipe.spaced_words), encoder)
    made = kind(recipe, reader, kind.labels_of(recipe, examples))
    if recipe.entities == "markers":
        encoders.add_tokens(made.reader.tokenizer, encoder, written_tokens(recipe))
    torch.manual_seed(1)
    network = TaskModel(encoder, made.head(32)).eval()
    for name, weight in network.named_parameters():
        if "chain" in name:  # zero until it has learnt
            torch.nn.init.normal_(weight)
    instances = made.encode(examples).instances
    assert len({len(instance.ids) for instance in instances}) > 2
    batch = collate(instances, reader.pad, CPU)
    with torch.inference_mode():
        together = network(batch)
        outputs = torch.split(made.output(network, together, batch), made.sizes(batch))
        rows = []
        for instance, output in zip(instances, outputs, strict=True):
            alone = collate([instance], reader.pad, CPU)
            rows.append(network(alone))
            torch.testing.assert_close(made.output(network, rows[-1], alone), output, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(together, torch.cat(rows), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("cause", "raised", "message"),
    [
        (RuntimeError("operation not permitted"), RuntimeError, "previous error"),
        (torch.OutOfMemoryError("CUDA out of memory"), torch.OutOfMemoryError, "^CUDA out of memory$"),
    ],
)
def test_the_cause_is_raised_if_it_is_too_little_memory(
    monkeypatch: pytest.MonkeyPatch, cause: Exception, raised: type[Exception], message: str
) -> None:
    """Stream, random numbers and memory are then as before, so that other work can be recorded."""
    graphs = Graphs()
    for name, value in graphs.functions().items():
        monkeypatch.setattr(torch.cuda, name, value)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    record = cuda_recorder()

    def failing() -> None:
        raise cause

    for _ in range(2):
        with pytest.raises(raised, match=message):
            record(failing)
        assert graphs.stream == "usual" and not graphs.generator.state["recording"]
    assert len(graphs.invalidated) == len(set(map(id, graphs.invalidated))) == 2
    replay, made = record(lambda: 3)
    assert made == 3
    replay()


LONG = replace(OURS["multilabel"], epochs=1, dropout=0.0, max_length=None)
DOCUMENTS = 3
"""In each of three splits."""
LONGEST = {"modernbert": 1_024, "longformer": 1_024, "nomic-bert": 1_024, "gpt2": 1_024, "bert": 512}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents of more than 512 subwords and less than 1,024 for every tokenizer."""
    folder, draw = tmp_path_factory.mktemp("documents"), random.Random(0)
    examples = [
        MultilabelExample(id=f"d{n}", document=None, text=toy_text(draw, 420), labels=["ba", "co"][: n % 3])
        for n in range(DOCUMENTS)
    ]
    for split in ("train", "dev", "test"):
        write_examples(folder / f"{split}.jsonl.gz", examples)
    return folder


@pytest.mark.parametrize(
    ("family", "length"),
    [*((family, None) for family in LONGEST), ("modernbert", 8_192), ("modernbert", 512)],
)
def test_documents_are_cut_only_where_the_model_or_the_recipe_reads_no_more(
    family: str, length: int | None, documents: Path, tmp_path: Path
) -> None:
    model = save_encoder(tmp_path / family, family, LONGEST[family])
    made = finetune(FinetuningJob(replace(LONG, max_length=length), model, documents, 1, "test"))
    reads = min(length or LONGEST[family], LONGEST[family])
    assert made.report["max_length"] == reads and made.report["failed"] is None
    assert made.report["encoded"]["texts_shortened"] == (3 * DOCUMENTS if reads == 512 else 0)


def test_a_length_left_to_a_model_without_one_is_refused(documents: Path, tmp_path: Path) -> None:
    model = save_encoder(tmp_path / "bloom", "bloom")
    with pytest.raises(
        PubmillError, match="null takes the encoder's limit, but bloom has none; set max_length to "
    ):
        finetune(FinetuningJob(LONG, model, documents, 1, "test"))
