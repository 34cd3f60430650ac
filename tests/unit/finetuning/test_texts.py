"""Texts and pairs of texts: yes/no questions, documents with several labels, similarity."""

import random
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any, Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModel, AutoModelForMaskedLM, AutoModelForSequenceClassification

from pubmill.examples.kinds import (
    Example,
    LabelledSentence,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    write_examples,
)
from pubmill.finetuning.encoders import load_encoder_tokenizer, read_encoder
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.heads import PoolerLayers
from pubmill.finetuning.inputs import Batch, collate
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.run import Run, finetune
from pubmill.finetuning.tasks import TASKS
from pubmill.finetuning.tasks.texts import Multilabel, Sequences, shares
from pubmill.recipes import FinetuningRecipe
from tests.unit.tiny_encoders import tiny_bert, tiny_roberta
from tests.unit.toy_tasks import TOKENS

SYLLABLES = ["ba", "co", "di", "fu", "ge", "lo"]
MARKERS = ["ine", "long", "mab"]
SEQUENCE = replace(
    TOKENS, task="sequence", metric="accuracy", epochs=6, max_length=None, dropout=0.0, head_dropout=0.0
)
MULTILABEL = replace(SEQUENCE, task="multilabel", metric="micro_f1", epochs=20)
REGRESSION = replace(SEQUENCE, task="regression", metric="pearson")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    bert = tiny_bert(folder / "bert", [*SYLLABLES, *MARKERS])
    return {"bert": bert, "roberta": tiny_roberta(folder / "roberta")}


def reader(
    model: Path, max_length: int = 64, segments: Literal["separate", "single", "none"] = "separate"
) -> Reader:
    return Reader(load_encoder_tokenizer(model), max_length, segments)


def filler(generator: random.Random, words: int = 6) -> list[str]:
    return generator.choices(SYLLABLES, k=generator.randrange(1, words))


def question(generator: random.Random, number: int) -> SequenceExample:
    """Whose answer stands in the second text."""
    label = generator.choice(["yes", "no", "maybe"])
    word = dict(zip(["yes", "no", "maybe"], MARKERS, strict=True))[label]
    return SequenceExample(
        id=str(number),
        document=None,
        text=" ".join(filler(generator)),
        text_pair=" ".join([*filler(generator), word, *filler(generator)]),
        label=label,
    )


def document(generator: random.Random, number: int) -> MultilabelExample:
    """Sentences of which each may have any of the marker words, its labels."""
    text, sentences, labels = "", [], set()
    for _ in range(generator.randrange(1, 4)):
        own = sorted(marker for marker in MARKERS if generator.random() < 0.3)
        words = [*own, *filler(generator)]
        generator.shuffle(words)
        start = len(text)
        text += " ".join(words)
        sentences.append(LabelledSentence(start=start, end=len(text), labels=own))
        text += " "
        labels.update(own)
    return MultilabelExample(
        id=str(number), document=None, text=text, labels=sorted(labels), sentences=sentences
    )


def alike(generator: random.Random, number: int) -> RegressionExample:
    """Whose score is the number of marker words in both texts, 0 to 4."""
    texts, score = [], 0
    for _ in "ab":
        count = generator.randrange(3)
        words = [*["ine"] * count, *filler(generator)]
        generator.shuffle(words)
        texts.append(" ".join(words))
        score += count
    return RegressionExample(
        id=str(number), document=None, text=texts[0], text_pair=texts[1], score=float(score)
    )


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {}
    for kind, make in (("sequence", question), ("multilabel", document), ("regression", alike)):
        folders[kind], generator = tmp_path_factory.mktemp(kind), random.Random(1)
        for split, number in (("train", 150), ("dev", 40), ("test", 40)):
            examples: list[Example] = [make(generator, at) for at in range(number)]
            write_examples(folders[kind] / f"{split}.jsonl.gz", examples)
    return folders


