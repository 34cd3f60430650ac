"""Converting a dataset: the card, expectations that fail the job, withheld text, and equal bytes."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert import conll
from pubmill.convert.dataset import convert
from pubmill.convert.dataset_counts import unknown_names
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example, SequenceExample, TokensExample, read_examples
from pubmill.messages.quotations import quote
from pubmill.recipes.datasets import Access, ConversionRecipe
from pubmill.storage.files import read_json, read_jsonl_gz

ROOT = Path(__file__).resolve().parents[3]
TRAIN = "-DOCSTART- 1\n\nNo\tO\npain\tB-D\n\nMild\tB-D\nache\tI-D\n\n-DOCSTART- 2\n\nNo\tO\npain\tB-D\n\n"
DEV = "Fever\tB-D\nfever\tB-D\n\nNo\tO\npain\tB-D\n"
CANARY = "Qzcanary"
RECIPE = ConversionRecipe(
    dataset="toy", kind="tokens", access="public", splits=("train", "dev"),
    converter="pubmill.convert.conll:read", options={"labels": "first_character"},
    expect={"train": {"sentences": 3, "documents": 2, "mentions": 3}, "dev": {"tokens": 4}},
    metric="entity_f1", version=1,
)  # fmt: skip
GOOD = TokensExample(id="a", document=None, words=["w"], labels=["O"])


SEQUENCE = SequenceExample(id="c", document=None, text="w", label="x")


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    paths = {"train": tmp_path / "train.tsv", "dev": tmp_path / "devel.tsv"}
    paths["train"].write_text(TRAIN)
    paths["dev"].write_text(DEV)
    return paths


def test_examples_and_card_have_the_same_bytes_each_time(tmp_path: Path, inputs: dict[str, Path]) -> None:
    returned = convert(RECIPE, inputs, tmp_path / "toy")
    names = ["card.json", "dev.jsonl.gz", "test.jsonl.gz", "train.jsonl.gz"]
    assert sorted(path.name for path in (tmp_path / "toy").iterdir()) == names
    train = list(read_examples(tmp_path / "toy/train.jsonl.gz", TokensExample))
    assert [example.document for example in train] == ["1", "1", "2"]
    assert train[1].labels == ["B", "I"]
    card = read_json(tmp_path / "toy/card.json")
    assert card == json.loads(json.dumps(returned))
    assert card["expect"] == RECIPE.expect and card["splits"] == ["train", "dev"]
    assert card["counts"]["train"] == {
        "sentences": 3, "tokens": 6, "mentions": 3, "tokens_in_mentions": 4, "distinct_words": 4,
        "longest_sentence": 2, "illegal_starts": 0, "documents": 2, "repeated_documents": 0,
        "repeated_texts": 1,
    }  # fmt: skip
    assert card["counts"]["dev"]["documents"] is None
    assert card["overlaps"] == [{"split": "dev", "with": "train", "texts": 1, "documents": None}]
    assert card["lengths"]["train"] == {"mean": 2.0, "median": 2, "p95": 2, "max": 2}
    assert {role: source["file"] for role, source in card["sources"].items()} == {
        "train": "train.tsv",
        "dev": "devel.tsv",
    }
    assert str(tmp_path) not in json.dumps(card)
    for name in ("once", "twice", "twice"):
        convert(RECIPE, inputs, tmp_path / name)
    for name in ("card.json", "dev.jsonl.gz", "test.jsonl.gz", "train.jsonl.gz"):
        assert (tmp_path / "once" / name).read_bytes() == (tmp_path / "twice" / name).read_bytes()


def test_what_was_left_out_is_counted_and_a_label_that_is_not_met_counts_as_none(
    tmp_path: Path, inputs: dict[str, Path]
) -> None:
    inputs["dev"].write_text("Fever\tB-D\nAspirin\tB-C\n")
    measure = "left_out.mentions_of_other_types"
    recipe = replace(RECIPE, options={"labels": "as_written", "keep": ["D"]}, expect={"dev": {measure: 1}})
    assert convert(recipe, inputs, tmp_path / "toy")["counts"]["dev"][measure] == 1
    with pytest.raises(PubmillError, match=rf"dev {measure}: expected 0, found 1"):
        convert(replace(recipe, expect={"dev": {measure: 0}}), inputs, tmp_path / "other")
    inputs["train"].write_text("No\tO\npain\tB-D\n")
    inputs["dev"].write_text("Fever\tB-D\nAspirin\tB-Drug\n")
    written = replace(RECIPE, options={"labels": "as_written"})
    convert(
        replace(written, expect={"train": {"mentions.Drug": 0, "left_out.anything": 0}}),
        inputs,
        tmp_path / "toy",
    )
    with pytest.raises(PubmillError, match=r"train words\.Durg: there is no such name; there are D, Drug"):
        convert(replace(written, expect={"train": {"words.Durg": 0}}), inputs, tmp_path / "other")
    with pytest.raises(PubmillError, match=r"train mentions\.Chemical: expected 2, found 0, difference -2"):
        convert(replace(RECIPE, expect={"train": {"mentions.Chemical": 2}}), inputs, tmp_path / "other")
    inputs["dev"].write_text(DEV)
    with pytest.raises(PubmillError, match=r"negative: there is no label 'false'; there are none"):
        convert(replace(RECIPE, negative="false"), inputs, tmp_path / "other")
    assert not (tmp_path / "other").exists()
    assert unknown_names({}, "no", {"train": {"labels.yes": 1}, "dev": {"labels.no": 1}}) == []


def test_other_counts_are_all_reported_and_leave_no_examples(tmp_path: Path, inputs: dict[str, Path]) -> None:
    expect = {"train": {"mentions": 5, "sentences": 3}, "dev": {"tokens": 1, "documents": 7}}
    with pytest.raises(PubmillError) as caught:
        convert(replace(RECIPE, expect=expect), inputs, tmp_path / "toy")
    message = str(caught.value)
    assert "train mentions: expected 5, found 3, difference -2" in message
    assert "dev tokens: expected 1, found 4, difference +3" in message
    assert "dev documents: expected 7, but none are marked" in message
    assert "sentences" not in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["devel.tsv", "train.tsv"]


@pytest.mark.parametrize(("change", "message"), [
    ({"expect": {"train": {"mention": 2}}}, "'mention'; what is counted is sentences, tokens"),
    ({"splits": ["train", "dev", "test"]}, "toy, test: .* a source 'test'; .* train, dev .*/toy.yaml.*[)]$"),
    ({"options": {"lables": "x"}}, "toy, train: (?s:.*)lables: unknown key(?s:.*)datasets/toy.yaml.*[)]$"),
    ({"options": {"labels": "bio"}},
     "toy, train: (?s:.*)labels: expected (?s:.*)specs/datasets/toy.yaml.*[)]$"),
    ({"kind": "span"}, "example train-000001: not of kind span"),
    ({"converter": "pubmill.convert.conll:nothing"}, "no converter"),
    ({"converter": "pubmill.convert.nowhere:read"}, "no converter"),
    ({"converter": "os:system"}, "'os:system' needs the source `converter`.*datasets/toy.yaml"),
])  # fmt: skip
def test_recipes_are_checked(
    tmp_path: Path, inputs: dict[str, Path], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(PubmillError, match=message):
        convert(replace(RECIPE, **change), inputs, tmp_path / "toy")
    assert not (tmp_path / "toy").exists()


def test_faults_are_reported_with_all_files_that_are_read(tmp_path: Path, inputs: dict[str, Path]) -> None:
    inputs["dev"].write_text("one column\n")
    with pytest.raises(PubmillError, match=r"^dataset toy, dev: .*devel\.tsv:1: expected[^\n]*$"):
        convert(RECIPE, inputs, tmp_path / "toy")
    inputs["dev"].write_text("one column\n")
    inputs["dev_marks"] = inputs["train"]
    with pytest.raises(PubmillError, match=r"devel\.tsv:1: .*\nRead together with train\.tsv$"):
        convert(RECIPE, inputs, tmp_path / "toy")


def reading(monkeypatch: pytest.MonkeyPatch, *examples: Example, fail: Exception | None = None) -> None:
    """Make the recipe's converter yield these examples, and then fail."""

    def read(given: ConverterInput) -> Iterator[Example]:
        yield from examples
        if fail:
            raise fail

    monkeypatch.setattr(conll, "read", read)


