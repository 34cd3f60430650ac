"""Which form a file has by its name, and which members of an archive are read."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.formats import document_files
from pubmill.formats.offsets import Offsets, parse_offsets

PUBTATOR = "7|t|Old drug.\n7\t4\t8\tdrug\tChemical\n"
XML = (
    "<collection><document><id>7</id><passage><offset>0</offset><text>Old drug.</text>"
    '<annotation id="T1"><infon key="type">Chemical</infon><location offset="4" length="4"/>'
    "<text>drug</text></annotation></passage></document></collection>"
)
JSON = json.dumps(
    {"documents": [{"id": "7", "passages": [{
        "offset": 0, "text": "Old drug.", "annotations": [{
            "id": "T1", "infons": {"type": "Chemical"}, "text": "drug",
            "locations": [{"offset": 4, "length": 4}],
        }],
    }]}]}
)  # fmt: skip
FORMS = {
    "pubtator": PUBTATOR, "bioc-xml": XML, "bioc-json": JSON,
    "spans": '{"id": 7, "text": "Old drug.", "label": [[4, 8, "Chemical"]]}\n',
    "word-spans": '{"id": 7, "tokenized_text": ["Old", "drug", "."], "ner": [[1, 1, "Chemical"]]}\n',
}  # fmt: skip


def pack(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(("name", "form", "suffix"), [
    ("a.txt", "text", ".txt"), ("a.b.jsonl", "jsonl", ".jsonl"), ("a.json.gz", "bioc-json", ".json"),
    ("a.xml", "bioc-xml", ".xml"), ("a.pubtator.gz", "pubtator", ".pubtator"),
])  # fmt: skip
def test_the_suffix_before_gz_implies_the_format(name: str, form: str, suffix: str) -> None:
    assert (document_files.format_of(Path(name)), document_files.suffix_of(Path(name))) == (form, suffix)


@pytest.mark.parametrize("name", ["a.csv", "a.gz", "a", "a.txt.zip"])
def test_other_suffixes_imply_none(name: str) -> None:
    with pytest.raises(PubmillError) as caught:
        document_files.format_of(Path(name))
    assert str(caught.value) == (
        f"{name}: the suffix does not imply a format (.txt (text), .jsonl (jsonl), .json (bioc-json), .xml "
        "(bioc-xml), .pubtator (pubtator)); give --format"
    )


@pytest.mark.parametrize("form", FORMS)
def test_files_of_each_form_are_read_alone_packed_or_in_an_archive(tmp_path: Path, form: str) -> None:
    assert {*FORMS, "brat"} == document_files.ANNOTATED.keys()
    (tmp_path / "a").write_text(FORMS[form])
    (tmp_path / "a.gz").write_bytes(gzip.compress(FORMS[form].encode()))
    archive = pack(tmp_path / "a.zip", **{"sub/b": FORMS[form], "a": FORMS[form]})
    paths = (tmp_path / "a", tmp_path / "a.gz", archive)
    found = [one for path in paths for one in document_files.annotated_documents(path, form)]
    for one in found:
        assert one.id == "7" and one.passages[0].text.startswith("Old drug")
        assert [(m.start, m.end, m.type) for m in one.passages[0].mentions] == [(4, 8, "Chemical")]
    places = ["a", "a.gz", "a.zip:a", "a.zip:sub/b"]
    assert [one.where.rpartition(":")[0] for one in found] == [f"{tmp_path}/{place}" for place in places]
    [below] = document_files.annotated_documents(archive, form, "sub/")
    assert below.where == found[-1].where


@pytest.mark.parametrize("form", ["pubtator", "bioc-xml", "bioc-json"])
def test_mentions_that_differ_from_the_text_are_left_out_if_they_may(tmp_path: Path, form: str) -> None:
    path = tmp_path / "a"
    path.write_text(FORMS[form].replace("Old drug", "Odd drag"))
    with pytest.raises(PubmillError, match="differs from the text at its offset"):
        list(document_files.annotated_documents(path, form))
    [found] = document_files.annotated_documents(path, form, offsets=Offsets(leave_out=True))
    assert len(found.misplaced) == 1 and not found.passages[0].mentions


def test_members_below_a_folder_are_read_by_name_without_hidden_ones(tmp_path: Path) -> None:
    names = ["x/.DS_Store", "x/_note", "__MACOSX/x/b.txt", "x/annotation.conf", "x/README.md", "x/paper.pdf"]
    hidden = dict.fromkeys(names, "no")
    path = pack(tmp_path / "a.zip", **hidden, **{"x/b.txt": "\ufeffB", "x/a.txt": "A", "xy/c.txt": "C"})
    assert document_files.archived_texts(path) == {"x/a.txt": "A", "x/b.txt": "B", "xy/c.txt": "C"}
    assert list(document_files.archived_texts(path)) == ["x/a.txt", "x/b.txt", "xy/c.txt"]
    assert list(document_files.archived_texts(path, "x/")) == ["x/a.txt", "x/b.txt"]
    with pytest.raises(PubmillError) as caught:
        document_files.archived_texts(path, "z")
    assert str(caught.value) == f"{path}: there are no files below z"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", ""),
        ("last", "each end is the last character"),
        ("shift=1 passages", "each offset is 1 too small and they count from the start of each passage"),
        ("shift=-2", "each offset is 2 too large"),
        ("separator=0", "they count no character between title and abstract, or passages"),
        ("separator=2", "they count 2 character(s) between title and abstract, or passages"),
    ],
)
def test_what_differs_in_offsets_is_said_in_words(words: str, said: str) -> None:
    assert parse_offsets(words).described == said
