"""Texts and pairs of texts: yes/no questions, documents with several labels, similarity."""

from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any, Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModel, AutoModelForMaskedLM, AutoModelForSequenceClassification

from pubmill.examples.kinds import LabelledSentence, MultilabelExample, SequenceExample, write_examples
from pubmill.finetuning.encoders import load_encoder_tokenizer, read_encoder
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.heads import PoolerLayers
from pubmill.finetuning.inputs import Batch, collate
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.run import Run, finetune
from pubmill.finetuning.tasks.texts import Multilabel, Sequences, shares
from tests.unit.toy_tasks import SYLLABLES, TOKENS

SEQUENCE = replace(TOKENS, task="sequence", metric="accuracy", max_length=None, dropout=0.0)
MULTILABEL = replace(SEQUENCE, task="multilabel", metric="micro_f1")
CPU = torch.device("cpu")


def reader(
    model: Path, max_length: int = 64, segments: Literal["separate", "single", "none"] = "separate"
) -> Reader:
    return Reader(load_encoder_tokenizer(model), max_length, segments)


def pair(first: str, second: str, label: str = "yes", name: str = "1") -> SequenceExample:
    return SequenceExample(id=name, document=None, text=first, text_pair=second, label=label)


def classifier(run: Run, folder: Path) -> Any:
    """transformers' class for texts on a model folder, with the trained weights of the head."""
    whole = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=len(run.task.labels))
    whole.base_model.load_state_dict(run.model.encoder.state_dict(), strict=False)
    head: Any = run.model.head
    if whole.config.model_type == "bert":
        dense, linear = whole.bert.pooler.dense, whole.classifier
    else:
        dense, linear = whole.classifier.dense, whole.classifier.out_proj
    dense.load_state_dict(head.dense.state_dict())
    linear.load_state_dict(head.linear.state_dict())
    return whole.eval()


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_the_head_pooler_is_that_of_transformers(
    models: dict[str, Path], tmp_path: Path, family: str
) -> None:
    """Dropout comes where transformers has it: before and after a new layer, after a pretrained one."""
    examples = [
        pair(one, f"{one} ba", label, one) for one, label in zip(SYLLABLES, ["yes", "no"] * 4, strict=True)
    ]
    for split in ("train", "dev"):
        write_examples(tmp_path / f"{split}.jsonl.gz", examples)
    recipe = replace(SEQUENCE, head="pooler", head_dropout=0.1, epochs=1)
    run = finetune(FinetuningJob(recipe, models[family], tmp_path, 1, "dev"))
    assert isinstance(run, Run) and isinstance(run.model.head, PoolerLayers)
    assert [run.model.head.first.p, run.model.head.dropout.p] == [0.1 if family == "roberta" else 0.0, 0.1]
    batch = collate(run.task.encode(examples).instances, run.task.reader.pad, CPU)
    ids, mask, *segments = batch.inputs
    further = {"token_type_ids": segments[0]} if segments else {}
    with torch.inference_mode():
        theirs = classifier(run, models[family])(ids, mask, **further).logits
        ours = run.model.eval()(batch)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_only_the_pooler_of_next_sentence_prediction_is_taken(
    models: dict[str, Path], tmp_path: Path
) -> None:
    """A BERT without one gets a new layer."""
    whole = AutoModel.from_pretrained(models["bert"])
    _, pooler = read_encoder(models["bert"], 0.1, CPU)
    assert pooler is not None and torch.equal(pooler.weight, whole.pooler.dense.weight)
    assert "pooler.dense.weight" in AutoModel.from_pretrained(models["roberta"]).state_dict()
    copytree(models["bert"], without := tmp_path / "bert")
    AutoModelForMaskedLM.from_pretrained(models["bert"]).save_pretrained(without)
    assert [read_encoder(one, 0.1, CPU)[1] for one in (models["roberta"], without)] == [None, None]


@given(st.integers(0, 100), st.integers(0, 100), st.integers(2, 120))
def test_the_longer_one_of_two_texts_is_cut(first: int, second: int, room: int) -> None:
    a, b = first, second
    while a + b > room:
        a, b = (a, b - 1) if b >= a else (a - 1, b)
    assert shares(first, second, room) == (a, b)


