"""Kept task models: what was written and read again predicts the same; transformers' own classes agree."""

import json
import random
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForQuestionAnswering,
    AutoModelForTokenClassification,
    AutoTokenizer,
    BertConfig,
    BertModel,
    BertTokenizerFast,
    ElectraConfig,
    ElectraModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
    pipeline,
)

from pubmill.errors import PubmillError
from pubmill.examples import (
    Answer,
    Entity,
    Example,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    SpanExample,
    TokensExample,
    write_examples,
)
from pubmill.files import read_json, read_jsonl_gz, write_json
from pubmill.finetuning.inputs import collate
from pubmill.finetuning.keeping import base_model, keep, keep_account, load_task_model
from pubmill.finetuning.predicting import Predictor
from pubmill.finetuning.run import Run, finetune, predict_kept
from pubmill.finetuning.splits import encode_split, folder_sha256, read_split
from pubmill.recipes import Dummies, FinetuningRecipe
from pubmill.tagging import to_mentions

ROOT = Path(__file__).resolve().parents[2]
CPU = torch.device("cpu")
SYLLABLES = ["ba", "co", "di", "fu", "ge", "lo", "mi", "nu"]
SHAPE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
TOKENS = FinetuningRecipe(
    task="tokens",
    metric="entity_f1",
    learning_rate=3e-3,
    batch_size=8,
    epochs=2,
    precision="float32",
    max_length=24,
)
DUMMIES = Dummies(types={"drug": "@DRUG$", "gene": "@GENE$"}, overlap="@{}-{}$")


def of_kind(task: str, metric: str, **further: Any) -> FinetuningRecipe:
    return replace(TOKENS, task=task, metric=metric, max_length=48, **further)


RELATION = of_kind("sequence", "micro_f1", negative="no", dummies=DUMMIES)
SPAN = of_kind("span", "f1", stride=4, n_best=3)
OURS: dict[str, FinetuningRecipe] = {
    "crf": replace(TOKENS, crf=True),
    "bilstm": replace(TOKENS, head="bilstm", head_sizes=[16], crf=True, tagging="bioul"),
    "mlp": replace(TOKENS, head="mlp", head_sizes=[16], labelled_subwords="all"),
    "sequence": RELATION,
    "markers": replace(RELATION, entities="markers", pooling="entity-start"),
    "mentions": replace(RELATION, pooling="mention-max"),
    "bilstm of relations": replace(RELATION, head="bilstm", head_sizes=[16]),
    "multilabel": of_kind("multilabel", "micro_f1"),
    "regression": of_kind("regression", "pearson", segments="single"),
}
"""Recipes whose head transformers does not have."""
STANDARD: dict[str, FinetuningRecipe] = {
    "tokens": TOKENS,
    "io": replace(TOKENS, tagging="io"),
    "fewer layers": replace(TOKENS, removed_layers=1, frozen_layers=0),
    "bfloat16": replace(TOKENS, precision="bfloat16"),
    "weighted": replace(TOKENS, loss="weighted"),
    "span": SPAN,
    "train and dev": replace(TOKENS, train_on="train+dev"),
}


def text(generator: random.Random, words: int) -> str:
    return " ".join(
        "".join(generator.choice(SYLLABLES) for _ in range(generator.randrange(1, 3))) for _ in range(words)
    )


def example(kind: str, number: int, generator: random.Random) -> Example:
    words = text(generator, generator.randrange(8, 16)).split()
    whole, common = " ".join(words), {"id": f"e{number}", "document": None}
    if kind == "tokens":
        labels = ["B-Thing" if word.startswith("ba") else "O" for word in words]
        return TokensExample(words=words, labels=labels, **common)
    if kind == "sequence":
        spans = [(0, len(words[0])), (len(whole) - len(words[-1]), len(whole))]
        pair = [Entity(start=a, end=b, type=of) for (a, b), of in zip(spans, ("drug", "gene"), strict=True)]
        return SequenceExample(text=whole, label="yes" if "mi" in words[0] else "no", entities=pair, **common)
    if kind == "multilabel":
        return MultilabelExample(text=whole, labels=[s for s in SYLLABLES[:3] if s in words], **common)
    if kind == "regression":
        return RegressionExample(text=whole, text_pair=text(generator, 5), score=float(len(words)), **common)
    start = len(words[0]) + 1
    answers = [Answer(text=words[1], start=start)] if number % 3 else []
    return SpanExample(question=text(generator, 3), context=whole, answers=answers, **common)


