"""`pubmill export`: published and general forms, its comparison of bytes, and what is missing."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from pubmill.examples.kinds import Example, TokensExample, write_examples
from tests.unit.programs import Ended, make_checkout, run_verb

Export = Callable[..., Ended]

SPEC = """\
name: toy
kind: tokens
task: ner
domain: biomedical
sources: {train: {url: "https://example.org/train.tsv", unchecked: made up}}
splits: [train]
access: public
licence: none
converter: pubmill.convert.conll:read
options: {labels: first_character}
expect: {train: {mentions: 1}}
published:
  writer: pubmill.convert.conll:write
  files: {train: {name: train.tsv, sha256: HASH}}
metric: entity_f1
version: 1
"""
TOKENS = b"pain\tB\nor\tO\n\n"


@pytest.fixture
def export(tmp_path: Path) -> Export:
    """Runs the verb on specs of its own."""
    folder = tmp_path / "specs"
    (folder / "scales").mkdir(parents=True)
    (folder / "datasets").mkdir()
    for scale in ("demo", "full"):
        (folder / f"scales/{scale}.yaml").write_text(
            f"name: {scale}\ntitle: a scale\ncomparable: false\nprefer: own\n"
        )
    text = SPEC.replace("HASH", hashlib.sha256(TOKENS).hexdigest())
    (folder / "datasets/toy.yaml").write_text(text)
    unpublished = text[: text.index("published:")] + text[text.index("metric:") :]
    (folder / "datasets/plain.yaml").write_text(unpublished.replace("name: toy", "name: plain"))
    make_checkout(tmp_path)
    return partial(run_verb, "export", checkout=tmp_path)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results/demo"
    example: Example = TokensExample(id="1", document=None, words=["pain", "or"], labels=["B", "O"])
    write_examples(folder / "datasets/toy/train.jsonl.gz", [example])
    (folder / "datasets/toy/card.json").write_text("{}")
    return folder


def test_the_published_or_a_general_form_is_written(export: Export, tmp_path: Path, results: Path) -> None:
    ended = export("toy", tmp_path / "out", "--results", results)
    assert (tmp_path / "out/train.tsv").read_bytes() == TOKENS
    digest = hashlib.sha256(TOKENS).hexdigest()
    assert ended.stdout == (f"{tmp_path}/out/train.tsv: train, sha256 {digest} (the published bytes)\n")
    (results / "datasets/toy").rename(results / "datasets/plain")
    asked = export("plain", tmp_path / "asked", "--results", results, "--form", "jsonl")
    assert "(form jsonl)" in asked.stdout
    assert (tmp_path / "asked/train.jsonl").read_text().startswith('{"document": null, "id": "1"')
    export("plain", tmp_path / "conll", "--results", results, "--form", "conll")
    assert (tmp_path / "conll/train.conll").read_bytes() == TOKENS
    ended = export("plain", tmp_path / "plain", "--results", results)
    assert (tmp_path / "plain/train.tsv").read_bytes() == TOKENS
    assert ended.stdout.endswith("(no published form: a general one)\n")


def test_missing_and_other_examples_are_refused(export: Export, tmp_path: Path, results: Path) -> None:
    unknown = export("tpy", tmp_path / "out", "--results", results)
    assert "no dataset 'tpy'; the nearest: toy, plain" in unknown.stderr
    nowhere = export("toy", tmp_path / "out", "--results", tmp_path / "nowhere")
    assert "nowhere: expected a folder named as a scale" in nowhere.stderr
    assert not (tmp_path / "out").exists()
    example = TokensExample(id="1", document=None, words=["pain"], labels=["B"])
    write_examples(results / "datasets/toy/train.jsonl.gz", [example])
    ended = export("toy", tmp_path / "out", "--results", results)
    assert "differs from the published file; nothing was" in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("scale", "named"), [("demo", "demo"), ("full", "of-that-scale")])
def test_the_program_says_how_to_convert(export: Export, tmp_path: Path, scale: str, named: str) -> None:
    (tmp_path / "studies/of-that-scale.yaml").write_text("scale: full\n")
    ended = export("toy", tmp_path / "out", "--results", f"results/{scale}")
    card = f"results/{scale}/datasets/toy/card.json"
    assert ended.stderr.endswith(f"Make it: .venv/bin/pubmill run {named} {card}\n")


def test_the_folder_for_hugging_face_is_read_by_its_library(
    export: Export, tmp_path: Path, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    export("toy", tmp_path / "out", "--results", results, "--form", "hugging-face")
    read = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert (tmp_path / "out/README.md").is_file()
    assert read["train"][0]["words"] == ["pain", "or"] and list(read) == ["train"]
