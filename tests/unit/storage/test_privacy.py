"""Everything derived from licensed text is labelled and private: words, pieces, tokens, weights."""

import json
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.errors import PubmillError
from pubmill.examples.sentences import FOLDER, TABLES
from pubmill.storage import privacy
from pubmill.storage.files import read_json, write_jsonl_gz
from pubmill.storage.parquet import access_of_parts, parquet_writer
from pubmill.storage.privacy import LABEL, access_of, keep_private
from tests.unit.pretraining.toy_pretraining import changed
from tests.unit.programs import run_verb, start
from tests.unit.tiny_encoders import tiny_bert
from tests.unit.toy_tasks import SYLLABLES, TOKENS, write_dataset
from tests.unit.toy_vocabs import TEXTS


@pytest.fixture(autouse=True)
def open_to_all(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make files readable by all, unless a program restricts them."""
    monkeypatch.setitem(privacy._PROCESS, "access", "public")
    before = os.umask(0o022)
    yield
    os.umask(before)


def spoil_modes(folder: Path) -> None:
    """Make all files readable by all, as `rsync --no-perms` or `chmod -R` does."""
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def modes(folder: Path) -> set[int]:
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else [folder]
    return {path.stat().st_mode & 0o777 for path in files}


def test_one_private_input_is_enough_and_the_strictest_class_holds(tmp_path: Path) -> None:
    public, private = tmp_path / "public", tmp_path / "folder" / "private"
    private.parent.mkdir()
    for path, mode in ((public, 0o644), (private, 0o600)):
        path.touch(mode)
    keep_private([public, tmp_path / "absent"])
    (tmp_path / "one").touch()
    keep_private([public, private.parent])
    (tmp_path / "two").touch()
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("one", "two")] == [0o644, 0o600]
    for name, access in (("a", "registration"), ("b", "credentialed"), ("c", "public")):
        (tmp_path / name).mkdir()
        (tmp_path / name / LABEL).write_text(json.dumps({"access": access}))
    privacy._PROCESS["access"] = "public"
    assert keep_private([tmp_path / "a", tmp_path / "c"]) == "registration"
    assert keep_private([tmp_path / "b"]) == "credentialed"
    assert keep_private([tmp_path / "a"]) == "credentialed"


Program = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Run a program in the test's folder; its output."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, **options: object) -> Path:
        os.umask(0o022)  # each is a process of its own
        monkeypatch.setitem(privacy._PROCESS, "access", "public")
        spoil_modes(tmp_path)
        start(name, *(f"--{key}={value}" for key, value in options.items()))
        return tmp_path / str(options["output"])

    return run


@pytest.mark.parametrize("private", [True, False])
def test_from_words_to_a_model(tmp_path: Path, private: bool, program: Program) -> None:
    table = pa.table({"id": [str(n) for n in range(len(TEXTS))], "text": TEXTS})
    for number in range(2):
        licensed = private and number == 1
        with parquet_writer(tmp_path / f"part-000{number}.parquet", table.schema, licensed) as writer:
            writer.write_table(table)
    with zipfile.ZipFile(tmp_path / "punkt.zip", "w") as archive:
        for name in TABLES:
            archive.writestr(f"{FOLDER}/{name}", "")
    for part in ("part-0000.parquet", "part-0001.parquet"):
        counted = {"parts": part, "folder": "words", "output": f"words/blocks/{part}.json"}
        program("count_words", recipe=json.dumps({"splitting": "bert-uncased"}), **counted)
    vocab = {"kind": "wordpiece", "size": 100, "lowercase": True}
    recipe = asdict(changed(steps=2, sequence_length=16, batch_size=2))
    mode, access = ({0o600}, "credentialed") if private else ({0o644}, "public")
    assert modes(tmp_path / "words" / "part-0001.parquet") == mode
    assert access_of_parts([tmp_path / "words/part-0000.parquet"]) == "public"
    assert access_of_parts([tmp_path / "words/part-0001.parquet"]) == access
    made = program("train_vocab", recipe=json.dumps(vocab), words="words", parts=2, output="vocab")
    assert modes(made) == mode and access_of(made) == access
    packed = {"corpus": ".", "parts": 2, "vocab": "vocab", "punkt": "punkt.zip", "output": "tokens"}
    made = program("pack", recipe=json.dumps({"held_out": 0.3}), **packed)
    assert modes(made) == mode and access_of(made) == access
    made = program(
        "pretrain", recipe=json.dumps(recipe), tokens="tokens", vocab="vocab", to=2, output="run/step-2"
    )
    assert modes(made) == mode and access_of(made) == access
    source = {"kind": "pretraining", "recipe": "toy", "step": 2}
    weights = {"model": "toy", "lowercase": True, "weights": source, "pretraining": recipe}
    made = program(
        "export_model", recipe=json.dumps(weights), checkpoint="run/step-2", vocab="vocab", output="model"
    )
    assert modes(made) == mode and access_of(made) == access


def test_the_index_of_licensed_data_and_what_it_finds_are_private(tmp_path: Path, program: Program) -> None:
    text = " ".join(TEXTS)
    row = {"id": "secret-1", "document": None, "text": text}
    write_jsonl_gz(tmp_path / "datasets/a/test.jsonl.gz", [row])
    (tmp_path / "datasets/a/card.json").write_text('{"access": "credentialed"}')
    table = pa.Table.from_pylist([{"id": "1", "pmid": "", "title": "", "text": text}])
    pq.write_table(table, tmp_path / "part-0000.parquet")
    recipe = json.dumps({"datasets": [{"dataset": "a", "splits": ["test"], "pmids": False}]})
    made = program("index_evaluation_texts", datasets="datasets", recipe=recipe, output="index.parquet")
    assert modes(made) == {0o600} and access_of_parts([made]) == "credentialed"
    found = {"parts": "part-0000.parquet", "index": "index.parquet", "folder": "found"}
    made = program("find_contamination", **found, output="found/blocks/a.json")
    assert modes(tmp_path / "found") == {0o600}
    made = program(
        "contamination", corpus="c", index="index.parquet", found="found", parts=1, output="c.json"
    )
    assert modes(made) == {0o600} and "secret-1" in made.read_text()


@pytest.mark.parametrize("private", [True, False])
def test_from_examples_to_annotations(tmp_path: Path, private: bool, program: Program) -> None:
    tiny_bert(tmp_path / "model", SYLLABLES)
    dataset = write_dataset(tmp_path / "dataset", "tokens")
    (dataset / "card.json").write_text('{"access": "%s"}' % ("registration" if private else "public"))
    mode, access = ({0o600}, "registration") if private else ({0o644}, "public")
    recipe = json.dumps(asdict(TOKENS))
    run = {"recipe": recipe, "model": "model", "dataset": dataset, "seeds": 1, "split": "test"}
    made = program("finetune", **run, keep="kept", output="runs/runs.json")
    made = made.with_name("seed-1.predictions.jsonl.gz")
    assert modes(made.parent) == modes(tmp_path / "kept") == mode
    assert access_of(made) == access_of(tmp_path / "kept") == access
    alone = tmp_path / "elsewhere.gz"
    alone.write_bytes(made.read_bytes())
    assert access_of(alone) == access
    report = read_json(made.with_name("seed-1.training.json"))
    assert report.get("access", "public") == access
    (tmp_path / "kept" / LABEL).unlink(missing_ok=True)
    (tmp_path / "kept/training.json").unlink()
    assert access_of(tmp_path / "kept") == access  # by its card
    (tmp_path / "new.txt").write_text("ba be\n")
    made = tmp_path / "out/new.jsonl"
    assert run_verb("predict", tmp_path / "kept", tmp_path / "new.txt", made).returncode == 0
    assert modes(made.parent) == mode
    assert access_of(made) == access


def test_the_access_of_corpus_parts_is_the_strictest_of_their_labels(tmp_path: Path) -> None:
    def part(name: str, **labels: str) -> Path:
        table = pa.table({"id": ["1"]}).replace_schema_metadata(labels)
        pq.write_table(table, tmp_path / name)
        return tmp_path / name

    unlabelled, public = part("a"), part("b", access="public")
    assert access_of_parts([]) == access_of_parts([unlabelled, public]) == "public"
    assert access_of_parts([public, part("c", access="registration")]) == "registration"
    assert access_of_parts([part("d", private="no", access="registration")]) == "registration"
    assert access_of_parts([part("e", private="yes", access="public"), public]) == "credentialed"
    with pytest.raises(PubmillError, match="f: "):
        access_of_parts([part("f", access="open")])
    (tmp_path / "g").write_bytes(b"no Parquet")
    with pytest.raises(PubmillError, match="g is damaged: it is no whole Parquet file"):
        access_of_parts([tmp_path / "g"])


@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, '{"access": "open"}', '{"access": ["public"]}', '{"access": null}']
)
def test_a_label_that_cannot_be_read_is_no_permission(tmp_path: Path, text: str) -> None:
    (tmp_path / LABEL).write_text(text)
    with pytest.raises(PubmillError, match=rf"{LABEL}: "):
        keep_private([tmp_path])
