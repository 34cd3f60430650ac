"""The YAML reader: any file gives either a value or a message with file and line."""

import os
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import strict_yaml
from pubmill.specs.configuration import merged_config


def faults(path: Path, content: bytes) -> list[str]:
    path.write_bytes(content)
    errors: list[str] = []
    strict_yaml.read(path, "x.yaml", errors)
    return errors


@pytest.mark.parametrize(("content", "expected"), [
    ("a: 1\n<<: {b: 2}\n", "x.yaml:2: merge keys (<<) are not supported"),
    ("a: &a {b: 1}\nc:\n  <<: *a\n", "x.yaml:3: merge keys (<<) are not supported"),
    ("a: 1\nb: !!python/object/apply:os.system [ls]\n", "x.yaml:2: the tag 'tag:yaml.org,2002:python"),
    ("a: 1\nb: !mine {c: 1}\n", "x.yaml:2: the tag '!mine' is not supported"),
    ("a: !!binary aGk=\n", "x.yaml:1: the tag 'tag:yaml.org,2002:binary'"),
    ("a: 1\n? [b, c]\n: 2\n", "x.yaml:2: a sequence as a key; expected a name"),
    ("? {b: c}\n: 2\n", "x.yaml:1: a mapping as a key; expected a name"),
    ("? !mine b\n: 2\n", "x.yaml:1: the tag '!mine' is not supported"),
    ("a: &a [1, *a]\n", "x.yaml:1: an alias contains itself"),
    ("a: " + "{a: " * 3_000 + "}" * 3_000, "x.yaml:1: an alias contains itself, or keys and lists nest"),
    ("a: 1\nb: " + "9" * 5_000, "x.yaml:2: '99999"),
    ("a: 1e999\n", "x.yaml:1: '1e999' is not a valid finite number"),
    ("a: .nan\n", "x.yaml:1: '.nan' is not a valid finite number"),
    ("a: !!int x\n", "x.yaml:1: 'x' is not a valid finite number"),
    ("a: !!bool x\n", "x.yaml:1: 'x' is not a valid finite number"),
    ("a: 1\nb: \0\n", "x.yaml:2: holds the character U+0000"),
    ("a: 1\nb: \uffff\n", "x.yaml:2: holds the character U+FFFF"),
    ("a: 1\n---\nb: 2\n", "x.yaml:2: not valid YAML"),
    ("a: *b\n", "x.yaml:1: not valid YAML: found undefined alias"),
    ("a: [1\nb: 2\nc: 3\n", "x.yaml:1: not valid YAML: the bracket [ in column 4 is not closed"),
    ("a: 1\nb: {c: [1, 2\n", "x.yaml:2: not valid YAML: the bracket [ in column 8 is not closed"),
    ("a: 1\nb: {c: 1\nd\n", "x.yaml:2: not valid YAML: the brace { in column 4 is not closed"),
    ('a: 1\nb: "c\nd: 1\n', "x.yaml:2: not valid YAML: the quotation mark in column 4 is not closed"),
    ("%YAML 9.9\n---\na: 1\n", "x.yaml:1: not valid YAML"),
    ("- a\n- b\n", "x.yaml:1: expected keys with values, found a sequence"),
    ("a: 1\na: 2\n", "x.yaml:2: duplicate key 'a', first at x.yaml:1; remove one"),
])  # fmt: skip
def test_a_fault_is_one_message_with_its_line(tmp_path: Path, content: str, expected: str) -> None:
    errors = faults(tmp_path / "x.yaml", content.encode())
    assert len(errors) == 1 and expected in errors[0]
    assert len(errors[0]) < 250


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_another_encoding_is_an_error(tmp_path: Path, encoding: str) -> None:
    found = faults(tmp_path / "x.yaml", "a: 1\nb: naïve\n".encode(encoding))
    line = 2 if encoding == "latin-1" else 1
    assert found == [f"x.yaml:{line}: not UTF-8; save the file in that encoding"]


