"""What was made from which day of a corpus, in results with real exports."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.cli.diff_command import diff
from pubmill.inspection.diff.corpus_models import MadeFrom, made_from, vocabulary_differences
from pubmill.pretraining.architectures import build_model
from pubmill.pretraining.export import export
from pubmill.recipes import Architecture, Objective
from pubmill.recipes.models import ExportRecipe
from pubmill.recipes.reading import build
from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.storage.checksums import folder_sha256, write_formats
from pubmill.storage.files import write_json
from pubmill.vocabs.merges import learn_pieces
from pubmill.vocabs.wordpiece import SPECIAL, make_tokenizer, save
from tests.unit.corpus.test_locks import citation, lock
from tests.unit.toy_tables import record, table, write

SHAPE: dict[str, Any] = {
    "family": "bert", "layers": 1, "hidden_size": 16, "attention_heads": 2, "intermediate_size": 32,
}  # fmt: skip
TRAINING: dict[str, Any] = {
    "architecture": SHAPE, "objective": {"masking": "whole-word"}, "steps": 5, "batch_size": 8,
    "optimisation": {"learning_rate": 6e-4}, "sequence_length": 64,
}  # fmt: skip


def day_of(day: str, words: int) -> dict[str, Any]:
    return {"day": day, "documents": 7, "words": words}


def make(results: Path, word: str, totals: dict[str, Any], *models: str) -> None:
    """Export models from a corpus and a vocabulary, and make a table of runs of the first."""
    vocab, checkpoint = results / "vocab", results / "step-5"
    for folder in (vocab, results / "tables/gu2020"):
        folder.mkdir(parents=True)
    pieces = learn_pieces({word: 3, "rats": 2}, 40, SPECIAL).pieces
    save(make_tokenizer(pieces, True), True, vocab)
    write_json(vocab / "diagnosis.json", {"size": 40, "documents": 7, "words": 99})
    ids = {"pad": 0, "cls": 2, "sep": 3}
    size = len((vocab / "vocab.txt").read_text().splitlines())
    built = build_model(Architecture(**SHAPE), Objective(masking="whole-word"), size, ids, 7)
    built.save_pretrained(checkpoint)
    write_json(checkpoint / "state.json", {"step": 5, "recipe": TRAINING})
    write_json(results / "stats.json", totals | {"recipe": {"corpus": "abstracts"}})
    for model in models:
        weights = {"kind": "pretraining", "recipe": "r", "step": 5}
        values = {"model": model, "lowercase": True, "weights": weights, "pretraining": TRAINING}
        made = build(ExportRecipe, values, "here")
        export(made, results / "models" / model, checkpoint, vocab, statistics=results / "stats.json")
    weights_of = folder_sha256(results / "models" / models[0])
    write(results, *(record(models[0], "bc2gm", seed, 0.8, model_sha256=weights_of) for seed in (1, 2)))
    write_formats(results / "tables/gu2020/table06", table(results), TABLE_RENDERERS)


def test_models_and_tables_of_each_day(tmp_path: Path) -> None:
    early, late = day_of("2025-01-01", 20), day_of("2026-02-02", 40)
    make(tmp_path / "a", "aspirin", early, "bert", "other")
    make(tmp_path / "b", "ibuprofen", late, "bert")
    folders = [tmp_path / "a", tmp_path / "b"]
    first, second = made_from(early, folders), made_from(late, folders)
    assert first.models == (tmp_path / "a/models/bert", tmp_path / "a/models/other")
    assert first.tables == (tmp_path / "a/tables/gu2020/table06",)
    assert second == MadeFrom((tmp_path / "b/models/bert",), (tmp_path / "b/tables/gu2020/table06",))
    (found,) = vocabulary_differences(first, second)
    assert found.model == "bert" and found.both and found.first_only and found.second_only
    assert vocabulary_differences(first, first)[0][2:] == (0, 0)
    # Another corpus of the same day; a lock without totals; runs with weights that the model had before.
    assert made_from(day_of("2025-01-01", 21), folders) == made_from({}, folders) == MadeFrom((), ())
    write(tmp_path / "a", *(record("bert", "bc2gm", seed, 0.8, model_sha256="0" * 64) for seed in (1, 2)))
    assert made_from(early, folders).tables == ()


def test_the_command_names_them(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path / "mine/demo", "aspirin", day_of("2025-01-01", 20), "bert")
    first = lock(tmp_path, "first", [[citation(1)]], "2025-01-01")
    second = lock(tmp_path, "second", [[citation(1)], [citation(2)]], "2026-02-02")
    monkeypatch.chdir(root)
    settings = [f"results={tmp_path / 'mine'}"]
    diff(str(first), str(second), config=settings)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-4:] == [
        f"models made from the first: {tmp_path}/mine/demo/models/bert",
        f"tables made from the first: {tmp_path}/mine/demo/tables/gu2020/table06",
        "models made from the second: none found",
        "tables made from the second: none found",
    ]
    diff(str(first), str(second), config=settings, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["made_from_first"]["models"] == [f"{tmp_path}/mine/demo/models/bert"]
    assert found["made_from_second"] == {"models": [], "tables": []} and found["vocabularies"] == []
