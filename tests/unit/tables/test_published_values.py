"""Published values as DataFrames, and lines of their files."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.recipes.tables import Composite
from pubmill.tables import published_values
from pubmill.tables.cells import PublishedValue
from tests.unit import toy_tables as made_up


def test_the_values_of_a_papers_table_are_numbers_beside_their_text(root: Path) -> None:
    found = published_values.published("gu2020", "table06", root / "specs")
    assert list(found.columns) == [*published_values.NAMES, "value", "printed", "note"]
    assert not found.duplicated(published_values.NAMES).any()
    printed = found.dropna(subset="value")
    assert (printed["printed"].astype(float) == printed["value"]).all() and len(printed) > 100
    assert (found["note"][found["value"].isna()] != "").all()


def test_blank_values_and_quoted_notes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(made_up.HEADER + 'a,b,c,,"not reported, ""as is"""\nNA,null,c,-1.50,\n')
    blank, value = published_values.read_published(path).to_dict("records")
    assert (blank["printed"], blank["note"]) == ("", 'not reported, "as is"')
    assert (value["column"], value["row"], value["value"], value["printed"]) == ("NA", "null", -1.5, "-1.50")


@pytest.mark.parametrize(("text", "message"), [
    ('a,b,c,1,"two\nlines"\n\na,b,d,x,\n', ":5: the value 'x' is not a number"),
    ('a,b,c,1,"two\r\nlines"\na,b,c,2,\n', ":4: duplicate entry a / b / c"),
    ("a,b,c,1,\na,b,d,2,,\n", ":3: expected 5 fields"), ("a,b,c,1,\na,b,d,2,,,,,\n", ":3: expected 5 fields"),
    ("a,b,c,1,\n\n\na,b,d,2\n", ":5: expected 5 fields"),
    ("a,b,c,nan,\n", ":2: the value 'nan' is not a number"),
    ("a,b,c,,\n", ":2: the value '' is not a number"),
    ("a,b,mrr,x,\na,b,entity_f1,841,\na,b,steps,841,\n",
     ":3: entity_f1 is a score of 0 to 100 points, not 841"),
])  # fmt: skip
def test_errors_name_the_line_of_the_file(tmp_path: Path, text: str, message: str) -> None:
    """Also after blank lines, after notes of several lines, and after another mistake."""
    path = tmp_path / "t.csv"
    path.write_text(made_up.HEADER, newline="")
    assert published_values.read_published(path).empty
    path.write_text(made_up.HEADER + text, newline="")
    with pytest.raises(PubmillError) as error:
        published_values.read_published(path)
    assert f"{path}{message}" in str(error.value)


def test_wrong_values_and_values_without_a_cell_are_one_error(tmp_path: Path) -> None:
    path = tmp_path / "table06.published.csv"
    path.write_text(made_up.PUBLISHED)
    published_values.check_published(path, made_up.recipe())
    path.write_text(made_up.PUBLISHED + "bret,bc2gm,entity_f1,80.9,\nbert,hoc,micro_f1,8O.9,\n")
    with pytest.raises(PubmillError) as refused:
        published_values.check_published(path, made_up.recipe())
    for part in ("the value '8O.9' is not a number", "no cell bret / bc2gm / entity_f1", "; the nearest: "):
        assert part in str(refused.value)
    path.write_text("column,row\n")
    with pytest.raises(PubmillError) as once:
        published_values.check_published(path, made_up.recipe())
    assert str(once.value).count("the header is") == 1


HEADER_WANTED = r"t\.csv:1: the header is .*, expected \['column'"


@pytest.mark.parametrize(("content", "message"), [
    (b"", HEADER_WANTED), (b"\n", HEADER_WANTED), (b"row;column\n", HEADER_WANTED),
    (b"column,row,metric,value,note,more\n", HEADER_WANTED),
    (b"a" * 100_000, r"the header is \['a{198}, expected"),
    (made_up.HEADER.encode() + b"a,b,c,1,caf\xe9\n", r"t\.csv: not a CSV file in UTF-8"),
])  # fmt: skip
def test_another_header_or_no_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(PubmillError, match=message):
        published_values.published_lines(tmp_path / "t.csv")


def value(printed: str) -> PublishedValue:
    return PublishedValue(value=float(printed), printed=printed, note="")


COMPOSITE = Composite(name="c", label="C", groups={"a": ("x", "y"), "b": ("z",)})


@pytest.mark.parametrize(("printed", "again"), [
    ("75.1", None), ("74.9", None), ("75.2", 75.0), ("74.8", 75.0), ("75.05", None), ("75.06", 75.0),
    ("75", None),
])  # fmt: skip
def test_a_composite_that_does_not_follow_from_its_parts_is_computed_again(
    printed: str, again: float | None
) -> None:
    """Mean of 70.0 and 80.0, and of that with 75.00, each rounded by at most 0.05; and its own rounding."""
    parts = {"x": value("70.0"), "y": value("80.0"), "z": value("75.00")}
    found = published_values.with_recomputed(COMPOSITE, value(printed), parts)
    assert found is not None and found.recomputed == again


def test_a_composite_with_a_part_that_is_not_printed_is_as_printed() -> None:
    parts: dict[str, PublishedValue | None] = {"x": value("70.0"), "y": None, "z": value("75.00")}
    assert published_values.with_recomputed(COMPOSITE, value("99.0"), parts) == value("99.0")
    assert published_values.with_recomputed(COMPOSITE, None, parts) is None
    twice = Composite(name="c", label="C", groups={"a": ("x",), "b": ("x",)})
    found = published_values.with_recomputed(twice, value("71.0"), {"x": value("70.0")})
    assert found is not None and found.recomputed == 70.0, "one part may stand in two groups"