def test_what_is_read_as_which_values(tmp_path: Path) -> None:
    """Dates as text, powers as numbers, aliases as what they stand for; a byte order mark is passed over."""
    path = tmp_path / "x.yaml"
    path.write_text(
        "a: ü\nb: 2024-99-99\nc: 2024-01-01 10:00:00\nd: 1e-5\n2020-01-01: e\nf: &f {b: [1, 2]}\ng: *f\n",
        encoding="utf-8-sig",
    )
    errors: list[str] = []
    document = strict_yaml.read(path, "x.yaml", errors)
    assert not errors
    assert document.value == {
        "a": "ü", "b": "2024-99-99", "c": "2024-01-01 10:00:00", "d": 1e-5, "2020-01-01": "e",
        "f": {"b": [1, 2]}, "g": {"b": [1, 2]},
    }  # fmt: skip
    assert document.where(("g", "b", 1)) == "x.yaml:6"


def test_an_empty_file_is_read(tmp_path: Path) -> None:
    errors: list[str] = []
    (tmp_path / "x.yaml").write_bytes(b"")
    document = strict_yaml.read(tmp_path / "x.yaml", "x.yaml", errors)
    assert document.value == {} and document.where(("a", "b")) == "x.yaml:1" and not errors
    assert strict_yaml.YamlDocument({}).where(("a",)) == "?"


def test_the_root_is_on_the_line_where_it_begins(tmp_path: Path) -> None:
    path, errors = tmp_path / "x.yaml", list[str]()
    path.write_text("# comment\n\na:\n  b: 1\n  c: [1,\n    2]\n")
    document = strict_yaml.read(path, "x.yaml", errors)
    lines = {at: document.where(at) for at in ((), ("a",), ("a", "b"), ("a", "c", 1), ("a", "x"))}
    assert list(lines.values()) == [f"x.yaml:{line}" for line in (3, 3, 4, 6, 3)] and not errors


def test_a_file_is_read_again_as_it_is_now(tmp_path: Path) -> None:
    """Parsed files are kept in memory, but no change of one document shows in the next."""
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\na: 2\n")
    errors: list[str] = []
    first = strict_yaml.read(path, "x.yaml", errors)
    del first.value["a"], first.lines[("a",)]
    second = strict_yaml.read(path, "x.yaml", errors)
    assert second.value == {"a": 1} and second.where(("a",)) == "x.yaml:1"
    assert errors == ["x.yaml:2: duplicate key 'a', first at x.yaml:1; remove one"] * 2
    path.write_text("a: 3\n")
    assert strict_yaml.read(path, "x.yaml", errors).value == {"a": 3} and len(errors) == 2


def test_parts_are_the_documents_of_a_mappings_values(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("kinds:\n  one: {x: [1,\n    2]}\n  two: 5\nlist: [a]\n")
    document = strict_yaml.read(path, "x.yaml", [])
    parts = strict_yaml.parts(document, "kinds")
    assert {name: part.value for name, part in parts.items()} == {"one": {"x": [1, 2]}, "two": 5}
    assert parts["one"].where(("x", 1)) == "x.yaml:3" and () not in parts["one"].lines
    assert strict_yaml.parts(document, "list") == strict_yaml.parts(document, "absent") == {}


def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    (tmp_path / "gone.yaml").symlink_to("nothing")
    for path in sorted(tmp_path.iterdir()):
        errors: list[str] = []
        strict_yaml.read(path, "x.yaml", errors)
        assert errors == ["x.yaml:1: not a plain file; expected a YAML file"], path


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert faults(tmp_path / "x.yaml", b"a: 1") == ["x.yaml:1: cannot be read: Permission denied"]


@pytest.mark.parametrize(("text", "expected"), [
    ("title: a\ntitle: b\n", ":2: duplicate key 'title'"),
    ("__use_yte__: true\ntitle: ?open('ran', 'w')\n", ":1: __use_yte__: expressions are not evaluated"),
    ("title: a\n<<: {study: b}\n", ":2: merge keys"),
])  # fmt: skip
def test_a_study_is_read_strictly_before_snakemake_reads_it(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(PubmillError) as caught:
        merged_config(root / "config.yaml", [str(tmp_path / "mine.yaml")], [])
    assert str(caught.value).startswith(f"{tmp_path}/mine.yaml{expected}")
    assert not (tmp_path / "ran").exists()
