"""Kept task models: what was written and read again predicts the same; transformers' own classes agree. And
their cards: metadata for the hub, access to the data, and what the model was made with."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
import yaml
from safetensors.torch import load_file, save_file

from pubmill.errors import PubmillError
from pubmill.examples.kind_facts import FACTS
from pubmill.examples.kinds import SequenceExample, TokensExample
from pubmill.examples.tagging import to_mentions
from pubmill.finetuning import task_models
from pubmill.finetuning.finetuning_job import FinetuningJob, read_split
from pubmill.finetuning.inputs import collate
from pubmill.finetuning.predicting import Predictor
from pubmill.finetuning.run import Run, finetune
from pubmill.finetuning.task_models import keep, keep_report, load_task_model, previous_run
from pubmill.recipes import FinetuningRecipe
from pubmill.storage.checksums import folder_sha256
from pubmill.storage.files import read_json, write_json
from tests.unit.tiny_encoders import tiny_bert, tiny_roberta
from tests.unit.toy_tasks import OURS, SPAN, SYLLABLES, TOKENS

CPU = torch.device("cpu")
STANDARD: dict[str, FinetuningRecipe] = {
    "tokens": TOKENS, "io": replace(TOKENS, tagging="io"),
    "fewer layers": replace(TOKENS, removed_layers=1, frozen_layers=0),
    "bfloat16": replace(TOKENS, precision="bfloat16"), "span": SPAN,
    "train and dev": replace(TOKENS, train_on="train+dev"),
}  # fmt: skip


def trained(recipe: FinetuningRecipe, model: Path, dataset: Path) -> Run:
    run = finetune(FinetuningJob(recipe, model, dataset, 1, "test"))
    assert isinstance(run, Run)
    return run


def kept(folder: Path, recipe: FinetuningRecipe, model: Path, dataset: Path) -> Run:
    run = trained(recipe, model, dataset)
    keep(folder, run.task, run.model, run.report, dataset)
    return run


@pytest.fixture(scope="module")
def run_of(tiny: Path, toy_data: dict[str, Path]) -> Callable[[str], Run]:

    @cache
    def run_of(name: str) -> Run:
        recipe = replace({**OURS, **STANDARD}[name], epochs=1)
        return trained(recipe, tiny, toy_data[recipe.task])

    return run_of


@pytest.fixture
def tagger(run_of: Callable[[str], Run], tokens: Path, tmp_path: Path) -> Run:
    run = run_of("tokens")
    keep(tmp_path / "kept", run.task, run.model, run.report, tokens)
    return run


def predicted_again(folder: Path, dataset: Path) -> list[Any]:
    predictor = load_task_model(folder, CPU)
    return predictor.predict(predictor.task.encode_split(read_split(dataset, "test", predictor.task.kind)))


@pytest.mark.parametrize("name", [*OURS, *STANDARD])
def test_a_kept_model_predicts_as_it_did_and_transformers_loads_it(
    name: str, run_of: Callable[[str], Run], toy_data: dict[str, Path], tmp_path: Path
) -> None:
    run = run_of(name)
    recipe, dataset = run.task.recipe, toy_data[run.task.recipe.task]
    keep(tmp_path / "kept", run.task, run.model, run.report, dataset)
    assert predicted_again(tmp_path / "kept", dataset) == [row[run.task.key] for row in run.predictions]
    instances = run.task.encode(read_split(dataset, "test", run.task.kind)).instances
    batch, again = collate(instances, run.task.reader.pad, CPU), load_task_model(tmp_path / "kept", CPU)
    assert again.task.encode(read_split(dataset, "test", run.task.kind)).instances == instances
    with torch.inference_mode():
        assert torch.equal(run.model.eval()(batch), again.model.eval()(batch))
    kind: Any = (
        transformers.AutoModelForQuestionAnswering
        if recipe.task == "span"
        else transformers.AutoModelForTokenClassification
    )
    kind = kind if name in STANDARD else transformers.AutoModel
    _, loading = kind.from_pretrained(tmp_path / "kept", output_loading_info=True)
    missing = {key for key in loading["missing_keys"] if "pooler" not in key}
    assert not missing and not loading["unexpected_keys"] and not loading["mismatched_keys"]
    assert (
        transformers.AutoConfig.from_pretrained(tmp_path / "kept").num_hidden_layers
        == 2 - recipe.removed_layers
    )
    assert transformers.AutoTokenizer.from_pretrained(tmp_path / "kept").model_max_length == recipe.max_length
    names = {path.name for path in (tmp_path / "kept").iterdir()}
    assert {"model.safetensors", "head.safetensors", "pubmill.json", "training.json", "README.md"} <= names
    assert not {path.suffix for path in (tmp_path / "kept").iterdir()} & {".bin", ".pt", ".pkl"}


@pytest.mark.parametrize("name", ["tokens", "crf", "sequence", "multilabel", "relations", "span"])
def test_confidences_are_the_probabilities_of_the_predictions(
    name: str, run_of: Callable[[str], Run], toy_data: dict[str, Path]
) -> None:
    run = run_of(name)
    recipe = run.task.recipe
    split = run.task.encode_split(read_split(toy_data[recipe.task], "test", run.task.kind))
    predictor = Predictor(recipe, run.task, run.model)
    if name == "span":
        with pytest.raises(PubmillError, match="a model for the task span predicts no probabilities"):
            predictor.predict_with_confidences(split)
        return
    found, labels = predictor.predict_with_confidences(split), len(run.task.labels)
    assert [predicted for predicted, _ in found] == predictor.predict(split)
    for example, (predicted, confidence) in zip(split.examples, found, strict=True):
        if recipe.task == "tokens":
            assert len(confidence) == len(example.words) and all(0 < one <= 1.0001 for one in confidence)
            assert recipe.crf or all(one > 0.9999 / labels for one in confidence)
        elif recipe.task == "multilabel":
            assert sorted(confidence) == run.task.labels
            assert predicted == [label for label, one in confidence.items() if one > 0.5]
        elif recipe.task == "relations":
            assert len(confidence) == len(predicted) and all(0.5 < one <= 1 for one in confidence)
        else:
            assert 0.9999 / labels <= confidence <= 1


@pytest.mark.parametrize(("family", "tagging"), [("electra", "io"), ("roberta", "bio")])
def test_the_pipeline_of_transformers_gives_our_labels(
    family: str, tagging: Any, toy_data: dict[str, Path], tmp_path: Path
) -> None:
    """On words joined by blanks, at the first subword of each."""
    recipe = replace(TOKENS, tagging=tagging, max_length=100, epochs=1)
    if family == "roberta":
        model = tiny_roberta(tmp_path / "base", positions=128)
    else:
        model = tiny_bert(tmp_path / "base", SYLLABLES, transformers.ElectraModel, transformers.ElectraConfig)
    run = trained(recipe, model, toy_data["tokens"])
    examples = read_split(toy_data["tokens"], "test", TokensExample)
    split = run.task.encode_split(examples)
    bias = run.model.head.get_submodule("linear").get_parameter("bias")
    with torch.no_grad():  # instead of long training: labels that differ from word to word
        batch = collate(split.encoded.instances, run.task.reader.pad, CPU)
        bias.sub_(run.model.eval()(batch).mean(0))
    keep(tmp_path / "kept", run.task, run.model, run.report, toy_data["tokens"])
    predictions = Predictor(recipe, run.task, run.model).predict(split)
    tagger: Any = transformers.pipeline(
        "token-classification", model=str(tmp_path / "kept"), ignore_labels=[], device="cpu"
    )
    seen = set()
    for expected, one in zip(predictions, examples, strict=True):
        first: dict[int, str] = {}
        for piece in tagger(" ".join(one.words)):
            first.setdefault(" ".join(one.words)[: piece["end"]].count(" "), piece["entity"])
        labels = [first[place] for place in range(len(one.words))]
        assert to_mentions(labels) == to_mentions(expected)
        seen |= set(labels)
    assert len(seen) > 1


def test_a_class_of_transformers_with_other_scores_is_not_used(
    run_of: Callable[[str], Run], tokens: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Had its class a layer that does otherwise, the folder would say that the head is ours."""

    def other(self: Any, *arguments: Any, **named: Any) -> Any:
        found = forward(self, *arguments, **named)
        found.logits = found.logits * 2
        return found

    forward = transformers.BertForTokenClassification.forward
    monkeypatch.setattr(transformers.BertForTokenClassification, "forward", other)
    run = run_of("tokens")
    keep(tmp_path / "kept", run.task, run.model, run.report, tokens)
    assert json.loads((tmp_path / "kept/config.json").read_text())["architectures"] == ["BertModel"]
    assert predicted_again(tmp_path / "kept", tokens) == [row["labels"] for row in run.predictions]


