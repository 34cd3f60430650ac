"""Documents as new datasets: without documents or mentions, and the types of related mentions."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.new_specs.annotated_forms import documents_form, form_of_documents
from pubmill.new_specs.file_forms import NOTHING, Given

TEXT = "1|t|Aspirin harms.\n1|a|It causes renal failure.\n"
MENTIONS = "1\t0\t7\tAspirin\tChemical\tD1\n1\t25\t38\trenal failure\tDisease\tD2\n"


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    ("name", "text", "form", "fault"),
    [
        ("a.json", '{"documents": [],\n"passages": 0}', "bioc-json", "there are no documents in"),
        ("a.txt", TEXT + "\n", "pubtator", "its documents have no mentions; write the spec by hand"),
        ("a.txt", TEXT + "1\tCID\tD1\tD2\n\n", "pubtator", "its documents have no mentions; write the spec"),
    ],
)
def test_documents_without_mentions_are_refused(
    tmp_path: Path, name: str, text: str, form: str, fault: str
) -> None:
    path = written(tmp_path, name, text)
    assert form_of_documents(path) == form
    with pytest.raises(PubmillError, match=f"{name}: {fault}"):
        documents_form({"train": path}, form, NOTHING)


def test_types_that_are_related_in_both_directions_are_one_pair_in_the_more_frequent_order(
    tmp_path: Path,
) -> None:
    text = TEXT + MENTIONS + "1\tCID\tD2\tD1\n1\tCID\tD1\tD2\n1\tOTHER\tD1\tD2\n\n"
    form = documents_form({"train": written(tmp_path, "a.txt", text)}, "pubtator", NOTHING)
    assert form.options == {
        "form": "pubtator", "sentences": "stops", "arguments": "concepts",
        "pairs": [["Chemical", "Disease"]], "labels": ["CID", "OTHER"],
    }  # fmt: skip
    assert (form.kind, form.metric, form.negative) == ("relations", "relation_f1", None)
    assert form.others == {
        "pairs": "3 relations between concepts, a pair at a time, with one label",
        "mentions": "all of 2 mentions, one label a word",
    }
    pairs = documents_form({"train": tmp_path / "a.txt"}, "pubtator", Given("pairs"))
    assert (pairs.kind, pairs.metric, pairs.negative) == ("sequence", "micro_f1", "none")
    assert pairs.options == {**form.options, "negative": "none", "several": "each"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "1|t\n"), ("a.txt", "1\t2|t|x\n"), ("a.xml", "<pairs/>"), ("a.json", '{"sentences": []}'),
        ("a.json", '{"passages": [], "sentences": []}'), ("a.json", '[{"id": 1, "passages": []}]'),
        ("a.jsonl", '{"text": "x"\n'),
    ],
)  # fmt: skip
def test_other_files_have_no_form_of_documents(tmp_path: Path, name: str, text: str) -> None:
    assert form_of_documents(written(tmp_path, name, text)) is None


@pytest.mark.parametrize("text", ['{"documents": [],\n"passages": 0}', '[{"documents": [],\n"passages": 0}]'])
def test_a_collection_or_a_list_of_one_is_bioc(tmp_path: Path, text: str) -> None:
    assert form_of_documents(written(tmp_path, "a.json", text)) == "bioc-json"
