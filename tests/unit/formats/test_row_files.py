"""Files of rows: JSON, tables, Parquet and XML as mappings, and what a wrong file says."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from pubmill.errors import PubmillError
from pubmill.formats.row_files import label_names, rows, texts_of, value_at


def read(folder: Path, name: str, text: str, record: str = "") -> list[tuple[str, Any]]:
    """Return the rows of a file, with their places below its name."""
    path = folder / name
    path.write_text(text)
    return [(where.removeprefix(str(path)), row) for where, row in rows(path, record)]


@pytest.mark.parametrize(("text", "expected"), [
    ('{"a": 1}\n{"a": {"b": 2}}\n', [(":1", {"a": 1}), (":2", {"a": {"b": 2}})]),
    ('[{"a": 1}, {"a": 2}]', [(": item 1", {"a": 1}), (": item 2", {"a": 2})]),
    ('{"version": 1,\n "data": [{"a": 1}]}', [(": item 1", {"a": 1})]),
    ('{"a": 1, "b": "x"}\n', [(": item 1", {"a": 1, "b": "x"})]),
    ('{"x": {"a": 1}, "y": {"id": 5}}', [(": item 1", {"id": "x", "a": 1}), (": item 2", {"id": 5})]),
])  # fmt: skip
def test_json_may_have_many_forms(tmp_path: Path, text: str, expected: list[tuple[str, Any]]) -> None:
    assert read(tmp_path, "in.json", text) == read(tmp_path, "in.jsonl", text) == expected


XML = """<Set>
 <Pair n="1"><!-- no --><Ask kind="a">What  <b>is</b>
 it?</Ask><Answer>One.</Answer><Answer>Two.</Answer></Pair>
 <More><Pair n="2"/></More>
</Set>
"""
HEADINGS = ":1: expected at least two headings, all different"


@pytest.mark.parametrize(("name", "text", "expected"), [
    *(("in.json", text, ": expected a list of objects, objects by id, or an object on each line")
      for text in ("5", "[1]", '{"a": [{}], "b": [{}]}', '{"a": {}, "b": 1}', '{"a": [1]}')),
    *(("in.csv", text, HEADINGS) for text in ("", "a\n1\n", "a,b,a\n1,2,3\n")),
    ("in.csv", "a,b\n1,2\n1,2,3\n", ":3: expected 2 columns, found 3"),
    ("in.csv", "a,b\n1\n", ":2: expected 2 columns, found 1"),
    ("in.csv", 'a,b\n1,"2"3\n', ":2: not valid CSV: ',' expected after '\"'"),
    ("in.xml", XML, ": there is no element (no `record` is given) in it"),
])  # fmt: skip
def test_files_of_another_form_are_refused(tmp_path: Path, name: str, text: str, expected: str) -> None:
    with pytest.raises(PubmillError) as caught:
        read(tmp_path, name, text)
    assert str(caught.value) == f"{tmp_path}/{name}{expected}"


@pytest.mark.parametrize(("name", "mark"), [("in.csv", ","), ("in.tsv", "\t")])
def test_rows_of_tables_have_the_names_of_their_headings(tmp_path: Path, name: str, mark: str) -> None:
    text = f'a{mark}b\n1{mark}"two\nlines"\n\n{mark}x\n'
    assert read(tmp_path, name, text) == [
        (":3", {"a": "1", "b": "two\nlines"}), (":5", {"a": "", "b": "x"}),
    ]  # fmt: skip


def test_rows_of_xml_have_the_paths_below_an_element(tmp_path: Path) -> None:
    assert read(tmp_path, "in.xml", XML, "Pair") == [
        (":2", {"@n": "1", "Ask": "What is it?", "Ask/@kind": "a", "Ask/b": "is", "Answer": "One.\nTwo."}),
        (":4", {"@n": "2"}),
    ]  # fmt: skip
    for record in (".", "Set"):
        [(where, row)] = read(tmp_path, "in.xml", XML, record)
        assert where == ":1" and row["Pair/@n"] == "1" and row["More/Pair/@n"] == "2"
    [(where, row)] = read(tmp_path, "in.xml", XML, "More/Pair")
    assert row == {"@n": "2"}
    with pytest.raises(PubmillError, match="there is no element Triple in it"):
        read(tmp_path, "in.xml", XML, "Triple")


def parquet(path: Path, metadata: Any = None) -> Path:
    table = pyarrow.table({"a": [1, 2], "b": [{"c": "x"}, {"c": "y"}]})
    if metadata is not None:
        table = table.replace_schema_metadata({"huggingface": json.dumps(metadata)})
    pyarrow.parquet.write_table(table, path)
    return path


def test_parquet_has_nested_rows_no_text_and_the_names_of_labels(tmp_path: Path) -> None:
    path = parquet(tmp_path / "in.parquet")
    assert list(rows(path)) == [
        (f"{path}: row 1", {"a": 1, "b": {"c": "x"}}), (f"{path}: row 2", {"a": 2, "b": {"c": "y"}}),
    ]  # fmt: skip
    assert list(texts_of(path)) == []
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(PubmillError, match=r"in\.parquet: not a whole Parquet file \(ArrowInvalid\); fetch"):
        list(rows(path))
    assert label_names(path) == {}
    features = {
        "label": {"names": ["no", "yes"], "_type": "ClassLabel"},
        "tags": {"feature": {"names": ["O", "B"]}, "_type": "Sequence"},
        "text": {"dtype": "string"},
        "pairs": [{"names": ["x"]}],
    }
    path = tmp_path / "in.parquet"
    expected = {"label": ["no", "yes"], "tags": ["O", "B"]}
    assert label_names(parquet(path, {"info": {"features": features}})) == expected
    others: tuple[Any, ...] = ([1], {}, None)
    for other in others:
        assert label_names(parquet(path, other)) == {}


def test_an_archive_has_the_rows_of_all_its_files_and_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("b.csv", "a,b\n1,2\n")
        archive.writestr("README.md", "no rows")
        archive.writestr("a/x.jsonl", '{"a": 1}\n{"a": 2}\n')
    assert list(rows(path)) == [
        (f"{path}:a/x.jsonl:1", {"a": 1}), (f"{path}:a/x.jsonl:2", {"a": 2}),
        (f"{path}:b.csv:2", {"a": "1", "b": "2"}),
    ]  # fmt: skip
    assert [name for name, _ in texts_of(path)] == ["a/x.jsonl", "b.csv"]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("c.txt", "no rows")
    with pytest.raises(PubmillError) as caught:
        list(rows(path))
    assert str(caught.value) == (
        f"{path}:c.txt: expected a file that ends with .jsonl, .json, .csv, .tsv, .parquet, .xml"
    )
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README.md", "no rows")
    with pytest.raises(PubmillError, match=r"in\.zip: there are no files below its top$"):
        list(rows(path))
    with pytest.raises(PubmillError) as caught:
        read(tmp_path, "in.txt", "a")
    assert str(caught.value).startswith(f"{tmp_path}/in.txt: expected a file that ends with .jsonl, ")


def test_a_value_has_a_key_or_a_path_of_keys() -> None:
    row = {"a": {"b": {"c": 1}}, "a.b": 2, "x": [5], "none": None}
    assert [value_at(row, name) for name in ("a.b", "a.b.c", "a", "x")] == [2, 1, row["a"], [5]]
    assert [value_at(row, name) for name in ("none", "b", "x.0", "a.b.c.d", "a.x.c")] == [None] * 5
