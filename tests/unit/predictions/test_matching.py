"""Each prediction belongs to one example; files of which that is unclear are refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from tests.unit.predictions import toy_datasets as toy

Change = Callable[[list[str]], list[str]]


def changed(content: str, change: Change) -> str:
    return "\n".join(change(content.splitlines())) + "\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda lines: lines[:-1],
            r"found 11 predictions: 1 missing \(1006.T12\).*With `pubmill score --par",
        ),
        (lambda lines: [*lines, lines[0]], r"found 13 predictions: 1 repeated \(1000.T1\)"),
        (lambda lines: [lines[0].replace("T1", "T9"), *lines[1:]], r"1 unknown \(1000.T9\); 1 missing"),
        (lambda lines: [lines[0].replace('"id": "1000.T1", ', ""), *lines[1:]], "no id, although other"),
        (lambda lines: ["{" + line.partition(", ")[2] for line in lines], "neither ids nor"),
    ],
)
def test_ids_must_be_those_of_the_dataset_once(change: Change, message: str, tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    with pytest.raises(PubmillError, match=message) as caught:
        toy.score(tmp_path, "rel", changed(toy.jsonl("rel"), change))
    assert "othing was scored" in str(caught.value) or "give an id" in str(caught.value)


def test_lines_with_ids_may_be_in_any_order(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    content = changed(toy.jsonl("rel"), lambda lines: lines[::-1])
    assert toy.score(tmp_path, "rel", content).metrics["micro_f1"] == 1.0


def test_ids_of_another_variant_are_recognised(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel", "rel@this")
    toy.make(tmp_path, "rel", "rel@other")
    (tmp_path / "datasets/rel@empty").mkdir()
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
REFUSED: list[tuple[str, str, str]] = [
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
    assert toy.score(tmp_path, "ner", content).metrics["entity_f1"] == 1.0
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