def write_dataset(folder: Path, kind: str) -> Path:
    generator = random.Random(kind)
    for split, number in (("train", 48), ("dev", 12), ("test", 20)):
        examples = [example(kind, place, generator) for place in range(number)]
        write_examples(folder / f"{split}.jsonl.gz", examples)
    return folder


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    kinds = ("tokens", "sequence", "multilabel", "regression", "span")
    return {kind: write_dataset(tmp_path_factory.mktemp("data") / kind, kind) for kind in kinds}


def write_bert(folder: Path, encoder: type = BertModel, config: type = BertConfig) -> Path:
    folder.mkdir()
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *SYLLABLES,
        *(f"##{piece}" for piece in SYLLABLES),
    ]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    BertTokenizerFast.from_pretrained(folder, do_lower_case=True).save_pretrained(folder)
    torch.manual_seed(0)
    made = config(vocab_size=len(pieces), max_position_embeddings=64, initializer_range=0.1, **SHAPE)
    encoder(made).save_pretrained(folder)
    return folder


def write_electra(folder: Path) -> Path:
    return write_bert(folder, ElectraModel, ElectraConfig)


def write_roberta(folder: Path) -> Path:
    """A byte-level tokenizer without merges; the blank before a word belongs to the word."""
    folder.mkdir()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(
        models.BPE({piece: place for place, piece in enumerate(pieces)}, [], unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>",
        pad_token="<pad>", unk_token="<unk>", mask_token="<mask>",
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(pieces), max_position_embeddings=130, type_vocab_size=1, pad_token_id=1, **SHAPE
    )
    RobertaModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("models") / "tiny")


def kept(folder: Path, recipe: FinetuningRecipe, model: Path, dataset: Path) -> Run:
    run = finetune(recipe, model, dataset, 1, "test")
    keep(folder, run.task, run.model, run.account, dataset)
    return run


def predicted_again(folder: Path, dataset: Path) -> list[Any]:
    predictor = load_task_model(folder, CPU)
    return predictor.predict(encode_split(predictor.task, read_split(dataset, "test", predictor.task.kind)))


@pytest.mark.parametrize("name", [*OURS, *STANDARD])
def test_a_kept_model_predicts_as_it_did_and_transformers_loads_it(
    name: str, model: Path, datasets: dict[str, Path], tmp_path: Path
) -> None:
    recipe = {**OURS, **STANDARD}[name]
    dataset = datasets[recipe.task]
    run = kept(tmp_path / "kept", recipe, model, dataset)
    assert predicted_again(tmp_path / "kept", dataset) == [row[run.task.key] for row in run.predictions]
    instances = run.task.encode(read_split(dataset, "test", run.task.kind)).instances
    batch, again = collate(instances, run.task.reader.pad, CPU), load_task_model(tmp_path / "kept", CPU)
    assert again.task.encode(read_split(dataset, "test", run.task.kind)).instances == instances
    with torch.inference_mode():
        assert torch.equal(run.model.eval()(batch), again.model.eval()(batch))
    kind = AutoModelForQuestionAnswering if recipe.task == "span" else AutoModelForTokenClassification
    kind = kind if name in STANDARD else AutoModel
    _, loading = kind.from_pretrained(tmp_path / "kept", output_loading_info=True)
    missing = {key for key in loading["missing_keys"] if "pooler" not in key}
    assert not missing and not loading["unexpected_keys"] and not loading["mismatched_keys"]
    assert AutoConfig.from_pretrained(tmp_path / "kept").num_hidden_layers == 2 - recipe.removed_layers
    names = {path.name for path in (tmp_path / "kept").iterdir()}
    assert {"model.safetensors", "head.safetensors", "pubmill.json", "training.json", "README.md"} <= names
    assert not {path.suffix for path in (tmp_path / "kept").iterdir()} & {".bin", ".pt", ".pkl"}