@pytest.mark.parametrize(
    ("segments", "expected"), [("separate", [0, 0, 0, 0, 1, 1, 1]), ("single", [0] * 7), ("none", None)]
)
def test_two_texts_in_one_input(models: dict[str, Path], segments: Any, expected: list[int] | None) -> None:
    task = Sequences(SEQUENCE, reader(models["bert"], 64, segments), ["no", "yes"])
    [instance] = task.encode([pair("ba co", "difu")]).instances
    tokens = task.reader.tokenizer.convert_ids_to_tokens(instance.ids)
    assert tokens == ["[CLS]", "ba", "co", "[SEP]", "di", "##fu", "[SEP]"]
    assert (instance.segments, instance.places, instance.groups) == (expected, [0], None)


def test_long_texts_are_cut_at_their_end_and_counted(models: dict[str, Path]) -> None:
    task = Sequences(SEQUENCE, reader(models["bert"], 8), ["no", "yes"])
    encoded = task.encode([pair("ba co", "di " * 9), pair("ba " * 9, "di fu"), pair("ba " * 9, "di " * 9)])
    tokens = [task.reader.tokenizer.decode(instance.ids) for instance in encoded.instances]
    assert tokens == [
        "[CLS] ba co [SEP] di di di [SEP]",
        "[CLS] ba ba ba [SEP] di fu [SEP]",
        "[CLS] ba ba ba [SEP] di di [SEP]",
    ]
    assert encoded.counts["texts_shortened"] == 4


def labelled(text: str, labels: list[str], *sentences: LabelledSentence) -> MultilabelExample:
    return MultilabelExample(id="1", document=None, text=text, labels=labels, sentences=[*sentences])


def test_a_document_is_read_whole_or_by_its_sentences(models: dict[str, Path]) -> None:
    """Its labels are then those of all its sentences, and no others."""
    ends: list[tuple[int, int, list[str]]] = [(0, 6, ["ine"]), (7, 9, []), (10, 18, ["ine", "long"])]
    sentences = [LabelledSentence(start=start, end=end, labels=labels) for start, end, labels in ends]
    example = labelled("ine ba co long ine", ["ine", "long"], *sentences)
    both = [example, labelled("ba", [], LabelledSentence(start=0, end=2, labels=[]))]
    whole = Multilabel(MULTILABEL, reader(models["bert"]), ["ine", "long", "mab"])
    assert whole.targets(both, whole.encode(both).instances) == [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    parts = Multilabel(replace(MULTILABEL, unit="sentence"), reader(models["bert"]), whole.labels)
    instances = parts.encode(both).instances
    decode = parts.reader.tokenizer.decode
    assert [decode(instance.ids, skip_special_tokens=True) for instance in instances] == [
        "ine ba", "co", "long ine", "ba",
    ]  # fmt: skip
    assert [instance.example for instance in instances] == [0, 0, 0, 1]
    assert parts.targets(both, instances) == [[1.0, 0.0, 0.0], [0.0] * 3, [1.0, 1.0, 0.0], [0.0] * 3]
    scores = torch.tensor([[-1.0, -1, 2], [-1, -1, -1], [1, -1, 0.1], [-1, 0, -1]])
    outputs = list(parts.output(torch.nn.Identity(), scores, batch(instances)))
    assert parts.predictions(both, instances, outputs) == [["ine", "mab"], []]


def batch(instances: Any) -> Batch:
    return collate(instances, 0, CPU)


def test_dev_scores(models: dict[str, Path]) -> None:
    """One of four is right; of yes there are three, two are predicted, one of them rightly."""
    gold = [pair("ba", "co", label) for label in ("yes", "yes", "yes", "no")]
    predicted = ["yes", "no", "no", "yes"]
    expected = {"accuracy": 0.25, "macro_f1": (2 / 5 + 0) / 2, "micro_f1": 2 / 5}
    for metric, score in expected.items():
        recipe = replace(SEQUENCE, metric=metric, negative="no" if metric == "micro_f1" else None)
        task = Sequences(recipe, reader(models["bert"]), ["no", "yes"])
        assert task.dev_score(gold, predicted) == pytest.approx(score)
