"""What is said of the files of a new dataset beside their form: other readings, what is unread, doubts."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.new_specs.file_forms import label_of
from tests.unit.new_specs.conftest import Found
from tests.unit.new_specs.files import CHOICES, MARKED, PUBTATOR, TEXTS, asked, labelled, lines


def test_what_else_can_be_read_and_what_is_not_read_is_named(found: Found) -> None:
    form = found({"train.PubTator": PUBTATOR}).form
    assert (form.kind, form.metric, form.negative) == ("relations", "relation_f1", None)
    assert form.others == {
        "pairs": "1 relations between concepts, a pair at a time, with one label",
        "nested": "all of 3 mentions, which overlap in 1 documents",
        "mentions": "the longest of 3 mentions, one label a word",
    }
    train, test = labelled(70, id=range(35)), labelled(10, id=range(10))
    made = found({"train.jsonl": lines(train), "test.jsonl": lines(test)})
    line = "35 of 70 rows of train have the id of another; examples are numbered instead"
    assert made.form.notes == (line,) and made.values["notes"] == [line] and "id" not in made.form.options
    more: dict[str, Sequence[Any]] = {
        "source": ["web"], "meta": [{"a": 1}, {"a": 2}], "tags": [["x"]], "named": [[{"name": "Mice"}]],
    }  # fmt: skip
    form = found({"train.jsonl": lines(labelled(8, **more))}).form
    assert form.unread == ("source", "meta", "tags", "named")
    rows = [f"{n}\t{'ab'[n % 2]}\tThe text {n}.\tA further text.\tMany words here {n}.\n" for n in range(4)]
    form = found({"train.tsv": "n\tkind\tone\ttwo\tthree\n" + "".join(rows)}).form
    assert form.options["columns"] == ["id", "label", "skip", "skip", "text"]
    assert form.unread == ("one", "two")
    mentions: dict[str, Sequence[Any]] = {
        "entities": [[{"start": 0, "end": 2, "type": "Word", "text": "It"}]], "sentence_id": [1, 1, 2],
    }  # fmt: skip
    documents = [{key: row[key] for key in ("text", *mentions)} for row in labelled(6, **mentions)]
    form = found({"train.jsonl": lines(documents)}).form
    assert form.kind == "tokens" and form.unread == ("sentence_id",)


def test_doubts_are_told_with_their_counts(found: Found) -> None:
    train = labelled(40, label=("yes", "Yes", "no", "maybe"))
    test = [*labelled(8, label=["no"]), {"text": "A new text here.", "label": "never "}]
    assert found({"train.jsonl": lines(train), "test.jsonl": lines(test)}).cautions == (
        "8 inputs of test are also in train", "1 label of test is not in train: never  (1)",
        "3 labels of train are not in test: Yes (10), maybe (10), yes (10)",
        "2 labels differ only in case or white space: 'Yes' (10), 'yes' (10)",
    )  # fmt: skip
    text = lines(train)
    same = found({"train.jsonl": text, "test.jsonl": text})
    assert same.cautions[0] == f"test and train are of files with the same {len(text):,} bytes"


def test_choices_become_the_second_text_or_a_part_of_the_only_one(found: Found) -> None:
    shown = "(A) aspirin (B) heparin (C) rest (D) none of these"
    one = found({"train.jsonl": lines(asked(options=[TEXTS], answer=TEXTS))})
    first = one.first["train"]
    assert (first["text"], first["text_pair"], first["label"]) == ("What helps patient 0?", shown, "A")
    several = found({"train.jsonl": lines(asked(options=[CHOICES], correct_answers=[["A"], ["A", "B"]]))})
    assert several.first["train"]["text"] == f"What helps patient 0? {shown}"


@pytest.mark.parametrize(("labels", "metric", "negative"), [
    (("FALSE", "HARMS"), "micro_f1", "FALSE"), (("CAUSES", "HARMS"), "macro_f1", None),
])  # fmt: skip
def test_scores_leave_out_the_negative_label(
    found: Found, labels: tuple[str, str], metric: str, negative: str | None
) -> None:
    rows = [{**row, "label": labels[n % 2]} for n, row in enumerate(MARKED)]
    form = found({"train.jsonl": lines(rows)}).form
    assert (form.task, form.metric, form.negative) == ("relation", metric, negative)


@pytest.mark.parametrize(("different", "rows", "length", "known"), [
    (50, 100, 50, True), (51, 102, 50, False), (50, 99, 50, False), (50, 100, 51, False), (2, 4, 1, True),
    (1, 100, 1, False),
])  # fmt: skip
def test_a_label_has_few_and_short_values(different: int, rows: int, length: int, known: bool) -> None:
    text, label = tuple(map(str, range(rows))), tuple(f"{n % different:0{length}}" for n in range(rows))
    with nullcontext() if known else pytest.raises(PubmillError, match="f:1: no column looks like a label"):
        assert label_of({"text": text, "label": label}, "f:1", "column") == "label"


def test_a_label_is_named_as_one_or_has_words_and_few_values() -> None:
    columns = {"place": ["1", "1", "2", "2"], "id": ["a1", "a2", "a3", "a4"], "qtype": ["a", "b", "a", "b"]}
    assert label_of(columns, "f", "key") == "qtype"
    assert label_of({**columns, "label": ["0", "1", "0", "0"]}, "f", "key") == "label"


def swapped(label: str, mark: str = "-") -> str:
    return mark.join(reversed(label.split("-")))


def words(spell: Callable[[str], str], separator: str = "\t") -> str:
    """Return two sentences with each label as `spell` writes it."""
    labels = {"Mice": "B-Species", "got": "O", "renal": "B-Disease", "failure": "I-Disease", ".": "O"}
    first = "".join(f"{word}{separator}{spell(label)}\n" for word, label in labels.items())
    return f"{first}\nThey{separator}{spell('O')}\n\n"


@pytest.mark.parametrize(("text", "options"), [
    (words(lambda one: "0" if one == "O" else one), {"outside": "0"}),
    (words(str.lower), {"outside": "o", "spelling": "b-TYPE"}),
    (words(lambda one: one.replace("-", "_")), {"spelling": "B_TYPE"}),
    (words(lambda one: one.replace("-", ":")), {"spelling": "B:TYPE"}),
    (words(swapped), {"spelling": "TYPE-B"}), (words(str, " "), {"separator": "blank"}),
    (words(lambda one: "0" if one == "O" else swapped(one, "_")), {"outside": "0", "spelling": "TYPE_B"}),
    (words(str, "    "), {"separator": "white_space"}), (words(str, " \t "), {"separator": "white_space"}),
    (words(lambda one: one[2:] or "O"), {"scheme": "bare"}),
    (words(lambda one: one.replace("B-S", "S-S").replace("I-", "E-")), {"scheme": "iobes"}),
    (words(lambda one: one.replace("B-S", "W-S").replace("I-", "E-")) + "a\tB-X\nb\tM-X\nc\tE-X\n",
     {"scheme": "bmewo"}),
    ("".join("\t".join(line.split("\t")[::-1]) + "\n" for line in words(str).split("\n")[:-1]),
     {"columns": ["label", "word"]}),
])  # fmt: skip
def test_labels_of_words_have_many_spellings(found: Found, text: str, options: dict[str, Any]) -> None:
    made = found({"train.tsv": text})
    assert made.form.options == {"labels": "as_written", **options}
    read = ["B-Species", "O", "B-Disease", "I-Disease", "O"]
    if options.get("spelling") == "b-TYPE":
        read = [label[:1] + label[1:].lower() for label in read]
    assert made.first["train"]["labels"] == read