@pytest.mark.parametrize("write", [write_bert, write_electra, write_roberta])
@pytest.mark.parametrize("tagging", ["bio", "io"])
def test_the_pipeline_of_transformers_gives_our_labels(
    write: Any, tagging: Any, datasets: dict[str, Path], tmp_path: Path
) -> None:
    """On words joined by blanks, at the first subword of each."""
    recipe = replace(TOKENS, tagging=tagging, max_length=100, epochs=1)
    run = finetune(recipe, write(tmp_path / "base"), datasets["tokens"], 1, "test")
    examples = read_split(datasets["tokens"], "test", TokensExample)
    split = encode_split(run.task, examples)
    bias = run.model.head.get_submodule("linear").get_parameter("bias")
    with torch.no_grad():  # instead of long training: labels that differ from word to word
        batch = collate(split.encoded.instances, run.task.reader.pad, CPU)
        bias -= run.model.eval()(batch).mean(0)
    keep(tmp_path / "kept", run.task, run.model, run.account, datasets["tokens"])
    predictions = Predictor(recipe, run.task, run.model).predict(split)
    tagger = pipeline("token-classification", model=str(tmp_path / "kept"), ignore_labels=[], device="cpu")
    seen = set()
    for expected, one in zip(predictions, examples, strict=True):
        first: dict[int, str] = {}
        for piece in tagger(" ".join(one.words)):
            first.setdefault(" ".join(one.words)[: piece["end"]].count(" "), piece["entity"])
        labels = [first[place] for place in range(len(one.words))]
        assert to_mentions(labels) == to_mentions(expected)
        seen |= set(labels)
    assert len(seen) > 1


def test_the_tokenizer_cuts_where_training_did(
    model: Path, datasets: dict[str, Path], tmp_path: Path
) -> None:
    kept(tmp_path / "kept", TOKENS, model, datasets["tokens"])
    assert AutoTokenizer.from_pretrained(tmp_path / "kept").model_max_length == TOKENS.max_length


