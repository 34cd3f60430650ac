"""Tasks on tokens: tagging schemes, labelled subwords, windows, heads and losses, on a tiny random BERT."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import Scheme, to_labels, to_mentions
from pubmill.finetuning.encoders import load_encoder_tokenizer
from pubmill.finetuning.inputs import collate
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks.tokens import Tokens
from pubmill.recipes import FinetuningRecipe

RECIPE = FinetuningRecipe(
    task="tokens", metric="entity_f1", learning_rate=3e-3, batch_size=8, epochs=5, precision="float32"
)


def example(words: Sequence[str], labels: Sequence[str], name: str = "1") -> TokensExample:
    return TokensExample(id=name, document=None, words=list(words), labels=list(labels))


def task_of(model: Path, examples: Sequence[TokensExample], max_length: int = 64, **settings: Any) -> Any:
    """A `Tokens`; untyped, because `encode` returns instances and the other methods take windows."""
    recipe = replace(RECIPE, **settings)
    reader = Reader(load_encoder_tokenizer(model), max_length, "separate")
    return Tokens(recipe, reader, Tokens.labels_of(recipe, examples))


def learnt(model: Path, one: TokensExample, **settings: Any) -> list[list[str]]:
    task = task_of(model, [one], **settings)
    targets = task.targets([one], task.encode([one]).instances)
    return [[task.labels[int(target)] for target in row] for row in targets]


def test_labels_are_all_that_the_scheme_has_for_the_types_of_train(model: Path) -> None:
    examples = [example("ab", ["B-x", "O"]), example("a", ["I-y"])]
    found = {scheme: task_of(model, examples, tagging=scheme).labels for scheme in ("bio", "bioul", "io")}
    assert found == {
        "bio": ["O", "B-x", "B-y", "I-x", "I-y"],
        "bioul": ["O", *(f"{prefix}-{kind}" for prefix in "BILU" for kind in "xy")],
        "io": ["O", "I-x", "I-y"],
    }
    assert task_of(model, [example("ab", ["B", "I"])], tagging="bioul").labels == ["O", "B", "I", "L", "U"]


SIX = "O B-x I-x I-x B-x B-y"


@pytest.mark.parametrize(
    ("settings", "words", "labels", "expected"),
    [
        ({}, ["ba"] * 6, SIX, [SIX]),
        ({"tagging": "bioul"}, ["ba"] * 6, SIX, ["O B-x I-x L-x U-x U-y"]),
        ({"tagging": "io"}, ["ba"] * 6, SIX, ["O I-x I-x I-x I-x I-y"]),
        # EBM-PICO's files have I labels alone
        ({}, ["ba"] * 5, "I-PAR I-PAR O I-OUT I-PAR", ["B-PAR I-PAR O B-OUT B-PAR"]),
        ({"tagging": "io"}, ["ba"] * 5, "I-PAR I-PAR O I-OUT I-PAR", ["I-PAR I-PAR O I-OUT I-PAR"]),
        ({}, ["ba", "inecodi", "\u200d", "longfu"], "O B-x O B-x", ["O B-x B-x"]),
        ({"labelled_subwords": "all"}, ["ba", "inecodi", "\u200d", "longfu"], "O B-x O B-x",
         ["O B-x B-x B-x B-x B-x"]),
        # of seven words three fit: the second window begins inside the mention, and ends in it
        ({"tagging": "bioul", "max_length": 5}, ["ba"] * 7, "O B-x I-x I-x I-x I-x I-x",
         ["O B-x I-x", "I-x I-x I-x", "L-x"]),
    ],
)  # fmt: skip
def test_what_is_learnt_of_a_sentence(
    model: Path, settings: dict[str, Any], words: list[str], labels: str, expected: list[str]
) -> None:
    assert learnt(model, example(words, labels.split()), **settings) == [one.split() for one in expected]


def test_a_words_first_subword_decides(model: Path) -> None:
    one = example(["ba", "inecodi", "longfu"], ["O", "B-x", "I-x"])
    task = task_of(model, [one], labelled_subwords="all")
    windows = task.encode([one]).instances
    output = torch.tensor([task.places[label] for label in ("O", "B-x", "O", "O", "I-x", "B-x")])
    assert task.predictions([one], windows, [output]) == [["O", "B-x", "I-x"]]


def test_later_subwords_have_the_label_x(model: Path) -> None:
    one = example(["ba", "inecodi", "\u200d", "longfu"], ["O", "B-x", "O", "I-x"])
    task = task_of(model, [one], labelled_subwords="separate")
    assert task.labels == ["O", "B-x", "I-x", "X"]
    windows = task.encode([one]).instances
    assert learnt(model, one, labelled_subwords="separate") == [["O", "B-x", "X", "X", "B-x", "X"]]
    output = torch.tensor([task.places[label] for label in ("O", "B-x", "O", "X", "I-x", "X")])
    [found] = task.predictions([one], windows, [output])
    assert found == ["O", "B-x", "O", "B-x"]
    assert task.row(one, found) == {
        "id": "1",
        "labels": ["O", "B-x", "O", "B-x"],
        "subword_labels": [["O"], ["B-x", "O", "X"], [], ["I-x", "X"]],
    }
    assert task.row(one, None) == {"id": "1", "labels": None}


@given(st.data(), st.sampled_from(["bio", "bioul"]), st.sampled_from(["first", "all", "separate"]))
def test_what_is_learnt_and_predicted_perfectly_is_the_gold(
    model: Path, data: st.DataObject, scheme: Scheme, subwords: str
) -> None:
    words = data.draw(st.lists(st.sampled_from(["ba", "bacodi", "fuine"]), min_size=1, max_size=12))
    prefixes = data.draw(
        st.lists(
            st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"]), min_size=len(words), max_size=len(words)
        ).filter(lambda labels: set(labels) != {"O"})
    )
    one = example(words, prefixes)
    assume(subwords != "separate" or scheme == "bio")
    task = task_of(model, [one], 8, tagging=scheme, labelled_subwords=subwords)
    windows = task.encode([one]).instances
    perfect = [torch.tensor(row) for row in task.targets([one], windows)]
    assert task.predictions([one], windows, perfect) == [to_labels(to_mentions(prefixes), len(words), "bio")]


def test_rarer_labels_weigh_more(model: Path) -> None:
    """O six times, I-x three times; all places together weigh as without weights."""
    one = example(["ba"] * 9, ["O"] * 6 + ["B-x", "I-x", "I-x"])
    task = task_of(model, [one], tagging="io", loss="weighted")
    windows = task.encode([one]).instances
    task.prepare([one], windows)
    batch, scores = collate(windows, 0, torch.device("cpu")), torch.zeros(9, 2)
    scores[:, 0] = 2.0
    targets = torch.tensor(task.targets([one], windows)[0])
    log = torch.log_softmax(scores[0], 0)
    expected = -(6 * 0.75 * log[0] + 3 * 1.5 * log[1]) / 9
    torch.testing.assert_close(task.loss(torch.nn.Module(), scores, batch, targets), expected)


def test_what_could_not_be_encoded_whole_is_counted(model: Path) -> None:
    sentences = [["baco", "\u200d"], ["ine" * 9], ["ba"] * 9]
    examples = [example(words, ["B"] * len(words), str(number)) for number, words in enumerate(sentences)]
    counts = task_of(model, examples, 8).encode(examples).counts
    assert counts == {"words_without_subword": 1, "words_shortened": 1, "windows_split": 1}


@given(st.lists(st.lists(st.sampled_from(["ba", "bacodi", "fuine", "xyz", "."]), max_size=30), max_size=6))
def test_windows_hold_every_word_once_in_order(model: Path, sentences: list[list[str]]) -> None:
    examples = [example(words, ["O"] * len(words), str(number)) for number, words in enumerate(sentences)]
    windows = task_of(model, [example(["ba"], ["B"])], 10).encode(examples).instances
    seen = [(window.example, word) for window in windows for word in window.words]
    assert seen == [(number, word) for number, words in enumerate(sentences) for word in range(len(words))]
    assert all(len(window.ids) <= 10 for window in windows)
