"""Many files of a split: rows of any form in an archive, words with labels joined, shards by number."""

import json
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from tests.unit.new_specs.test_other_forms import BIOC, PUBTATOR, RCT, WORDS, described

PAIR = '<QAPair pid="{0}"><Question qtype="{1}">Of what {0}?</Question><Answer>It is {0}.</Answer></QAPair>'
LINES = (("It is.,a", "It was.,b"), ("It were.,a", "It has.,b"))
ROW = '{{"id": "{0}", "text": "It is {0}.", "label": "{1}"}}'


def given(folder: Path, files: dict[str, str]) -> Path:
    for split in ("train", "test"):
        (folder / "given" / split).mkdir(parents=True)
        for name, text in files.items():
            (folder / "given" / split / name).write_text(text)
    return folder / "given"


@pytest.mark.parametrize(
    ("suffix", "texts", "options"),
    [
        (
            ".xml",
            [
                f"<Document><QAPairs>{PAIR.format('n0', 'a')}</QAPairs></Document>",
                f"<Document><QAPairs>{PAIR.format('n1', 'b')}{PAIR.format('n2', 'a')}</QAPairs></Document>",
                f"<Document><QAPairs>{PAIR.format('n3', 'b')}</QAPairs></Document>",
            ],
            {"record": "QAPair", "label": "Question/@qtype", "text": "Question", "text_pair": "Answer"},
        ),
        (
            ".xml",
            [f'<case label="{label}"><text>It is {n}.</text></case>' for n, label in enumerate("abab")],
            {"record": ".", "label": "@label", "text": "text"},
        ),
        (".json", [f"[{ROW.format(n, label)}]" for n, label in enumerate("abab")], {"label": "label"}),
        (".json", [ROW.format(n, label) for n, label in enumerate("abab")], {"label": "label"}),
        (".jsonl", ["\n".join(ROW.format(n, "ab"[n % 2]) for n in range(3)), ROW.format(3, "b")], {}),
        (".csv", [f"text,label\n{first}\n{second}\n" for first, second in LINES], {}),
        (".tsv", [f"text,label\n{first}\n{second}\n".replace(",", "\t") for first, second in LINES], {}),
    ],
    ids=["elements", "a row a file", "json", "objects", "jsonl", "csv", "tsv"],
)  # fmt: skip
def test_rows_of_many_files_are_read(
    tmp_path: Path, suffix: str, texts: list[str], options: dict[str, str]
) -> None:
    files = {f"{number}{suffix}": text for number, text in enumerate(texts)}
    spec, first = described(given(tmp_path, files), tmp_path)
    assert spec.expect["train"] == {"examples": 4, "labels.a": 2, "labels.b": 2}
    assert {key: spec.options.get(key) for key in options} == options
    assert spec.converter == "pubmill.convert.row_examples:sequence"
    assert first["train"]["label"] == "a" and (tmp_path / "data/mine/train.zip").is_file()


def test_files_of_words_are_joined(tmp_path: Path) -> None:
    files = {
        "1.txt": "Fever\tB-Sign\nrose\tO\n",
        "2.txt": "No\tO\npain\tB-Sign\n\n",
        "3.txt": "It\tO\n\nis\tO",
    }
    spec, first = described(given(tmp_path, files), tmp_path)
    assert spec.expect["train"] == {"sentences": 4, "tokens": 6, "mentions": 2}
    assert first["train"]["words"] == ["Fever", "rose"]
    assert [path.name for path in sorted((tmp_path / "data/mine").iterdir())] == ["test.conll", "train.conll"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("2.json", "[{]", r"train\.zip:2\.json: not valid JSON"),
        ("2.json", '{"a": [], "b": []}', r"train\.zip:2\.json: expected a list of objects"),
        ("2.md5", "0123", "its files are neither PubTator, BioC, brat, rows nor BioASQ's questions"),
    ],
)
def test_a_wrong_file_among_many_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    files = {"1.json": f"[{ROW.format(1, 'a')}, {ROW.format(2, 'b')}]", name: text}
    with pytest.raises(PubmillError, match=message):
        described(given(tmp_path, files), tmp_path)


SHARDS = ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001")


def write_shards(folder: Path, ending: str, text: str) -> Path:
    folder.mkdir()
    for name in SHARDS:
        (folder / f"{name}{ending}").write_text(text)
    return folder


def test_shards_of_json_lines_are_one_split(tmp_path: Path) -> None:
    rows = [{"text": f"It is {n}.", "label": "ab"[n % 2]} for n in range(4)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    spec, first = described(write_shards(tmp_path / "given", ".jsonl", text), tmp_path)
    assert spec.expect["train"] == {"examples": 8, "labels.a": 4, "labels.b": 4}
    assert set(spec.sources) == {"train", "train_2", "test"} and first["train"]["label"] == "a"


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        (".PubTator", PUBTATOR),
        (".json", json.dumps(BIOC)),
        (".json", json.dumps(WORDS) + "\n"),
        (".txt", RCT),
        (".tsv", "Aspirin\tB-Drug\nharms\tO\n\n"),
        (".tsv", "".join(f"Text {n} of words\t{label}\n" for n, label in enumerate("xyxyxy"))),
    ],
)
def test_shards_are_refused_where_one_file_is_read_for_each_split(
    tmp_path: Path, ending: str, text: str
) -> None:
    folder = write_shards(tmp_path / "given", ending, text)
    with pytest.raises(
        PubmillError, match=f"/{SHARDS[1]}{ending}: its split has two files, but of this form one is read"
    ):
        described(folder, tmp_path)
    assert not list(tmp_path.rglob("*.yaml"))