@pytest.mark.parametrize(
    "recipe",
    [
        replace(SEQUENCE, metric="macro_f1", head="pooler", epochs=20),
        replace(SEQUENCE, segments="single", metric="macro_f1", loss="dice", epochs=8),
        replace(SEQUENCE, metric="micro_f1", negative="no", loss="weighted", oversample=True),
        replace(MULTILABEL, metric="example_f1", loss="weighted"),
        replace(MULTILABEL, metric="macro_f1", unit="sentence"),
        REGRESSION,
    ],
    ids=lambda recipe: f"{recipe.task}-{recipe.metric}",
)
def test_it_is_learnt(models: dict[str, Path], datasets: dict[str, Path], recipe: FinetuningRecipe) -> None:
    run = finetune(FinetuningJob(recipe, models["bert"], datasets[recipe.task], 1, "test"))
    assert run.report["failed"] is None and (run.report["dev"]["best"] or 0) > 0.8
    assert [row["id"] for row in run.predictions] == [str(number) for number in range(40)]
    key = {"sequence": "label", "multilabel": "labels", "regression": "score"}[recipe.task]
    assert all(row.keys() == {"id", key} for row in run.predictions)
    if recipe.task == "regression":  # on its own scale, from 0 to 4
        scores = [row["score"] for row in run.predictions]
        assert abs(sum(scores) / len(scores) - 2) < 0.7 and max(scores) > 2.5


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
    models: dict[str, Path], datasets: dict[str, Path], family: str
) -> None:
    """Dropout comes where transformers has it: before and after a new layer, after a pretrained one."""
    recipe = replace(SEQUENCE, head="pooler", head_dropout=0.1, epochs=1)
    run = finetune(FinetuningJob(recipe, models[family], datasets["sequence"], 1, "test"))
    assert isinstance(run, Run) and isinstance(run.model.head, PoolerLayers)
    assert [run.model.head.first.p, run.model.head.dropout.p] == [0.1 if family == "roberta" else 0.0, 0.1]
    instances = run.task.encode([question(random.Random(3), number) for number in range(12)]).instances
    batch = collate(instances, run.task.reader.pad, CPU)
    segments = {} if batch.segments is None else {"token_type_ids": batch.segments}
    with torch.inference_mode():
        theirs = classifier(run, models[family])(batch.ids, batch.mask, **segments).logits
        ours = run.model.eval()(batch)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_only_the_pooler_of_next_sentence_prediction_is_taken(models: dict[str, Path]) -> None:
    whole = AutoModel.from_pretrained(models["bert"])
    _, pooler = read_encoder(models["bert"], 0.1, CPU)
    assert pooler is not None and torch.equal(pooler.weight, whole.pooler.dense.weight)
    assert "pooler.dense.weight" in AutoModel.from_pretrained(models["roberta"]).state_dict()
    assert read_encoder(models["roberta"], 0.1, CPU)[1] is None


def test_a_bert_without_a_pooler_gets_a_new_layer(models: dict[str, Path], tmp_path: Path) -> None:
    copytree(models["bert"], folder := tmp_path / "bert")
    AutoModelForMaskedLM.from_pretrained(models["bert"]).save_pretrained(folder)
    assert read_encoder(folder, 0.1, CPU)[1] is None


@given(st.integers(0, 100), st.integers(0, 100), st.integers(2, 120))
def test_the_longer_one_of_two_texts_is_cut(first: int, second: int, room: int) -> None:
    """As if subwords were taken off the longer text one by one."""
    a, b = first, second
    while a + b > room:
        a, b = (a, b - 1) if b >= a else (a - 1, b)
    assert shares(first, second, room) == (a, b)


def pair(first: str, second: str) -> SequenceExample:
    return SequenceExample(id="1", document=None, text=first, text_pair=second, label="yes")


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
    sentences = [
        LabelledSentence(start=0, end=6, labels=["ine"]),
        LabelledSentence(start=7, end=9, labels=[]),
        LabelledSentence(start=10, end=18, labels=["ine", "long"]),
    ]
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
    gold = [replace(pair("ba", "co"), label=label) for label in ("yes", "yes", "yes", "no")]
    predicted = ["yes", "no", "no", "yes"]
    expected = {"accuracy": 0.25, "macro_f1": (2 / 5 + 0) / 2, "micro_f1": 2 / 5}
    for metric, score in expected.items():
        recipe = replace(SEQUENCE, metric=metric, negative="no" if metric == "micro_f1" else None)
        task = Sequences(recipe, reader(models["bert"]), ["no", "yes"])
        assert task.dev_score(gold, predicted) == pytest.approx(score)


NO_YES = [replace(pair("ba", "co"), label=label) for label in ("no", "no", "no", "yes")]
ONE_OF_FOUR = [labelled("ba", ["ine"]), *[labelled("ba", [])] * 3]


@pytest.mark.parametrize(
    ("task", "examples", "labels", "scores"),
    [("sequence", NO_YES, ["no", "yes"], [0.3, -0.2]), ("multilabel", ONE_OF_FOUR, ["ine"], [0.4])],
)
def test_three_examples_of_one_class_weigh_as_much_as_one_of_the_other(
    models: dict[str, Path], task: str, examples: list[Any], labels: list[str], scores: list[float]
) -> None:
    recipe = replace(SEQUENCE if task == "sequence" else MULTILABEL, loss="weighted")
    made = TASKS[task](recipe, reader(models["bert"]), labels)
    instances = made.encode(examples).instances
    made.prepare(examples, instances)
    targets = torch.tensor([value for row in made.targets(examples, instances) for value in row])
    found = made.loss(torch.nn.Identity(), torch.tensor([scores] * 4), batch(instances), targets)
    # a label is a choice between its score and 0
    both = torch.log_softmax(torch.tensor(scores if task == "sequence" else [*scores, 0.0]), 0)
    assert found.item() == pytest.approx(-both.sum().item() / 2)
