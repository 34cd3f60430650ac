"""Each prediction belongs to one example, by id, text or order; where that is unclear, a file is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import MultilabelExample, RegressionExample, SequenceExample, TokensExample
from pubmill.predictions.ordered_form import order_of
from pubmill.predictions.submission import Submission, read_submission
from pubmill.recipes.submissions import SubmissionRecipe
from tests.unit.predictions import toy_datasets as toy

Change = Callable[[list[str]], list[str]]


def changed(content: str, change: Change) -> str:
    return "\n".join(change(content.splitlines())) + "\n"


def test_ids_may_be_in_any_order_and_those_of_another_variant_are_recognised(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel", "rel@this")
    toy.make(tmp_path, "rel", "rel@other")
    (tmp_path / "datasets/rel@empty").mkdir()
    backwards = changed(toy.jsonl("rel"), lambda lines: lines[::-1])
    assert toy.score(tmp_path, "rel@this", backwards).metrics["micro_f1"] == 1.0
    content = toy.jsonl("rel").replace('"id": "100', '"id": "150')
    with pytest.raises(PubmillError, match="These are the ids of rel@other, another variant"):
        toy.score(tmp_path, "rel@this", content)
    with pytest.raises(PubmillError) as refused:
        toy.score(tmp_path, "rel@this", changed(content, lambda lines: lines[1:]))
    assert "another variant" not in str(refused.value)


def by_ids(ids: Callable[[Any], str]) -> str:
    return "".join(json.dumps({"id": ids(one), "label": toy.gold(one)}) + "\n" for one in toy.examples("rel"))


def shuffled_table() -> str:
    header, *rows = (line.partition("\t") for line in toy.indexed_tsv().splitlines())
    texts = [text for _, _, text in rows][::-1]
    return f"{''.join(header)}\n" + "".join(f"{number}\t{text}\n" for number, text in enumerate(texts))


SENTENCES = toy.conll().strip().split("\n\n")
DOCUMENTS = toy.pubtator().strip().split("\n\n")
LINES = toy.jsonl("rel").splitlines()
REFUSED: list[tuple[str, str, str]] = [
    *(("rel", "\n".join([*lines, ""]), message) for lines, message in (
        (LINES[:-1], r"found 11 predictions: 1 missing \(1006.T12\).*`pubmill score --par"),
        ([*LINES, LINES[0]], r"found 13 predictions: 1 repeated \(1000.T1\).*othing was scored"),
        ([LINES[0].replace("T1", "T9"), *LINES[1:]], r"1 unknown \(1000.T9\); 1 missing.*othing was scored"),
        ([LINES[0].replace('"id": "1000.T1", ', ""), *LINES[1:]], "no id, although other.*give an id"),
        (["{" + line.partition(", ")[2] for line in LINES], "neither ids nor"),
    )),
    ("rel", by_ids(lambda one: f"{one.id}_{one.label}"), "The ids hold the gold labels"),
    # all beginnings and ends of such an id would take hours
    ("rel", toy.jsonl("rel").replace('"id": "', '"id": "' + "a" * 5_000_000, 1), "1 unknown .*; 1 missing"),
    ("rel", toy.blurb_tsv().replace("In 2 assays", "In two assays"), r":2: the text of 1001.T2 is not the"),
    ("rel", toy.jsonl("rel").replace('{"id"', '{"dataset": "ddi", "id"'), "predictions for ddi, not for rel"),
    ("rel", changed(toy.indexed_tsv(), lambda lines: lines[:-1]), ": 11 predictions without ids"),
    ("rel", shuffled_table(), "in another order.*no ids"),
    ("ner", "\n".join(SENTENCES[::-1]) + "\n\n", "in another order, and"),
    ("ner", toy.conll().replace("aspirin", "Aspirin", 1), r"differ from the dataset's from .*:1 on"),
    ("ner", toy.conll().replace("Case\tO\n", "", 1), "words differ"),
    ("ner", toy.conll().replace("\tO\n", "\tO\nextra\tO\n", 1), "words differ"),
    ("ner", toy.conll().rpartition("Case")[0], r"at the end \(143 words, expected 156\)"),
    ("ner", toy.jsonl("ner").replace('["O", ', "[", 1), "12 labels for the 13 words"),
    ("ner", "\n\n".join([*DOCUMENTS[1:], ""]), r"5 documents of the dataset once: 1 missing \(500\)"),
    ("ner", "\n\n".join([DOCUMENTS[0], *DOCUMENTS, ""]), r"1 repeated \(500\)"),
    ("ner", toy.pubtator().replace("not cured", "not healt"), "lacks words of the dataset"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), REFUSED, ids=range(len(REFUSED)))
def test_other_ids_texts_and_words_are_refused(name: str, content: str, message: str, tmp_path: Path) -> None:
    toy.make(tmp_path, name)
    with pytest.raises(PubmillError, match=message):
        toy.score(tmp_path, name, content)


def test_five_ids_are_listed(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    for number, ends in ((5, r"1002\.T5\)"), (6, r"1002\.T5, \.\.\.\)")):
        content = "".join(toy.jsonl("rel").splitlines(keepends=True)[number:])
        with pytest.raises(PubmillError, match=rf"{number} missing \(1000\.T1, .*{ends}"):
            toy.score(tmp_path, "rel", content)


@pytest.mark.parametrize("name", toy.KINDS)
def test_the_gold_of_every_kind_is_recognised_in_ids(name: str, tmp_path: Path) -> None:
    toy.make(tmp_path, name)
    first = toy.examples(name)[0]
    gold = toy.gold(first)
    said = {"doc": ",".join, "qa": lambda answers: answers[0], "ner": "".join}.get(name, str)(gold)
    for wrong in (f"{first.id}_{said}", f"{said}_{first.id}"):
        content = toy.jsonl(name).replace(json.dumps(first.id), json.dumps(wrong), 1)
        with pytest.raises(PubmillError, match=r"1 unknown .* The ids hold the gold labels"):
            toy.score(tmp_path, name, content)
    more = [json.loads(line) for line in toy.jsonl(name).splitlines()]
    with pytest.raises(PubmillError, match="12 unknown") as caught:  # some of which have no label
        toy.score(tmp_path, name, [row | {"id": f"{row['id']}_more"} for row in more])
    assert "hold the gold labels" not in str(caught.value)


def test_words_beside_an_id_must_be_those_of_its_example(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    content = toy.conll(ids=True)
    with pytest.raises(PubmillError, match=r"the words of test-000001 are not the dataset's: another var"):
        toy.score(tmp_path, "ner", content.replace("aspirin", "Aspirin", 1))


def test_spans_without_ids_are_matched_by_the_text_of_their_sentence(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    rows: Any = toy.examples("ner")
    given = [{"text": " ".join(one.words), "mentions": toy.spans(one)} for one in rows]
    content = toy.jsonl_of(given)
    assert toy.score(tmp_path, "ner", content).metrics["entity_f1"] == 1.0
    with pytest.raises(PubmillError, match=r"1 of 12 predictions stand beside texts that are not the"):
        toy.score(tmp_path, "ner", content.replace("aspirin", "Aspirin", 1))
    with pytest.raises(PubmillError, match=r"12 of 12 predictions stand beside the dataset's texts in"):
        toy.score(tmp_path, "ner", changed(content, lambda lines: lines[::-1]))


SEQUENCE = [SequenceExample(id=name, document=None, text=name, label="no") for name in "abc"]
LABELS = {
    "tokens": ("Disease",), "sequence": ("maybe", "no", "yes"), "regression": (), "multilabel": ("b", "a"),
}  # fmt: skip
EXAMPLES: dict[str, list[Any]] = {
    "tokens": [
        TokensExample(id="a", document=None, words=["Flu", "came", "."], labels=["O"] * 3),
        TokensExample(id="b", document=None, words=["No", "flu"], labels=["O"] * 2),
    ],
    "sequence": SEQUENCE,
    "regression": [RegressionExample(id=n, document=None, text=n, text_pair=n, score=1.0) for n in "ab"],
    "multilabel": [MultilabelExample(id=name, document=None, text=name, labels=[]) for name in "ab"],
}
YES_NO_MAYBE = ["yes", "no", "maybe"]
BEGIN, IN, OUT, PAD = [5.0, 0.0, 1.0], [0, 2, 1], [0.1, 0.2, 3.0], [-100.0] * 3  # scores of B, I and O


def submitted(folder: Path, kind: Any, text: str, **changes: Any) -> Submission:
    recipe = SubmissionRecipe(
        dataset="toy", kind=kind, access="public", split="test", metric="accuracy", labels=LABELS[kind],
        **{"order": "export", **changes},
    )  # fmt: skip
    (folder / "file").write_text(text)
    return read_submission(folder / "file", recipe, EXAMPLES[kind])


def read(folder: Path, kind: Any, text: str, **changes: Any) -> list[Any]:
    """Read predictions; return the value of each example, in order."""
    lines = submitted(folder, kind, text, **changes).lines
    assert [line["id"] for line in lines] == [one.id for one in EXAMPLES[kind]]
    return [next(value for name, value in line.items() if name != "id") for line in lines]


PIECES = {  # the second word of the first sentence has two
    "predictions": [[OUT, BEGIN, IN, OUT, OUT, OUT], [OUT, OUT, BEGIN, OUT, PAD, PAD]],
    "word_ids": [[None, 0, 1, 1, 2, None], [None, 0, 1, None]],
    "label_ids": [[-100, 2, 2, -100, 2, -100], [-100, 2, 2, -100, -100, -100]],
}
LOGITS = {"logits": [[0, 1, 3], [0, 5, 1], [9, -1, 2]], "labels": [0, 0, 0]}


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("tokens", "B-Disease O O\nO B-Disease\n", [["B-Disease", "O", "O"], ["O", "B-Disease"]]),
        ("tokens", json.dumps([["S-Disease", "O", "O"], ["O", "O"]]), [["B-Disease", "O", "O"], ["O", "O"]]),
        ("tokens", json.dumps(PIECES), [["B-Disease", "I-Disease", "O"], ["O", "B-Disease"]]),
        ("sequence", "yes\nno\nmaybe\n", YES_NO_MAYBE), ("sequence", "[2, 1, 0]", YES_NO_MAYBE),
        ("sequence", "index\tprediction\n0\tyes\n1\t1\n2\tmaybe\n", YES_NO_MAYBE),
        ("sequence", json.dumps(LOGITS), YES_NO_MAYBE),
        ("regression", "index\tprediction\n0\t1.250\n1\t3.0\n", [1.25, 3.0]),
        ("regression", json.dumps({"predictions": [[0.5], [4.0]]}), [0.5, 4.0]),
        ("multilabel", json.dumps({"predictions": [[0.5, 4], [-1, -2.0]]}), [["a", "b"], []]),
        ("tokens", "B-Disease O O\n", "1 predictions for the 2 examples of toy"),
        ("tokens", "B-Disease O\nO O\n", "2 labels for the 3 words of a"),
        ("tokens", "B-Disease O x\nO O\n", "expected BIO labels"),
        ("tokens", json.dumps({"predictions": [[BEGIN]], "label_ids": [[0]]}), "and `word_ids` where words"),
        ("tokens", json.dumps({"logits": [[BEGIN], [BEGIN]], "word_ids": [[0], [0]]}), "1 labels for the 3"),
        ("tokens", json.dumps({"logits": [[[1]], [BEGIN]], "word_ids": [[0], [0]]}), "item 1: expected a"),
        ("tokens", json.dumps([[0, 0, 1], [1, 1]]), "item 1: numbers in place of labels"),
        ("multilabel", json.dumps({"logits": [[1], [1]]}), "item 1: expected a list of 2 numbers"),
        ("tokens", "B-Gene O O\nO O\n", "label that the dataset lacks: Gene"),
        ("sequence", "yes\nno\n\nno\n", "4 predictions for the 3 examples"),
        ("sequence", "index\tprediction\n0\tyes\n2\tno\n3\tno\n", "file:3: expected the row number 1"),
        ("sequence", "[2, 1, 3]", "label that the dataset lacks: 3"),
        ("sequence", json.dumps({"logits": [[1, 2], [1, 2], [2, 1]]}), "item 1: expected a list of 3"),
        ("sequence", json.dumps({"logits": [["a"]] * 3}), "item 1: expected a list of 3"),
        ("sequence", json.dumps({"gold": [1, 2, 3]}), "expected a list of predictions, or an object"),
        ("regression", "low\nhigh\n", "file:1: .*expected a finite number"),
        ("regression", "index\tprediction\n0\t1.5\n1\thigh\n", "file:3: .*expected a finite number"),
    ],
)  # fmt: skip
def test_predictions_follow_the_examples_or_are_refused(
    tmp_path: Path, kind: str, text: str, expected: list[Any] | str
) -> None:
    if not isinstance(expected, str):
        assert read(tmp_path, kind, text) == expected
        return
    with pytest.raises(PubmillError, match=expected):
        read(tmp_path, kind, text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("tokens", "B-Disease O O\nO B-Disease\n"),
        ("sequence", "index\tprediction\n0\tyes\n1\t1\n2\tmaybe\n"),
        ("sequence", json.dumps({"predictions": [[1, 2, 3]] * 3, "label_ids": [0, 0, 0]})),
    ],
)
def test_without_the_order_the_option_is_named(tmp_path: Path, kind: str, text: str) -> None:
    with pytest.raises(PubmillError, match="of `pubmill export`, add `--order export`"):
        read(tmp_path, kind, text, order=None)


@pytest.mark.parametrize(
    "text",
    [
        "yes\nno\n", "a\tyes\nb\tno\nd\tno\n", '[{"id": "a", "label": "x"}, 1, 2]',
        "id,prediction\na,yes\nb,no\n",  # with the headings, as many lines as examples
        '{"id": "a", "label": "yes"}\n{"id": "b", "label": "no"}\n',
        "document,guess\na,yes\nb,no\n",
    ],
)  # fmt: skip
def test_a_file_of_another_order_has_no_such_advice(tmp_path: Path, text: str) -> None:
    with pytest.raises(PubmillError) as refused:
        read(tmp_path, "sequence", text, order=None)
    assert "--order" not in str(refused.value)


def test_scores_are_said_to_be_read_and_the_order_is_that_of_ids(tmp_path: Path) -> None:
    text = json.dumps({"predictions": [[1, 2, 3]] * 3, "label_ids": [0, 0, 0]})
    assert submitted(tmp_path, "sequence", text).reading.by_rule == {"scores": 3}
    assert order_of(SEQUENCE) != order_of(SEQUENCE[::-1])
