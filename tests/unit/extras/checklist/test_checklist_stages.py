"""Searches behind the runs of a study, and runs that tables show beside them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.extras.checklist.checklist_evidence import read_study
from pubmill.extras.checklist.checklist_stages import ChecklistStage
from pubmill.specs import Specs
from pubmill.stages import Graph
from pubmill.storage.files import write_json
from pubmill.storage.result_paths import RunKey
from tests.unit.report.test_report_inputs import check_inputs_are_read

STUDY: dict[str, Any] = {"tables": ("gu2020/table06",), "models": ("no-pretraining",), "datasets": ("bc2gm",)}


@pytest.fixture
def graph(demo_specs: Specs, graph_of: Callable[..., Graph]) -> Graph:
    return graph_of(demo_specs, **STUDY)


def test_a_search_has_the_choices_that_the_study_makes(graph: Graph) -> None:
    """They need not be there yet."""
    [search] = graph.stage(ChecklistStage).searches()
    assert search.protocol == "blurb" and search.grid.keys() == {"batch_size", "epochs", "learning_rate"}
    assert search.selected == ("runs/blurb/selected/bc2gm/standard.json",)
    assert (search.models, search.seeds) == (("pubmedbert-base",), 1)


def test_runs_are_grouped_by_protocol_model_setting_and_dataset(graph: Graph) -> None:
    assert graph.stage(ChecklistStage).runs() == {
        "blurb": {"no-pretraining": {"standard": {"bc2gm": [1, 2]}}}
    }
    recipe = graph.stage(ChecklistStage).recipe()
    assert list(recipe.models) == ["no-pretraining"] and list(recipe.datasets) == ["bc2gm"]
    assert list(recipe.protocols) == ["blurb"] and recipe.versions.keys() == {"checklist"}
    said = {key: one.why or "" for key, one in graph.specs.protocols["blurb"].overrides.items() if one.values}
    found = {key: one["why"] for key, one in recipe.protocols["blurb"].overrides.items()}
    assert found == said and any(found.values())


def test_a_dataset_is_linked_to_its_public_files_only(
    demo_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    study = {
        "tables": ("lewis2020/table02",),
        "models": ("no-pretraining",),
        "datasets": ("chemprot@blue", "mednli"),
    }
    found = graph_of(demo_specs, **study).stage(ChecklistStage).recipe().datasets
    assert {link.partition("://")[0] for link in found["chemprot@blue"].links} == {"https"}
    assert "mednli" not in found or found["mednli"].links == ()


def test_each_grid_stands_once_with_all_its_choices(
    demo_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(demo_specs, **(STUDY | {"datasets": ("bc2gm", "jnlpba", "gad@blurb")}))
    searches = made.stage(ChecklistStage).searches()
    grids = [repr(one.grid) for one in searches]
    assert len(set(grids)) == len(grids)
    selected = [path for one in searches for path in one.selected]
    assert sorted(selected) == [
        f"runs/blurb/selected/{name}/standard.json" for name in ("bc2gm", "gad@blurb", "jnlpba")
    ]


def test_the_choice_of_a_run_that_was_found_counts_only_if_it_is_on_disk(
    demo_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(demo_specs, **STUDY)
    found = {"protocol": "blurb", "model": "no-pretraining", "dataset": "jnlpba", "setting": "standard"}
    digest = made.records.recipe(RunKey(**found), seed=1).made_by
    values = {
        **found, "made_by": digest, "split": "test", "data_sha256": "x", "trained_on_sha256": {},
        "model_sha256": "x",
    }  # fmt: skip
    for seed in (1, 2):
        path = Path(made.paths.at(f"runs/blurb/no-pretraining/jnlpba/standard/final/seed-{seed}.json"))
        write_json(path, values)
        Path(made.paths.contributions(str(path))).write_text("", encoding="utf-8")
    choice = "runs/blurb/selected/jnlpba/standard.json"
    again = graph_of(demo_specs, **STUDY)
    shown = again.stage(ChecklistStage).runs()["blurb"]["no-pretraining"]["standard"]
    assert shown == {"bc2gm": [1, 2], "jnlpba": [1, 2]}
    assert choice not in [path for one in again.stage(ChecklistStage).searches() for path in one.selected]
    write_json(Path(made.paths.at(choice)), {})
    later = graph_of(demo_specs, **STUDY)
    assert choice in [path for one in later.stage(ChecklistStage).searches() for path in one.selected]
    assert "jnlpba" not in later.stage(ChecklistStage).recipe().datasets, "its card is not on disk"
    assert later.tables.recipe("gu2020/table06").found == ("no-pretraining/jnlpba",)


def test_the_inputs_are_what_is_read(tmp_path: Path) -> None:
    def read(made: Graph, results: Path) -> None:
        read_study(made.stage(ChecklistStage).recipe(), results)

    check_inputs_are_read(tmp_path, lambda made: made.stage(ChecklistStage).inputs(), read)
