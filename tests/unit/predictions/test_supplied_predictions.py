"""Models of supplied predictions in tables."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pubmill.errors import PubmillError
from pubmill.specs.model_specs import ModelSpec
from pubmill.specs.study import check_study
from pubmill.stages import Graph, checked_graph
from pubmill.storage.result_paths import RunKey

TABLE = "gu2020/table06"
SYSTEM = {"name": "example/llm", "version": "1", "url": "https://example.org/llm"}
SPEC: dict[str, Any] = {
    "name": "llm", "label": "LLM", "lowercase": False, "tables": [TABLE],
    "weights": {"kind": "predictions", "local": "llm", "system": SYSTEM},
}  # fmt: skip


@pytest.fixture
def specs(root: Path, tmp_path: Path) -> Path:
    """A folder of specs with a model of supplied predictions."""
    folder = tmp_path / "specs"
    folder.mkdir()
    for path in (root / "specs").iterdir():
        if path.name != "models":
            (folder / path.name).symlink_to(path)
    (folder / "models").mkdir()
    for path in (root / "specs/models").iterdir():
        (folder / "models" / path.name).symlink_to(path)
    (folder / "models/llm.yaml").write_text(yaml.safe_dump(SPEC))
    return folder


def graph(specs: Path, supplied: Path | None, **config: Any) -> Graph:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": [TABLE]}
    base["models"] = ["llm", "no-pretraining"]
    local = {"local_files": {"llm": str(supplied)}} if supplied else {}
    return checked_graph(*check_study({**base, **local, **config}, specs))


def supply(folder: Path, *files: str) -> Path:
    for number, name in enumerate(files):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{number}")
    return folder


def record(dataset: str, seed: int) -> str:
    return f"runs/off-the-shelf/llm/{dataset}/as-it-is/final/seed-{seed}.json"


def test_a_file_that_is_named_after_no_dataset_is_reported(specs: Path, tmp_path: Path) -> None:
    files = supply(tmp_path / "llm", "bc2gm.conll", "chemprot.jsonl")
    [line] = [line for line in graph(specs, files).left_out() if "llm" in line]
    assert line.startswith(
        f"left out of the tables: {files}/chemprot.jsonl (named after no dataset; the nearest: "
    )
    assert "chemprot@blurb" in line
    assert not [
        line for line in graph(specs, None, models=["no-pretraining"]).left_out() if "named after" in line
    ]


def test_every_supplied_file_is_a_run_of_a_marked_column(specs: Path, tmp_path: Path) -> None:
    names = ("bc2gm.conll", "seed-1/biosses.json", "seed-2/biosses.json", "squad-v1.json")
    files = supply(tmp_path / "llm", *names)
    made = graph(specs, files)
    assert made.tables.records(TABLE)["llm"] == {
        "bc2gm": [record("bc2gm", 1)],
        "biosses": [record("biosses", 1), record("biosses", 2)],
    }
    recipe = made.tables.recipe(TABLE)
    [column] = [column for column in recipe.columns if column.key == "llm"]
    assert column.supplied and column.label == "LLM (not fine-tuned here)"
    assert recipe.notes[-1] == (
        "LLM is not fine-tuned here: its author supplied the predictions, and says that they are by "
        "example/llm, version 1 (https://example.org/llm)."
    )
    assert recipe.missing["llm/gad@blurb"] == "no predictions for this dataset are supplied"
    assert made.supplied.checked_files("llm", "biosses") == [
        str(files / f"seed-{seed}/biosses.json") for seed in (1, 2)
    ]
    assert made.records.recipe(made.supplied.run("llm", "squad-v1")[0]).split == "dev"


def test_they_are_scored_as_fine_tuned_models_are_unless_copied(specs: Path, tmp_path: Path) -> None:
    made = graph(specs, supply(tmp_path / "llm", "seed-1/bc2gm.conll", "seed-2/bc2gm.conll"))
    trained = made.records.recipe(RunKey("blurb", "no-pretraining", "bc2gm", "standard"), 2)
    own = made.records.recipe(made.supplied.run("llm", "bc2gm")[0], 2)
    for name in ("split", "kind", "metric", "negative", "scale", "seed"):
        assert getattr(trained, name) == getattr(own, name)
    assert own.versions["metric"] == trained.versions["metric"] and own.made_by
    files = tmp_path / "llm"
    (files / "seed-2/bc2gm.conll").write_text("0")
    with pytest.raises(PubmillError, match=r"seed-1/bc2gm.conll is a copy of the predictions of llm, seed 2"):
        graph(specs, files).supplied.contents("llm", "bc2gm")


def test_faulty_statements_are_reported(specs: Path) -> None:
    made = graph(specs, None)
    reason = "needs predictions that you supply (then set local_files: llm)"
    assert made.tables.recipe(TABLE).missing["llm"] == reason
    assert f"left out of the tables: llm ({reason})" in made.left_out()
    spec = {**SPEC, "weights": {**SPEC["weights"], "mapping": {"bc2gn": {"a": ""}}}}
    (specs / "models/llm.yaml").write_text(yaml.safe_dump(spec))
    with pytest.raises(PubmillError, match="bc2gn"):
        graph(specs, None)


def test_credentialed_datasets_need_a_local_system(specs: Path, tmp_path: Path) -> None:
    files = supply(tmp_path / "llm", "mednli.jsonl")
    made = graph(specs, files)
    assert made.supplied.records("llm", "mednli") == []
    assert "credentialed" in (made.availability.predictions("llm", "mednli") or "")
    with pytest.raises(PubmillError, match=r"`local: true` of its statement"):
        made.supplied.checked_files("llm", "mednli")
    spec = {**SPEC, "weights": {**SPEC["weights"], "system": {**SYSTEM, "local": True}}}
    (specs / "models/llm.yaml").write_text(yaml.safe_dump(spec))
    assert graph(specs, files).supplied.records("llm", "mednli") == [record("mednli", 1)]


def test_a_statement_must_be_complete() -> None:
    for system, message in (
        ({"name": "x", "version": "1"}, "give `url` or `prompt`"),
        ({"name": "", "version": "1", "url": "u"}, "must not be empty"),
    ):
        with pytest.raises(ValueError, match=message):
            ModelSpec.model_validate({**SPEC, "weights": {**SPEC["weights"], "system": system}})
