"""Models of supplied predictions in tables; tests/unit/stages has which files are theirs."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pubmill.errors import PubmillError
from pubmill.specs import ModelSpec, Specs
from pubmill.specs.study import check_study
from pubmill.stages import Graph
from pubmill.storage.result_paths import RunKey
from tests.unit.toy_studies import GraphOf

TABLE = "gu2020/table06"
SYSTEM = {"name": "example/llm", "version": "1", "url": "https://example.org/llm"}


def spec(mapping: dict[str, Any] | None = None, **system: Any) -> dict[str, Any]:
    weights = {"kind": "predictions", "local": "llm", "system": SYSTEM | system, "mapping": mapping or {}}
    return {"name": "llm", "label": "LLM", "lowercase": False, "tables": [TABLE], "weights": weights}


def graph(specs: Specs, graph_of: GraphOf, folder: Path, *files: str, **system: Any) -> Graph:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(file)
    models = {**specs.models, "llm": ModelSpec.model_validate(spec(**system))}
    study = {"tables": (TABLE,), "models": ("llm", "no-pretraining"), "local_files": {"llm": str(folder)}}
    return graph_of(specs.model_copy(update={"models": models}), **study)


def record(dataset: str, seed: int) -> str:
    return f"runs/off-the-shelf/llm/{dataset}/as-it-is/final/seed-{seed}.json"


def test_every_supplied_file_is_a_run_of_a_marked_column_scored_as_fine_tuned_models_are(
    demo_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    names = ("bc2gm.conll", "seed-1/biosses.json", "seed-2/biosses.json", "squad-v1.json")
    made = graph(demo_specs, graph_of, tmp_path / "llm", *names)
    assert made.tables.records(TABLE)["llm"] == {
        "bc2gm": [record("bc2gm", 1)], "biosses": [record("biosses", seed) for seed in (1, 2)],
    }  # fmt: skip
    recipe = made.tables.recipe(TABLE)
    [column] = [column for column in recipe.columns if column.key == "llm"]
    assert column.supplied and column.label == "LLM (not fine-tuned here)"
    assert recipe.notes[-1] == (
        "LLM is not fine-tuned here: its author supplied the predictions, and says that they are by "
        "example/llm, version 1 (https://example.org/llm)."
    )
    assert recipe.missing["llm/gad@blurb"] == "no predictions for this dataset are supplied"
    assert made.records.recipe(made.supplied.run("llm", "squad-v1")[0]).split == "dev"
    trained = made.records.recipe(RunKey("blurb", "no-pretraining", "biosses", "standard"), 2)
    own = made.records.recipe(made.supplied.run("llm", "biosses")[0], 2)
    for name in ("split", "kind", "metric", "negative", "scale", "seed"):
        assert getattr(trained, name) == getattr(own, name)
    assert own.versions["metric"] == trained.versions["metric"] and own.made_by


def test_a_mapping_for_an_unknown_dataset_is_reported(specs: Path) -> None:
    (specs / "models/llm.yaml").write_text(yaml.safe_dump(spec({"bc2gn": {"a": ""}})))
    with pytest.raises(PubmillError, match="bc2gn"):
        check_study({"study": "x", "title": "x", "scale": "demo", "tables": [TABLE]}, specs)


def test_credentialed_datasets_need_a_local_system(
    demo_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    made = graph(demo_specs, graph_of, tmp_path, "mednli.jsonl")
    assert made.supplied.records("llm", "mednli") == []
    with pytest.raises(PubmillError, match=r"`local: true` of its statement"):
        made.supplied.checked_files("llm", "mednli")
    local = graph(demo_specs, graph_of, tmp_path, local=True)
    assert local.supplied.records("llm", "mednli") == [record("mednli", 1)]
