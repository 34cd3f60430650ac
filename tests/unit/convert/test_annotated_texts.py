"""How annotated documents become labelled sentences: what is kept, left out with a count, or refused."""

import json
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert import annotated_texts
from pubmill.convert.source_files import ConverterInput, SpecError
from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample, WordSpan
from pubmill.formats.documents import InputDocument, Passage, TextMention
from tests.world.punkt import punkt_zip

TEXT = "Renal or liver failure."


def annotation(kind: str, *pieces: tuple[int, int], **infons: str) -> dict[str, Any]:
    """Return BioC's annotation of pieces of the text."""
    text = TEXT[pieces[0][0] : pieces[0][1]]
    locations = [{"offset": start, "length": end - start} for start, end in pieces]
    return {"text": text, "infons": {"type": kind, **infons}, "locations": locations}


def bioc(*annotations: Mapping[str, Any]) -> str:
    passage = {"offset": 0, "text": TEXT, "annotations": annotations}
    return json.dumps({"documents": [{"id": "7", "passages": [passage]}]})


def source(
    folder: Path, text: str, split: str = "train", files: Mapping[str, str] | None = None, **options: Any
) -> ConverterInput:
    inputs = {}
    for name, content in {"train": text, **(files or {})}.items():
        inputs[name] = folder / name
        inputs[name].write_text(content)
    return ConverterInput(split, inputs, {"form": "bioc-json", **options}, Counter())


def labelled(given: ConverterInput) -> tuple[list[str], Counter[str]]:
    """Return the labels of the only sentence, and what is left out."""
    [found] = annotated_texts.mentions(given)
    assert (found.id, found.document) == (f"{given.split}-000001", "7")
    assert found.words == ["Renal", "or", "liver", "failure", "."]
    return found.labels, given.left_out


WHOLE = annotation("D", (0, 22), CompositeRole="CompositeMention")
PART = annotation("D", (9, 22), CompositeRole="IndividualMention")
PIECES = annotation("D", (0, 5), (15, 22))


@pytest.mark.parametrize(("composite", "labels", "left_out"), [
    ("whole", ["B-D", "I-D", "I-D", "I-D", "O"], {"composite_parts": 2}),
    ("parts", ["B-D", "O", "B-D", "I-D", "O"], {"composite_wholes": 1}),
])  # fmt: skip
def test_wholes_or_parts_are_kept(
    tmp_path: Path, composite: str, labels: list[str], left_out: dict[str, int]
) -> None:
    first = annotation("D", (0, 5), CompositeRole="IndividualMention")
    given = source(tmp_path, bioc(WHOLE, first, PART), composite=composite)
    assert labelled(given) == (labels, left_out)


def test_pieces_and_misplaced_mentions_are_read_or_counted(tmp_path: Path) -> None:
    covers = source(tmp_path, bioc(PIECES), discontinuous="covers")
    assert labelled(covers) == (["B-D", "I-D", "I-D", "I-D", "O"], {})
    both = bioc(PIECES, annotation("D", (15, 22)))
    left = source(tmp_path, both, discontinuous="leave_out")
    assert labelled(left) == (["O", "O", "O", "B-D", "O"], {"discontinuous_mentions": 1})
    wrong = {**annotation("D", (0, 5)), "text": "renal"}
    given = source(tmp_path, bioc(wrong, wrong), misplaced="leave_out")
    assert labelled(given) == (["O"] * 5, {"misplaced_mentions": 2})
    with pytest.raises(PubmillError, match="its text differs from the text at its offset"):
        labelled(source(tmp_path, bioc(wrong)))


@pytest.mark.parametrize(("found", "expected"), [
    (PART, "composite mentions (at character 9), which can be read in several ways; give the converter's "
     "option `composite`: `whole` or `parts`"),
    (PIECES, "mentions of several pieces (at character 0), which can be read in several ways; give the "
     "converter's option `discontinuous`: `covers` or `leave_out`"),
])  # fmt: skip
def test_two_readings_need_an_option(tmp_path: Path, found: dict[str, Any], expected: str) -> None:
    with pytest.raises(SpecError) as caught:
        labelled(source(tmp_path, bioc(found)))
    assert str(caught.value) == f"{tmp_path}/train: document 1: there are {expected}"
    # those of other types are not read at all
    assert labelled(source(tmp_path, bioc(found), types=["E"]))[1] == {"mentions_of_other_types": 1}


