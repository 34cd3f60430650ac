"""Published values as DataFrames, and lines of their files."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.tables.published_values import NAMES, published, published_lines, read_published
from tests.unit import toy_tables as made_up


def test_the_values_of_a_papers_table_are_numbers_beside_their_text(root: Path) -> None:
    found = published("gu2020", "table06", root / "specs")
    assert list(found.columns) == [*NAMES, "value", "printed", "note"]
    assert not found.duplicated(NAMES).any()
    printed = found.dropna(subset="value")
    assert (printed["printed"].astype(float) == printed["value"]).all() and len(printed) > 100
    assert (found["note"][found["value"].isna()] != "").all()


def test_blank_values_and_quoted_notes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(made_up.HEADER + 'a,b,c,,"not reported, ""as is"""\nNA,null,c,-1.50,\n')
    blank, value = read_published(path).to_dict("records")
    assert (blank["printed"], blank["note"]) == ("", 'not reported, "as is"')
    assert (value["row"], value["column"], value["value"], value["printed"]) == ("NA", "null", -1.5, "-1.50")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b,c,1,"two\nlines"\n\na,b,d,x,\n', ":5: the value 'x' is not a number"),
        ('a,b,c,1,"two\r\nlines"\na,b,c,2,\n', ":4: duplicate entry a / b / c"),
        ("a,b,c,1,\na,b,d,2,,\n", ":3: expected 5 fields"),
        ("a,b,c,1,\na,b,d,2,,,,,\n", ":3: expected 5 fields"),
        ("a,b,c,1,\n\n\na,b,d,2\n", ":5: expected 5 fields"),
    ],
)
def test_errors_name_the_line_of_the_file(tmp_path: Path, text: str, message: str) -> None:
    """Also after blank lines, and after notes of several lines."""
    path = tmp_path / "t.csv"
    path.write_text(made_up.HEADER + text, newline="")
    with pytest.raises(PubmillError) as error:
        read_published(path)
    assert f"{path}{message}" in str(error.value)


@pytest.mark.parametrize("text", ["", "\n", "row;column\n", "row,column,metric,value,note,more\n"])
def test_another_header_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(PubmillError, match=r"t\.csv:1: the header is .*, expected \['row'"):
        published_lines(path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(made_up.HEADER.encode() + b"a,b,c,1,caf\xe9\n")
    with pytest.raises(PubmillError, match=r"t\.csv: not a CSV file in UTF-8"):
        published_lines(path)


def test_a_file_with_a_header_only_has_no_values(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(made_up.HEADER)
    assert read_published(path).empty
