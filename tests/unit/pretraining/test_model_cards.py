"""What a model's card says of its weights, data and training."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.pretraining.model_cards import model_card
from pubmill.storage.files import write_json

HUB = {"kind": "hub", "id": "lab/bert", "revision": "f"}


def rows(card: str, title: str) -> dict[str, str]:
    """The rows of a section's table."""
    section = card.split(f"## {title}\n")[1].split("\n## ")[0]
    cells = [line.strip("|").split(" | ", 1) for line in section.splitlines() if line.startswith("| ")][1:]
    return {name.strip(): value.strip() for name, value in cells}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (9_999, "9999"), (10_000, "10,000"), (-10_000, "-10,000"), (-9_999, "-9999"),
        (1.23456789e-4, "0.000123457"), (0.5, "0.5"), (True, "yes"), (False, "no"), (None, "–"), ([], "–"),
        ([1, None, "a"], "1, –, a"), ("a|b\nc", "a\\|b c"), (("x",), "x"),
    ],
)  # fmt: skip
def test_values_are_shown_for_people(value: Any, shown: str) -> None:
    card = model_card("m", HUB | {"a_b": value, "inner": {"c_d": {"e": value}}}, "full", {}, None)
    found = rows(card, "Weights")
    assert found["a b"] == found["inner: c d: e"] == shown


def test_only_parts_that_are_known_have_a_section(tmp_path: Path) -> None:
    card = model_card("m", HUB, "full", {}, None, vocab=tmp_path)
    assert [line for line in card.splitlines() if line.startswith("#")] == [
        "# m", "## Weights", "## Intended use and limits", "## Licence",
    ]  # fmt: skip
    assert "Scale" not in card and "not public" not in card and card.startswith("---\n")


def test_a_reduced_scale_and_data_that_are_not_public_are_named() -> None:
    card = model_card("m", HUB, "small", {}, None, access="credentialed")
    assert "**Scale `small`: a reduced recipe, not comparable with published models.**" in card
    assert "**Made of data that are not public.**" in card and "pubmill_access: credentialed" in card


def test_the_corpus_and_the_vocabulary_are_described(tmp_path: Path) -> None:
    write_json(tmp_path / "diagnosis.json", {"size": 100, "documents": 12, "words": 20_000, "unused": 3})
    statistics = {
        "recipe": {"corpus": "c"}, "documents": 7, "words": 8, "years": {"2001": 7}, "rejected": {"short": 2},
        "by_source": {"pubmed": {"documents": 7, "words": 8}},
    }  # fmt: skip
    card = model_card("m", HUB, "full", statistics, None, vocab=tmp_path)
    assert rows(card, "Data") == {
        "corpus": "c", "documents": "7", "words": "8", "documents by source: pubmed": "7",
        "rejected: short": "2", "vocabulary: size": "100", "vocabulary: documents": "12",
        "vocabulary: words": "20,000",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["pretraining", "random"])
def test_the_whole_recipe_is_that_of_trained_weights(kind: str, tmp_path: Path) -> None:
    write_json(tmp_path / "state.json", {"step": 5, "recipe": {"a": 1}, "lowest": 2.0, "tokens": 10})
    recipe = {"architecture": {"layers": 2}, "steps": 5}
    card = model_card("m", {"kind": kind}, "full", {}, recipe, checkpoint=tmp_path)
    trained = kind == "pretraining"
    assert rows(card, "Recipe") == {"architecture: layers": "2"} | ({"steps": "5"} if trained else {})
    assert ("## Training" in card) == trained and "None is given by pubmill" in card
    if trained:
        assert rows(card, "Training") == {"step": "5", "tokens": "10"}
        (tmp_path / "log.jsonl").write_text('{"loss": 3.0}\n{"loss": 2.0}\n')
        card = model_card("m", {"kind": kind}, "full", {}, recipe, checkpoint=tmp_path)
        assert rows(card, "Training")["last log line: loss"] == "2"