def test_nothing_of_the_dataset_stands_in_the_folder(
    run_of: Callable[[str], Run], toy_data: dict[str, Path], tmp_path: Path
) -> None:
    run = run_of("sequence")
    keep(tmp_path / "kept", run.task, run.model, run.report, toy_data["sequence"])
    facts = json.loads((tmp_path / "kept/pubmill.json").read_text())
    assert facts["argument_types"] == [["drug", "gene"]] and facts["labels"] == ["no", "yes"]
    texts = [one.text for one in read_split(toy_data["sequence"], "train", SequenceExample)]
    for path in (tmp_path / "kept").iterdir():
        assert not any(text.encode() in path.read_bytes() for text in texts), path


@pytest.mark.filterwarnings("ignore")
def test_a_run_that_diverged_makes_no_label_up_and_keeps_its_account_alone(
    tiny: Path, tokens: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    run = kept(folder, replace(TOKENS, learning_rate=1e30), tiny, tokens)
    assert run.report["failed"] == "nan" and run.report["dev"]["best"] is None
    assert {row["labels"] for row in run.predictions} == {None}
    assert {path.name for path in folder.iterdir()} == {"training.json", "SHA256SUMS"}
    assert read_json(folder / "training.json")["failed"] == "nan"
    for path, fault in (
        (folder, "is no task model: it has no pubmill.json"),
        (tmp_path / "x", "is not a folder"),
    ):
        with pytest.raises(PubmillError, match=f"{path} {fault}. Task models are written by"):
            load_task_model(path, CPU)


def test_the_same_weights_have_the_same_hash(tagger: Run, tokens: Path, tmp_path: Path) -> None:
    """Though another run of it takes other seconds; a tokenizer of SentencePiece is hashed too."""
    keep(tmp_path / "second", tagger.task, tagger.model, {**tagger.report, "seconds": 12345.0}, tokens)
    first, second = folder_sha256(tmp_path / "kept"), folder_sha256(tmp_path / "second")
    assert first == second and first is not None
    (tmp_path / "second/spiece.model").write_bytes(b"pieces")
    assert folder_sha256(tmp_path / "second") != first


def test_an_account_that_lacks_something_is_named(tmp_path: Path) -> None:
    keep_report(tmp_path / "kept", {"model": "tiny"})
    with pytest.raises(PubmillError, match=r"training\.json has no failed, so"):
        previous_run(tmp_path / "kept")


def test_damaged_folders_are_refused(tagger: Run, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    (folder / "SHA256SUMS").unlink()  # by which all of this would be noticed
    facts = json.loads((folder / "pubmill.json").read_text())
    for wrong, message in (
        ({**facts, "format": 99}, "format is not 1"),
        ({**facts, "labels": "O"}, "keep the model again.*labels: expected a list"),
        ({**facts, "argument_types": [["a"]]}, r"argument_types\.0\.1: this key is required"),
        ({**facts, "recipe": {**facts["recipe"], "crf": 3}}, "crf: expected true or false"),
        ({**facts, "recipe": {**facts["recipe"], "metric": "no_score"}}, "no_score is no dev score"),
    ):
        write_json(folder / "pubmill.json", wrong)
        with pytest.raises(PubmillError, match=f"(?s){folder}.*{message}"):
            load_task_model(folder, CPU)
    write_json(folder / "pubmill.json", {**facts, "recipe": {**facts["recipe"], "crf": True}})
    with pytest.raises(PubmillError, match=r"head\.safetensors"):
        load_task_model(folder, CPU)
    write_json(folder / "pubmill.json", facts)
    for name, content, message in (
        ("head.safetensors", b"\x80\x04pickle", r"head\.safetensors"),
        ("model.safetensors", b"\x80\x04pickle", "model.safetensors is damaged"),
        ("config.json", b"[" * 100_000, "config.json is not valid JSON"),
        ("config.json", b'{"model_type": "../x"}', "transformers can't load this model folder"),
        ("tokenizer.json", b"{", "can't be loaded as a task model; get or keep it again"),
        ("tokenizer_config.json", b'{"unk_token": 5}', "can't be loaded as a task model"),
        ("tokenizer_config.json", b'{"auto_map": {"A": "x.Y"}}', "auto_map asks for code"),
    ):
        sound = (folder / name).read_bytes()
        (folder / name).write_bytes(content)
        with pytest.raises(PubmillError, match=f"(?s){folder}.*{message}"):
            load_task_model(folder, CPU)
        (folder / name).write_bytes(sound)
    load_task_model(folder, CPU)
    (folder / "model.safetensors").unlink()
    (folder / "head.safetensors").rename(folder / "other.safetensors")
    with pytest.raises(PubmillError, match=f"{folder}.*no file named model.safetensors"):
        load_task_model(folder, CPU)


def test_what_does_not_load_as_it_was_is_not_kept(
    run_of: Callable[[str], Run], tokens: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An encoder whose weights are written otherwise leaves no folder."""
    run = run_of("tokens")
    original = transformers.BertModel.from_pretrained

    def other(folder: Path, *arguments: Any, **named: Any) -> Any:
        scaled = {name: 1.01 * value for name, value in load_file(folder / "model.safetensors").items()}
        save_file(scaled, folder / "model.safetensors", {"format": "pt"})
        return original(folder, *arguments, **named)

    monkeypatch.setattr("transformers.AutoModel.from_pretrained", other)
    with pytest.raises(PubmillError, match="can't be kept"):
        keep(tmp_path / "kept", run.task, run.model, run.report, tokens)
    assert not list(tmp_path.iterdir())


def account(**changes: Any) -> dict[str, Any]:
    return {
        "model": "bert-base", "seed": 3, "recipe": {"task": "tokens", "learning_rate": 2e-5, "crf": None},
        "dev": {"metric": "entity_f1", "best": 0.8125, "best_step": 40},
        "steps": 60, "steps_on_train_and_dev": None,
        "max_length": 128, "labels": ["O", "B-Gene", "I-Gene"], "loss_by_epoch": [0.5, 0.25], "seconds": 12.5,
        "head_from_start": False, "start_failed": None, "model_sha256": "m" * 64,
        "data_sha256": {"train": "t" * 64, "dev": "d" * 64}, "commit": "c" * 40, "python": "3.11.9",
        "packages": {"torch": "2.13.0"}, "hardware": {"cpu": "a|b\nc", "cores": 2, "gpus": [], "cuda": None},
        **changes,
    }  # fmt: skip


def card(
    folder: Path, standard: str | None = None, stored: dict[str, Any] | None = None, **changes: Any
) -> str:
    if stored is not None:
        (folder / "card.json").write_text(json.dumps(stored))
    return task_models.task_model_card("mine", account(**changes), folder, standard)


def metadata(text: str) -> Any:
    _, head, _ = text.split("---\n", 2)
    return yaml.safe_load(head)


def table(text: str, title: str) -> list[str]:
    lines = text.split(f"## {title}\n\n")[1].split("\n\n")[0].rstrip().splitlines()
    assert lines[:2] == ["| | |", "|---|---|"]
    return lines[2:]


def test_metadata_are_those_of_the_hub(tmp_path: Path) -> None:
    found = metadata(card(tmp_path, stored={"dataset": "bc2gm", "access": "public"}))
    assert found["pipeline_tag"] == FACTS["tokens"].hub_task == "token-classification"
    assert found["base_model"] == "bert-base" and "pubmill_access" not in found
    assert found["datasets"] == ["bc2gm"]
    [model] = found["model-index"]
    [result] = model["results"]
    assert model["name"] == "mine" and result["dataset"] == {"type": "bc2gm", "name": "bc2gm", "split": "dev"}
    assert result["metrics"] == [{"type": "entity_f1", "value": 0.8125, "name": "entity_f1 on dev"}]

    text = card(tmp_path, dev={"metric": "entity_f1", "best": None, "best_step": None})
    assert "model-index" not in metadata(text)
    assert not [row for row in table(text, "Training") if "dev" in row.split("|")[1] and "sha" not in row]


@pytest.mark.parametrize("access", task_models.ACCESS)
def test_access_is_that_of_the_data_or_the_stricter_one_of_the_model(tmp_path: Path, access: str) -> None:
    """Without a card it is unknown, and the folder names the data."""
    assert task_models.UNKNOWN in (text := card(tmp_path)) and f"on `{tmp_path.name}` with seed 3." in text
    assert task_models.ACCESS[access] in card(tmp_path, stored={"access": access})
    text = card(tmp_path, stored={"access": "public"}, access=access)
    assert task_models.ACCESS[access] in text and metadata(text)["pubmill_access"] == access


def test_how_it_is_loaded_and_what_it_was_made_with_is_told_without_empty_rows(tmp_path: Path) -> None:
    text = card(tmp_path)
    assert "loads its encoder with `AutoModel`; its head is pubmill's. `.venv" in text
    assert "loads it as `BertForTokenClassification`; `.venv" in card(tmp_path, "BertForTokenClassification")
    assert table(text, "Training") == [
        "| entity f1 on dev | 0.8125 |", "| step of it | 40 |", "| steps | 60 |", "| max length | 128 |",
        "| labels | 3 |", "| mean loss of the last epoch | 0.25 |", "| seconds | 12.5 |",
        "| head continues that of the model before | false |", f"| pretrained model, sha256 | {'m' * 64} |",
        f"| dev, sha256 | {'d' * 64} |", f"| train, sha256 | {'t' * 64} |",
    ]  # fmt: skip
    assert table(text, "Recipe") == ["| task | tokens |", "| learning rate | 2e-05 |"]
    assert table(text, "Made with") == [
        f"| commit | {'c' * 40} |", "| python | 3.11.9 |", "| torch | 2.13.0 |", "| cpu | a\\|b c |",
        "| cores | 2 |",
    ]  # fmt: skip
    assert not [row for row in table(card(tmp_path, loss_by_epoch=[]), "Training") if "mean loss" in row]