def test_a_class_of_transformers_with_other_scores_is_not_used(
    model: Path, datasets: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Had its class a layer that does otherwise, the folder would say that the head is ours."""
    from transformers import BertForTokenClassification

    def other(self: Any, *arguments: Any, **named: Any) -> Any:
        found = forward(self, *arguments, **named)
        found.logits = found.logits * 2
        return found

    forward = BertForTokenClassification.forward
    monkeypatch.setattr(BertForTokenClassification, "forward", other)
    run = kept(tmp_path / "kept", TOKENS, model, datasets["tokens"])
    assert json.loads((tmp_path / "kept/config.json").read_text())["architectures"] == ["BertModel"]
    assert predicted_again(tmp_path / "kept", datasets["tokens"]) == [
        row["labels"] for row in run.predictions
    ]


def test_nothing_of_the_dataset_stands_in_the_folder(
    model: Path, datasets: dict[str, Path], tmp_path: Path
) -> None:
    kept(tmp_path / "kept", RELATION, model, datasets["sequence"])
    facts = json.loads((tmp_path / "kept/pubmill.json").read_text())
    assert facts["argument_types"] == [["drug", "gene"]] and facts["labels"] == ["no", "yes"]
    texts = [one.text for one in read_split(datasets["sequence"], "train", SequenceExample)]
    for path in (tmp_path / "kept").iterdir():
        assert not any(text.encode() in path.read_bytes() for text in texts), path


def test_the_card_tells_what_it_was_made_of(model: Path, datasets: dict[str, Path], tmp_path: Path) -> None:
    data = shutil.copytree(datasets["tokens"], tmp_path / "i2b2-9999")
    run = kept(tmp_path / "unknown", TOKENS, model, data)
    write_json(data / "card.json", {"dataset": "i2b2-9999", "access": "credentialed"})
    keep(tmp_path / "kept", run.task, run.model, run.account, data)
    card = (tmp_path / "kept/README.md").read_text()
    top = dict(line.split(": ", 1) for line in card.split("---")[1].strip().splitlines())
    assert json.loads(top["base_model"]) == "tiny" and json.loads(top["datasets"]) == ["i2b2-9999"]
    [result] = json.loads(top["model-index"])[0]["results"]
    assert result["metrics"][0]["value"] == run.account["dev"]["best"]
    assert "credentialed data" in card and "seed 1" in card
    assert "isn't known" in (tmp_path / "unknown/README.md").read_text()


def test_a_kept_run_predicts_another_split_without_training(
    model: Path, datasets: dict[str, Path], tmp_path: Path
) -> None:
    dataset = datasets["regression"]
    run = kept(tmp_path / "kept", OURS["regression"], model, dataset)
    same = predict_kept(tmp_path / "kept", OURS["regression"], model, dataset, 1, "test")
    assert same.predictions == run.predictions and same.account == run.account
    dev = predict_kept(tmp_path / "kept", OURS["regression"], model, dataset, 1, "dev")
    assert dev.predictions == finetune(OURS["regression"], model, dataset, 1, "dev").predictions
    assert dev.account["split"] == "dev" and dev.account["steps"] == run.account["steps"]


def test_a_model_of_another_run_is_refused(model: Path, datasets: dict[str, Path], tmp_path: Path) -> None:
    kept(tmp_path / "kept", TOKENS, model, datasets["tokens"])
    data = shutil.copytree(datasets["tokens"], tmp_path / "data")
    shutil.copy(data / "dev.jsonl.gz", data / "train.jsonl.gz")
    other = write_electra(tmp_path / "electra")
    for asked, differs in (
        ((replace(TOKENS, epochs=9), model, datasets["tokens"], 1), "recipe"),
        ((TOKENS, model, datasets["tokens"], 2), "seed"),
        ((TOKENS, other, datasets["tokens"], 1), "model"),
        ((TOKENS, model, data, 1), "dataset"),
    ):
        with pytest.raises(PubmillError, match=rf"another run: its {differs} differ"):
            predict_kept(tmp_path / "kept", *asked, "test")
    with pytest.raises(PubmillError, match=r"another run: its dev split differ"):
        predict_kept(tmp_path / "kept", TOKENS, model, datasets["tokens"], 1, "test", "test")
    with pytest.raises(PubmillError, match=r"no training.json.*--keep"):
        predict_kept(model, TOKENS, model, datasets["tokens"], 1, "test")


@pytest.mark.filterwarnings("ignore")
def test_a_run_that_diverged_keeps_its_account_alone(
    model: Path, datasets: dict[str, Path], tmp_path: Path
) -> None:
    recipe, folder = replace(TOKENS, learning_rate=1e30), tmp_path / "kept"
    run = kept(folder, recipe, model, datasets["tokens"])
    assert [path.name for path in folder.iterdir()] == ["training.json"]
    same = predict_kept(folder, recipe, model, datasets["tokens"], 1, "test")
    assert same.predictions == run.predictions and same.account["failed"] == "nan"
    with pytest.raises(PubmillError, match="no task model"):
        load_task_model(folder, CPU)


def test_the_same_weights_have_the_same_hash(model: Path, datasets: dict[str, Path], tmp_path: Path) -> None:
    """Though another run of it takes other seconds; a tokenizer of SentencePiece is hashed too."""
    run = kept(tmp_path / "first", TOKENS, model, datasets["tokens"])
    later = {**run.account, "seconds": 12345.0}
    keep(tmp_path / "second", run.task, run.model, later, datasets["tokens"])
    first, second = folder_sha256(tmp_path / "first"), folder_sha256(tmp_path / "second")
    assert first == second and first is not None
    (tmp_path / "second/spiece.model").write_bytes(b"pieces")
    assert folder_sha256(tmp_path / "second") != first


@pytest.mark.parametrize("key", ["recipe", "seed", "dev_split", "model", "model_sha256", "failed"])
def test_an_account_that_lacks_something_is_named(
    key: str, model: Path, datasets: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    account = {
        "recipe": {}, "seed": 1, "dev_split": "dev", "model": "tiny", "model_sha256": "", "failed": None,
        "data_sha256": {},
    }  # fmt: skip
    keep_account(folder, {name: value for name, value in account.items() if name != key})
    with pytest.raises(PubmillError, match=rf"training\.json has no {key}, so"):
        predict_kept(folder, TOKENS, model, datasets["tokens"], 1, "test")
    if key in ("model", "failed"):
        with pytest.raises(PubmillError, match=rf"training\.json has no {key}, so"):
            base_model(folder)
    keep_account(folder, {**account, "data_sha256": ["train"]})
    with pytest.raises(PubmillError, match="an object as data_sha256"):
        predict_kept(folder, TOKENS, model, datasets["tokens"], 1, "test")
    keep_account(folder, {**account, "data_sha256": {"other": ""}})
    with pytest.raises(PubmillError, match=r"another run: its recipe.*dataset"):
        predict_kept(folder, TOKENS, model, datasets["tokens"], 1, "test")


def test_damaged_folders_are_refused(model: Path, datasets: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    kept(folder, TOKENS, model, datasets["tokens"])
    facts = json.loads((folder / "pubmill.json").read_text())
    for wrong, message in (
        ({**facts, "format": 99}, "format is not 1"),
        ({**facts, "labels": "O"}, "list of labels"),
        ({**facts, "argument_types": [["a"]]}, "pairs of types"),
        ({**facts, "recipe": {**facts["recipe"], "crf": 3}}, "crf must be"),
    ):
        write_json(folder / "pubmill.json", wrong)
        with pytest.raises(PubmillError, match=message):
            load_task_model(folder, CPU)
    write_json(folder / "pubmill.json", {**facts, "recipe": {**facts["recipe"], "crf": True}})
    with pytest.raises(PubmillError, match=r"head\.safetensors"):
        load_task_model(folder, CPU)
    write_json(folder / "pubmill.json", facts)
    (folder / "head.safetensors").write_bytes(b"\x80\x04pickle")
    with pytest.raises(PubmillError, match=r"head\.safetensors"):
        load_task_model(folder, CPU)


def test_what_does_not_load_as_it_was_is_not_kept(
    model: Path, datasets: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An encoder whose weights are written otherwise leaves no folder."""
    run = finetune(TOKENS, model, datasets["tokens"], 1, "test")
    original = BertModel.from_pretrained

    def other(folder: Path, *arguments: Any, **named: Any) -> Any:
        weights = load_file(folder / "model.safetensors")
        save_file(
            {name: value * 1.01 for name, value in weights.items()},
            folder / "model.safetensors",
            {"format": "pt"},
        )
        return original(folder, *arguments, **named)

    monkeypatch.setattr("pubmill.finetuning.encoders.AutoModel.from_pretrained", other)
    with pytest.raises(PubmillError, match="can't be kept"):
        keep(tmp_path / "kept", run.task, run.model, run.account, datasets["tokens"])
    assert not list(tmp_path.iterdir())


def test_the_program_keeps_and_predicts_again(model: Path, datasets: dict[str, Path], tmp_path: Path) -> None:
    run = kept(tmp_path / "kept", TOKENS, model, datasets["tokens"])
    command = [sys.executable, str(ROOT / "scripts/finetune.py"), "--recipe", json.dumps(asdict(TOKENS))]
    command += ["--model", str(model), "--dataset", str(datasets["tokens"]), "--seed", "1", "--split", "test"]
    for option, output in (("--keep", "first"), ("--kept", "second")):
        asked = [
            "--output",
            str(tmp_path / f"{output}.predictions.jsonl.gz"),
            option,
            str(tmp_path / "again"),
        ]
        subprocess.run([*command, *asked], check=True, capture_output=True)
        assert list(read_jsonl_gz(tmp_path / f"{output}.predictions.jsonl.gz")) == run.predictions
    first, second = (read_json(tmp_path / f"{name}.training.json") for name in ("first", "second"))
    assert first == second == read_json(tmp_path / "again/training.json")
    for path in (tmp_path / "kept").iterdir():
        if path.name not in ("README.md", "training.json"):  # they have the folder's name, and the time
            assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