def test_overlapping_mentions_need_an_option_and_adjacent_or_equal_ones_do_not(tmp_path: Path) -> None:
    liver, failure = annotation("A", (9, 15)), annotation("B", (15, 22))
    adjacent = bioc(failure, liver, liver)
    assert labelled(source(tmp_path, adjacent)) == (["O", "O", "B-A", "B-B", "O"], {"repeated_mentions": 1})
    overlapping = bioc(liver, annotation("B", (14, 22)))
    with pytest.raises(SpecError) as caught:
        labelled(source(tmp_path, overlapping))
    assert str(caught.value) == (
        f"{tmp_path}/train: document 1: mentions of 7 overlap at character 14, and a word has one label; "
        "give the converter's option `overlaps`: `longest` or `shortest`"
    )
    nested = bioc(annotation("A", (9, 14)), annotation("B", (9, 22)))
    for overlaps, labels in (("longest", ["B-B", "I-B"]), ("shortest", ["B-A", "O"])):
        given = source(tmp_path, nested, overlaps=overlaps)
        assert labelled(given) == (["O", "O", *labels, "O"], {"overlapping_mentions": 1})
    [found] = annotated_texts.nested_mentions(source(tmp_path, nested))
    assert found.mentions == [WordSpan(2, 3, "A"), WordSpan(2, 4, "B")]


@pytest.mark.parametrize("types", [["A"], {"A": "A", "C": "B"}])
def test_kept_types_may_have_other_names_and_others_are_counted(tmp_path: Path, types: Any) -> None:
    given = bioc(*(annotation(kind, span) for kind, span in (("A", (0, 5)), ("B", (6, 8)), ("C", (9, 14)))))
    labels, left_out = labelled(source(tmp_path, given, types=types))
    third, others = ("B-B", 1) if isinstance(types, dict) else ("O", 2)
    assert (labels[:3], left_out) == (["B-A", "O", third], {"mentions_of_other_types": others})


def test_divided_words_stay_whole_and_an_unknown_form_is_refused(tmp_path: Path) -> None:
    row = {"id": 7, "tokenized_text": ["non-small", "cell."], "ner": []}
    given = source(tmp_path, json.dumps(row), form="word-spans")
    assert list(annotated_texts.mentions(given)) == [
        TokensExample(id="train-000001", document="7", words=["non-small", "cell."], labels=["O", "O"])
    ]
    with pytest.raises(SpecError) as caught:
        list(annotated_texts.mentions(source(tmp_path, "", form="bioc")))
    assert str(caught.value) == (
        "the converter's option `form` is 'bioc'; give one of pubtator, bioc-json, bioc-xml, brat, spans, "
        "word-spans, drugprot"
    )


def documents(*names: str) -> str:
    return json.dumps(
        {"documents": [{"id": name, "passages": [{"offset": 0, "text": "One."}]} for name in names]}
    )


def test_a_split_is_documents_that_a_file_names_or_that_are_held_out(tmp_path: Path) -> None:
    text = documents("1", "2", "3")
    given = source(tmp_path, "", "dev", {"archive": text, "dev_documents": " 3 \n\n1\n"})
    assert [one.document for one in annotated_texts.mentions(given)] == ["1", "3"]
    given = source(tmp_path, "", "dev", {"archive": text, "dev_documents": "8\n2\n9\n"})
    with pytest.raises(PubmillError) as caught:
        list(annotated_texts.mentions(given))
    assert str(caught.value) == f"{tmp_path}/dev_documents: 2 of 3 documents are missing, first 8"
    names = [f"d{number}" for number in range(10)]
    files = {"test": documents("t1")}
    found: dict[str, list[str]] = {}
    for split in ("train", "dev", "test"):
        held = source(tmp_path, documents(*names), split, files, held_out={"share": 0.3, "seed": 1})
        found[split] = [str(one.document) for one in annotated_texts.mentions(held)]
    assert found["test"] == ["t1"] and len(found["dev"]) == 3
    assert sorted(found["train"] + found["dev"]) == names
    with pytest.raises(PubmillError, match=r"train: there are no documents in it"):
        list(annotated_texts.mentions(source(tmp_path, documents(), held_out={"share": 0.3, "seed": 1})))


