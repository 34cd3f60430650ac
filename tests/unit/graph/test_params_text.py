"""Recipes of all stages."""

import json
from pathlib import Path

from pubmill.graph import Graph, as_json, checked_graph
from pubmill.specs.study import check_study


def targets(root: Path, **config: object) -> Graph:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"]}
    return checked_graph(
        *check_study({**base, "models": ["pubmedbert-base", "no-pretraining"], **config}, root / "specs")
    )


def test_recipes_hold_no_paths_and_no_machine_settings(root: Path, tmp_path: Path) -> None:
    made = targets(root, mirror=str(tmp_path), results="/elsewhere/results")
    recipes = [
        made.corpora.latest_recipe("pubmed-abstracts"),
        made.selection.recipe("pubmed-abstracts"),
        made.vocabularies.recipe("pubmed-uncased"),
        made.pretrainings.recipe("pubmedbert-base"),
        made.models.recipe("pubmedbert-base"),
        made.datasets.recipe("bc2gm"),
        made.runs.recipe("blurb", "pubmedbert-base", "bc2gm", "standard"),
        made.runs.trial_recipe(
            "blurb", "pubmedbert-base", "bc2gm", "standard", "batch_size=16+epochs=8+learning_rate=0.002"
        ),
        made.runs.choice_recipe("blurb", None, "bc2gm", "standard"),
        made.records.recipe("blurb", "pubmedbert-base", "bc2gm", "standard", 1),
        made.tables.recipe("gu2020/table06"),
        made.report.recipe(),
    ]
    assert not any(str(tmp_path) in as_json(recipe) or "/elsewhere" in as_json(recipe) for recipe in recipes)
    assert all(json.loads(as_json(recipe)) for recipe in recipes)