def test_a_converters_unsound_examples_are_reported(
    tmp_path: Path, inputs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases: list[tuple[list[Example], str]] = [
        ([GOOD, GOOD], r"example a: its id occurs twice; it .* from \S+/train\.tsv$"),
        ([GOOD, replace(GOOD, id="b", labels=[])], "example b: 1 words but 0 labels; it .* from "),
        ([GOOD, SEQUENCE], "example c: not of kind tokens; it .* from "),
        ([], r"there are no examples.*/train\.tsv\)$"),
    ]
    for examples, message in cases:
        reading(monkeypatch, *examples)
        with pytest.raises(PubmillError, match=f"dataset toy, train: {message}"):
            convert(RECIPE, inputs, tmp_path / "toy")
        assert not (tmp_path / "toy").exists()


@pytest.mark.parametrize("access", ["registration", "local", "credentialed"])
def test_an_unforeseen_error_on_licensed_text_reports_its_place_and_type_only(
    tmp_path: Path, inputs: dict[str, Path], monkeypatch: pytest.MonkeyPatch, access: Access
) -> None:
    reading(monkeypatch, fail=KeyError(f"the patient {CANARY}"))
    with pytest.raises(PubmillError) as caught:
        convert(replace(RECIPE, access=access), inputs, tmp_path / "toy")
    message = str(caught.value)
    assert "dataset toy, train: KeyError at test_dataset.py:" in message
    assert CANARY not in message and "withheld" in message
    assert caught.value.__suppress_context__ and caught.value.__cause__ is None
    with pytest.raises(KeyError, match="the patient"):  # public text is shown whole
        convert(RECIPE, inputs, tmp_path / "toy")


@pytest.mark.parametrize("planted", [CANARY, f"{CANARY} 1", f"{CANARY}\n1", "a1" * 30, "1\u00e9", ""])
def test_an_id_of_licensed_data_that_may_be_text_is_not_taken(
    tmp_path: Path, inputs: dict[str, Path], monkeypatch: pytest.MonkeyPatch, planted: str
) -> None:
    reading(monkeypatch, replace(GOOD, id="a1"), replace(GOOD, id=planted))
    with pytest.raises(PubmillError, match="toy, train: example number 2, read from .*not shown") as caught:
        convert(replace(RECIPE, access="registration"), inputs, tmp_path / "toy")
    assert CANARY not in str(caught.value)
    convert(replace(RECIPE, expect={}), inputs, tmp_path / "toy")


def test_no_type_of_a_licensed_file_is_in_the_card_unlisted(tmp_path: Path, inputs: dict[str, Path]) -> None:
    inputs["dev"].write_text(f"pain\tB-{CANARY}\n")
    recipe = replace(RECIPE, access="credentialed", expect={})
    assert CANARY not in str(convert(recipe, inputs, tmp_path / "toy"))
    typed = replace(recipe, options={"labels": "as_written"})
    with pytest.raises(PubmillError, match="toy, train: .*`types` is missing.*specs/datasets/toy.yaml"):
        convert(typed, inputs, tmp_path / "typed")


@pytest.mark.parametrize("access", ["public", "credentialed"])
def test_messages_quote_public_text_only(tmp_path: Path, inputs: dict[str, Path], access: Access) -> None:
    inputs["dev"].write_text(f"A\tO\n{CANARY} {CANARY}\n")
    with pytest.raises(PubmillError, match=r"devel\.tsv:2: expected `word<TAB>label`") as caught:
        convert(replace(RECIPE, access=access), inputs, tmp_path / "toy")
    assert (CANARY in str(caught.value)) is (access == "public")
    assert "'text'" in quote("text")  # withholding has ended with the conversion


OWN = """
from pubmill.convert.source_files import lines
from pubmill.examples.kinds import SequenceExample


def read(source):
    for number, line in lines(source.of_split()):
        label, _, text = line.partition(":")
        yield SequenceExample(id=str(number), document=None, text=text, label=label)
"""


def test_a_converter_of_ones_own_is_a_source(tmp_path: Path) -> None:
    """And a spec that names one needs that source, under the module's name."""
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "train").write_text("a:One text.\nb:Another text.\n")
    inputs = {"train": tmp_path / "train", "converter": tmp_path / "mine.py"}
    recipe = ConversionRecipe(
        dataset="own", kind="sequence", access="public", splits=("train",), converter="mine:read", options={},
        expect={"train": {"examples": 2, "labels.a": 1}}, metric="macro_f1", version=1,
    )  # fmt: skip
    convert(recipe, inputs, tmp_path / "out")
    assert [row["text"] for row in read_jsonl_gz(tmp_path / "out/train.jsonl.gz")] == [
        "One text.",
        "Another text.",
    ]
    for text, message in (
        (OWN.replace("def read", "def wrong"), "has no function 'read'"),
        ("import nothing_of_this_name", "can't be imported: ModuleNotFoundError"),
        (OWN.replace("str(number)", '"1"'), "example 1: its id occurs twice"),
    ):
        (tmp_path / "mine.py").write_text(text)
        with pytest.raises(PubmillError, match=message):
            convert(recipe, inputs, tmp_path / "out")
    (tmp_path / "mine.py").write_text(OWN.replace("str(number)", '"Tirso"'))
    message = (
        r"own, train: example number 1, .* expected an id of at most 40 .* found <5 characters, not shown"
    )
    with pytest.raises(PubmillError, match=message):
        convert(replace(recipe, access="credentialed"), inputs, tmp_path / "out")