def document(*passages: tuple[int, str]) -> InputDocument:
    return InputDocument(
        id="7", where="in:1", passages=[Passage(text=text, offset=offset) for offset, text in passages]
    )


def test_passages_stand_at_their_offsets_with_line_feeds_between() -> None:
    assert annotated_texts.document_text(document((6, "Two."), (0, "One."))) == "One.\n\nTwo."
    assert annotated_texts.document_text(document((0, "One."), (4, "Two."))) == "One.Two."
    assert annotated_texts.document_text(document((2, "One."))) == "\n\nOne."
    assert (
        len(annotated_texts.document_text(document((0, "One."), (4 + annotated_texts.FURTHEST, "Two."))))
        == 8 + annotated_texts.FURTHEST
    )
    # an empty passage, as for an absent abstract, may have any offset
    assert annotated_texts.document_text(document((0, ""), (0, "One."), (2, ""), (99_999, ""))) == "One."


@pytest.mark.parametrize(
    ("offset", "fault"), [(3, "overlaps the one before it"), (10_005, "begins 10,001 characters after it")]
)
def test_passages_that_overlap_or_stand_far_apart_are_refused(offset: int, fault: str) -> None:
    with pytest.raises(PubmillError) as caught:
        annotated_texts.document_text(document((0, "One."), (offset, "Two.")))
    assert str(caught.value) == (
        f"in:1: the passage at offset {offset} {fault}; offsets must count characters from the start of the "
        "document"
    )


@pytest.mark.parametrize(("sentences", "parts"), [
    ("lines", ["Ask Dr. Who. It is. no", "End."]), ("stops", ["Ask Dr.", "Who.", "It is. no", "End."]),
    ("punkt", ["Ask Dr. Who.", "It is.", "no", "End."]),
])  # fmt: skip
def test_sentences_end_as_the_option_says(tmp_path: Path, sentences: Any, parts: list[str]) -> None:
    (tmp_path / "punkt.zip").write_bytes(punkt_zip())
    given = ConverterInput("train", {"punkt": tmp_path / "punkt.zip"}, {}, Counter())
    text = "Ask Dr. Who. It is. no\nEnd."
    ends = annotated_texts.sentence_ends(given, annotated_texts.TextReading(form="brat", sentences=sentences))
    for _ in range(2):  # the splitter is kept
        places = [0, *ends(text), len(text)]
        found = [text[one:other].strip() for one, other in pairwise(places)]
        assert list(filter(None, found)) == parts


def mention(start: int, end: int, role: str = "", spans: tuple[tuple[int, int], ...] = ()) -> TextMention:
    return TextMention(start=start, end=end, type="D", text="", role=role, spans=spans)


def with_mentions(*found: TextMention) -> InputDocument:
    passages = [Passage(text="", offset=0, mentions=list(found))]
    return InputDocument(id="7", where="", passages=passages)


@pytest.mark.parametrize(("given", "needed"), [
    (with_mentions(mention(0, 2), mention(2, 4), mention(0, 2)), {}),
    (with_mentions(mention(0, 9, "whole"), mention(0, 2, "part")), {"composite": "whole"}),
    (with_mentions(mention(0, 9, spans=((0, 2), (7, 9)))), {"discontinuous": "covers"}),
    (with_mentions(mention(2, 5), mention(0, 3)), {"overlaps": "longest"}),
])  # fmt: skip
def test_documents_need_the_options_of_what_they_have(given: InputDocument, needed: dict[str, str]) -> None:
    assert annotated_texts.needed_readings([with_mentions(), given]) == needed
    assert annotated_texts.has_overlaps(given) == ("overlaps" in needed)
