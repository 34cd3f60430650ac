"""JSON text: what a message says of a fault, and what it never shows."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.formats.json_text import json_line, parse_json, parse_row, read_rows


@pytest.mark.parametrize(("text", "fault"), [
    ('{"a": 1', "not valid JSON: Expecting ',' delimiter at character 7"),
    ('{"a": 1\n', "not valid JSON: Expecting ',' delimiter at character 8"),
    ('{"a":\n secret}', "not valid JSON: Expecting value at line 2 column 2"),
    ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key c occurs twice in one object"),
    ("[" * 100_000, "nested too deeply, or a number too long, to be read"),
    ("9" * 5000, "nested too deeply, or a number too long, to be read"),
])  # fmt: skip
def test_faults_have_their_place(text: str, fault: str) -> None:
    with pytest.raises(PubmillError) as caught:
        parse_json(text, "in")
    assert str(caught.value) == f"in: {fault}"


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_are_numbers_unless_only_json_s_own_are_asked_for(constant: str) -> None:
    assert repr(parse_json(f"[{constant}]", "in")) == repr([float(constant)])
    with pytest.raises(PubmillError) as caught:
        parse_json(f"[{constant}]", "in", numbers_only=True)
    assert str(caught.value) == f"in: {constant} is no finite number"
    assert parse_json("[1.5]", "in", numbers_only=True) == [1.5]


@pytest.mark.parametrize(("text", "found"), [("[1]", "list"), ("null", "NoneType"), ('"secret"', "str")])
def test_a_row_is_an_object(text: str, found: str) -> None:
    with pytest.raises(PubmillError) as caught:
        parse_row(text, "in:7")
    assert str(caught.value) == f"in:7: expected an object in JSON, found {found}"


def test_every_line_is_a_row_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "in").write_text('{"a": "é"}\n{}\n')
    expected = [(f"{tmp_path}/in:1", {"a": "é"}), (f"{tmp_path}/in:2", {})]
    assert list(read_rows(tmp_path / "in")) == expected
    (tmp_path / "in").write_text("{}\n\n")
    with pytest.raises(PubmillError, match="in:2: not valid JSON"):
        list(read_rows(tmp_path / "in"))
    assert json_line({"a": "é"}) == '{"a": "é"}\n'
