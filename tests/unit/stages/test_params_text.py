"""Recipes of all stages."""

import json
from dataclasses import is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pubmill.recipes import read
from pubmill.recipes.reading import LONG, StoredRecipe, as_argument, as_json
from pubmill.stages import Graph
from pubmill.stages.dataset_recipes import conversion_recipe, published_recipe
from pubmill.storage.result_paths import ChoiceKey, RunKey
from tests.unit.toy_studies import targets


def recipes_of(made: Graph) -> list[Any]:
    run = RunKey("blurb", "pubmedbert-base", "bc2gm", "standard")
    of = SimpleNamespace(
        corpus="pubmed-abstracts", source="pubmed", use="contamination", vocab="pubmed-uncased",
        dataset="bc2gm", recipe="pubmedbert-base",
    )  # fmt: skip
    names = (
        "lock_corpus latest_versions fingerprint find_duplicates index_evaluation_texts vocab_diagnosis pack "
        "pretrain select_documents train_vocab"
    ).split()
    return [
        *(getattr(made, name).recipe_of(of) for name in names),
        made.supplied.recipe("scispacy-bc5cdr", "bc2gm"),
        made.records.recipe(made.supplied.run("scispacy-bc5cdr", "bc2gm")[0]),
        made.datasets.page("chemprot@blurb"), published_recipe("bc2gm", made.specs.datasets["bc2gm"]),
        made.models.recipe("pubmedbert-base"), conversion_recipe("bc2gm", made.specs.datasets["bc2gm"]),
        made.runs.recipe(run), made.runs.trial_recipe(run, "batch_size=16+epochs=8+learning_rate=0.002"),
        made.runs.choice_recipe(ChoiceKey("blurb", None, "bc2gm", "standard")), made.records.recipe(run, 1),
        made.tables.recipe("gu2020/table06"), made.report.recipe(),
    ]  # fmt: skip


def test_recipes_hold_no_paths_and_no_machine_settings(root: Path, tmp_path: Path) -> None:
    recipes = recipes_of(targets(root, mirror=str(tmp_path), results="/elsewhere/results"))
    assert not any(str(tmp_path) in as_json(recipe) or "/elsewhere" in as_json(recipe) for recipe in recipes)
    assert all(json.loads(as_json(recipe)) for recipe in recipes)


def test_programs_read_what_the_graph_writes(root: Path, tmp_path: Path) -> None:
    recipes = recipes_of(targets(root, mirror=str(tmp_path)))
    whole = [one for one in recipes if is_dataclass(one)]
    assert len({type(one) for one in whole}) > 15
    for recipe in whole:
        text = as_json(recipe)
        assert as_json(read(type(recipe), text)) == text


def test_a_long_recipe_is_a_file_in_commands_and_its_text_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / ".recipes"
    short = as_argument({"a": "b"}, folder)
    assert f"{short}" == '{"a": "b"}' == repr(short)[1:-1] and not isinstance(short, StoredRecipe)
    values = {"a": "b" * LONG}
    made = as_argument(values, folder)
    assert isinstance(made, StoredRecipe) and made == as_json(values) and repr(made) == repr(as_json(values))
    assert f"{made}" == str(made.path) and Path(made.path).parent == folder
    assert as_argument({"a": "c" * LONG}, folder).path != made.path  # type: ignore[attr-defined]
    assert not Path(made.path).exists()
    made.write()
    made.write()
    assert json.loads(Path(made.path).read_text(encoding="utf-8")) == values
