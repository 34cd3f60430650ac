"""Converting a dataset: counts, the card, expectations that fail the job, and equal bytes."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.dataset import ConversionRecipe, convert, count
from pubmill.errors import PubmillError
from pubmill.examples import TokensExample, read_examples, write_examples
from pubmill.files import read_json, write_jsonl_gz

ROOT = Path(__file__).resolve().parents[2]
TRAIN = "-DOCSTART- 1\n\nNo\tO\npain\tB-D\n\nMild\tI-D\nache\tI-D\n\n-DOCSTART- 2\n\nNo\tO\npain\tB-D\n\n"
DEV = "Fever\tB-D\nfever\tB-D\n\nNo\tO\npain\tB-D\n"
RECIPE = ConversionRecipe(
    dataset="toy",
    kind="tokens",
    converter="pubmill.convert.conll:read",
    options={"labels": "first_character"},
    duplicates="keep",
    expect={"train": {"sentences": 3, "documents": 2, "mentions": 2}, "dev": {"tokens": 4}},
    metric="entity_f1",
    version=1,
)


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    paths = {"train": tmp_path / "train.tsv", "dev": tmp_path / "devel.tsv"}
    paths["train"].write_text(TRAIN)
    paths["dev"].write_text(DEV)
    return paths


def test_examples_and_card(tmp_path: Path, inputs: dict[str, Path]) -> None:
    convert(RECIPE, inputs, tmp_path / "toy")
    assert sorted(path.name for path in (tmp_path / "toy").iterdir()) == [
        "card.json",
        "dev.jsonl.gz",
        "train.jsonl.gz",
    ]
    train = list(read_examples(tmp_path / "toy/train.jsonl.gz", TokensExample))
    assert [example.document for example in train] == ["1", "1", "2"]
    assert train[1].labels == ["I", "I"]
    card = read_json(tmp_path / "toy/card.json")
    assert card["expect"] == RECIPE.expect
    assert card["counts"]["train"] == {
        "sentences": 3,
        "documents": 2,
        "tokens": 6,
        "mentions": 2,
        "tokens_in_mentions": 4,
        "distinct_words": 4,
        "longest_sentence": 2,
        "illegal_starts": 1,
        "repeated_documents": 0,
        "repeated_sentences": 1,
    }
    assert card["counts"]["dev"]["documents"] is None
    assert card["also_in_train"] == {"dev": {"sentences": 1, "documents": None}}


def test_the_same_input_gives_the_same_bytes(tmp_path: Path, inputs: dict[str, Path]) -> None:
    for name in ("once", "twice", "twice"):
        convert(RECIPE, inputs, tmp_path / name)
    for name in ("card.json", "dev.jsonl.gz", "train.jsonl.gz"):
        assert (tmp_path / "once" / name).read_bytes() == (tmp_path / "twice" / name).read_bytes()


def test_other_counts_are_all_told_and_leave_no_examples(tmp_path: Path, inputs: dict[str, Path]) -> None:
    expect = {"train": {"mentions": 5, "sentences": 3}, "dev": {"tokens": 1, "documents": 7}}
    with pytest.raises(PubmillError) as caught:
        convert(replace(RECIPE, expect=expect), inputs, tmp_path / "toy")
    message = str(caught.value)
    assert "train mentions: expected 5, found 2, difference -3" in message
    assert "dev tokens: expected 1, found 4, difference +3" in message
    assert "dev documents: expected 7, but none are marked" in message
    assert "sentences" not in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["devel.tsv", "train.tsv"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"expect": {"train": {"mention": 2}}}, "'mention'; what is counted is sentences, documents"),
        ({"expect": {"test": {"mentions": 2}}}, "only for splits with an input"),
        ({"duplicates": "drop"}, "duplicates `keep`"),
        ({"kind": "span"}, "only kind `tokens`"),
        ({"converter": "pubmill.convert.conll:nothing"}, "no converter"),
        ({"converter": "pubmill.convert.nowhere:read"}, "no converter"),
        ({"converter": "os:system"}, "no converter"),
    ],
)
def test_what_a_recipe_cannot_say(
    tmp_path: Path, inputs: dict[str, Path], change: dict[str, Any], told: str
) -> None:
    with pytest.raises(PubmillError, match=told):
        convert(replace(RECIPE, **change), inputs, tmp_path / "toy")
    assert not (tmp_path / "toy").exists()


@pytest.mark.parametrize(
    ("labels", "illegal"),
    [(["O", "I"], 1), (["I", "I"], 1), (["B", "I"], 0), (["B-x", "I-y", "I-y"], 1), (["B-x", "I-x", "O"], 0)],
)
def test_illegal_starts_are_counted(labels: list[str], illegal: int) -> None:
    example = TokensExample(id="a", document=None, words=["w"] * len(labels), labels=labels)
    assert count([example])["illegal_starts"] == illegal


def test_the_same_document_marked_again_is_counted_again_and_as_repeated() -> None:
    examples = [
        TokensExample(id=str(number), document=document, words=["w"], labels=["O"])
        for number, document in enumerate(["1", "1", "2", "1"])
    ]
    counts = count(examples)
    assert (counts["documents"], counts["repeated_documents"]) == (3, 1)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": "a", "document": None, "words": ["w"], "labels": []}, "1 words but 0 labels"),
        ({"id": "a", "document": None, "words": ["w"], "labels": ["X"]}, "BIO labels"),
        ({"id": "a", "document": None, "words": "w", "labels": ["O"]}, "list of texts"),
        ({"id": "a", "document": 5, "words": ["w"], "labels": ["O"]}, "document is 5"),
        ({"id": "a", "words": ["w"], "labels": ["O"]}, "exactly the keys"),
        ({"id": "first", "document": None, "words": ["w"], "labels": ["O"]}, "second time"),
    ],
)
def test_broken_examples_are_told_with_their_line(tmp_path: Path, row: dict[str, Any], told: str) -> None:
    good = {"id": "first", "document": None, "words": ["w"], "labels": ["O"]}
    write_jsonl_gz(tmp_path / "a.jsonl.gz", [good, row])
    with pytest.raises(PubmillError, match=rf"a\.jsonl\.gz:2: .*{told}"):
        list(read_examples(tmp_path / "a.jsonl.gz", TokensExample))


def test_missing_and_truncated_examples_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    with pytest.raises(PubmillError, match="does not exist"):
        list(read_examples(path, TokensExample))
    write_examples(path, [TokensExample(id="a", document=None, words=["w"], labels=["O"])])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(PubmillError, match="broken after line"):
        list(read_examples(path, TokensExample))


def test_the_program_by_hand_and_its_errors(tmp_path: Path, inputs: dict[str, Path]) -> None:
    command = [sys.executable, str(ROOT / "scripts/convert.py"), "--output", str(tmp_path / "toy")]
    command += ["--recipe", json.dumps(vars(RECIPE)), "--input", f"train={inputs['train']}"]
    good = subprocess.run([*command, "--input", f"dev={inputs['dev']}"], capture_output=True, text=True)
    assert good.returncode == 0, good.stderr
    assert "toy train: 3 sentences, 2 mentions" in good.stdout
    bad = subprocess.run([*command, "--input", "dev"], capture_output=True, text=True)
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr.startswith("pubmill: error: --input dev: expected SPLIT=PATH")
