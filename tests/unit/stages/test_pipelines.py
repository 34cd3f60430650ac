"""Models that are not fine-tuned: spaCy pipelines, supplied predictions, language models that are asked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import ModelSpec, Specs
from pubmill.stages import Graph, pipelines
from pubmill.stages.availability import NONE_SUPPLIED, NOT_LOCAL, NOT_PROMPTED
from pubmill.stages.pipelines import Answering, SuppliedPredictions
from pubmill.storage.result_paths import RunKey
from pubmill.tables.recorded_runs import OF_PREDICTING
from tests.unit.toy_studies import GraphOf, targets

PIPELINES = ["scispacy-jnlpba", "scispacy-bc5cdr"]
TABLE10 = "tinn2021/table10"


def tools(root: Path, *named: str, **config: object) -> Graph:
    """A study of Table 10 in which the user names the folders of these pipelines."""
    config = {"tables": [TABLE10], "models": [*PIPELINES, "no-pretraining"]} | config
    return targets(root, local_files={name: f"/somewhere/{name}" for name in named}, **config)


def test_pipelines_have_one_record_of_their_own_place(root: Path) -> None:
    made = tools(root, *PIPELINES, datasets=["bc2gm"])
    assert made.tables.records(TABLE10) == {
        **{m: {"bc2gm": [f"runs/off-the-shelf/{m}/bc2gm/as-it-is/final/seed-1.json"]} for m in PIPELINES},
        "no-pretraining": {
            "bc2gm": [f"runs/blurb/no-pretraining/bc2gm/standard/final/seed-{seed}.json" for seed in (1, 2)]
        },
    }
    assert made.scope.models() == [*PIPELINES, "no-pretraining"]
    columns = {column.key: column for column in made.tables.recipe(TABLE10).columns}
    assert columns["scispacy-bc5cdr"].pipeline and columns["scispacy-bc5cdr"].model == "scispacy-bc5cdr"
    assert (columns["scispacy-max"].model, columns["scispacy-max"].best_of) == (None, tuple(PIPELINES))
    assert not columns["pubmedbert-base"].pipeline
    assert columns["no-pretraining"].published == ("no-pretraining",)
    assert "scispacy-max" not in made.tables.recipe(TABLE10).missing


def test_pipelines_are_scored_as_fine_tuned_models_are(root: Path) -> None:
    """So that their records may stand in one row."""
    made = tools(root, *PIPELINES)
    recipes = (
        made.records.recipe(RunKey("tinn2021", "no-pretraining", "bc2gm", "standard"), 1),
        made.records.recipe(made.pipelines.run("scispacy-bc5cdr", "bc2gm")[0]),
    )
    common = [
        {
            **{name: getattr(recipe, name) for name in ("split", "kind", "metric", "negative", "scale")},
            **{stage: v for stage, v in recipe.versions.items() if stage not in OF_PREDICTING},
        }
        for recipe in recipes
    ]
    assert common[0] == common[1]
    assert {"convert", "score", "metric", "metrics"} < common[0].keys()


def test_a_pipeline_whose_folder_is_not_named_is_a_reason_and_ends_no_study(root: Path) -> None:
    made = tools(root, "scispacy-jnlpba")
    missing = made.tables.recipe(TABLE10).missing
    reported = "needs a spaCy pipeline of your own (then set local_files: scispacy-bc5cdr)"
    assert missing["scispacy-bc5cdr"] == reported
    assert "scispacy-jnlpba" not in missing
    assert missing["pubmedbert-large"] == "not run in this study"
    assert list(made.tables.records(TABLE10)) == ["scispacy-jnlpba", "no-pretraining"]
    assert made.left_out()[0] == f"left out of the tables: scispacy-bc5cdr ({reported})"
    assert made.report.recipe().models == ("scispacy-jnlpba", "no-pretraining")


def test_pipelines_that_the_study_leaves_out_are_not_asked_for(root: Path) -> None:
    made = tools(root, models=["no-pretraining"])
    missing = made.tables.recipe(TABLE10).missing
    assert {missing[name] for name in PIPELINES} == {"not run in this study"}
    [line] = made.left_out()
    assert line.endswith("(`models:` of the study names others; null: all)")


def test_a_pipeline_that_is_not_for_a_dataset_has_a_reason_there(root: Path) -> None:
    """It joins the table because the study lists its models."""
    made = tools(root, "scispacy-jnlpba", tables=["gu2020/table06"], datasets=["bc2gm", "ebm-pico"])
    assert list(made.tables.records("gu2020/table06")["scispacy-jnlpba"]) == ["bc2gm"]
    missing = made.tables.recipe("gu2020/table06").missing
    assert missing["scispacy-jnlpba/ebm-pico"] == "the pipeline is not for this dataset"
    assert "scispacy-jnlpba/bc2gm" not in missing and "no-pretraining/ebm-pico" not in missing
    assert missing["gad@blurb"] == "not run in this study" and "scispacy-jnlpba/gad@blurb" not in missing


def test_a_table_may_show_another_metric_than_the_datasets_own(root: Path) -> None:
    made = tools(root, *PIPELINES, tables=[TABLE10, "tinn2021/table11"])
    metrics = {table: {row.metric for row in made.tables.recipe(table).rows} for table in made.study.tables}
    assert metrics == {TABLE10: {"entity_f1"}, "tinn2021/table11": {"relaxed_f1"}}
    assert made.tables.records(TABLE10) == made.tables.records("tinn2021/table11")


SYSTEM = {"name": "a/m", "version": "1", "prompt": "p"}
ASKED = {
    "kind": "prompted", "server": "http://localhost:8000/v1", "model": "m", "datasets": ["bc2gm"],
    "seeds": [1, 2],
}  # fmt: skip
WEIGHTS: dict[str, dict[str, Any]] = {
    "ours": {"kind": "predictions", "local": "ours"},
    "theirs": {"kind": "predictions", "local": "theirs"},
    "some-llm": ASKED,
}
Made = Callable[..., SuppliedPredictions]


@pytest.fixture
def supplied(full_specs: Specs, graph_of: GraphOf) -> Made:
    """A function that makes this part of the graph, with folders of predictions by model."""

    def make(**folders: Path) -> SuppliedPredictions:
        models = {
            name: ModelSpec.model_validate(
                {"name": name, "lowercase": False, "weights": {"system": SYSTEM, **weights}}
            )
            for name, weights in WEIGHTS.items()
        }
        specs = full_specs.model_copy(update={"models": {**full_specs.models, **models}})
        local = {name: str(folder) for name, folder in folders.items()}
        return graph_of(specs, local_files=local).pipelines.supplied

    return make


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/').replace('seed', 'seed-')}.conll"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_predictions_need_a_folder_and_answers_an_extra(
    supplied: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipelines, "stages", lambda: {"any": Answering})
    theirs = written(tmp_path, bc2gm="")
    found = supplied(theirs=theirs).graph.availability
    assert found.model("ours") == "needs predictions that you supply (then set local_files: ours)"
    assert (found.model("theirs"), found.model("some-llm")) == (None, None)
    monkeypatch.setattr(pipelines, "stages", dict)
    found = supplied(theirs=theirs).graph.availability
    assert (found.model("theirs"), found.model("some-llm")) == (None, NOT_PROMPTED)


def test_files_have_the_seeds_of_their_folders(supplied: Made, tmp_path: Path) -> None:
    folder = written(tmp_path, seed1__bc2gm="a", seed3__bc2gm="b", mednli="c", nothing="d")
    found = supplied(ours=folder)
    assert found.seeds("ours", "bc2gm") == [1, 3] and found.seeds("theirs", "bc2gm") == []
    files = [str(folder / f"seed-{seed}/bc2gm.conll") for seed in (1, 3)]
    assert found.checked_files("ours", "bc2gm") == files
    why_not = found.graph.availability.predictions
    assert (why_not("ours", "jnlpba"), why_not("ours", "bc2gm")) == (NONE_SUPPLIED, None)
    assert why_not("ours", "mednli") == NOT_LOCAL and found.seeds("ours", "mednli") == []
    with pytest.raises(PubmillError, match="model ours on jnlpba: no predictions for this dataset are suppl"):
        found.checked_files("ours", "jnlpba")
    [unused] = found.unused_files(["ours", "theirs", "some-llm", "biobert-base"])
    assert unused.startswith(f"left out of the tables: {folder / 'nothing.conll'} (named after no dataset;")


def test_a_file_in_the_place_of_the_folder_is_refused(supplied: Made, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PubmillError, match=r"model ours: .*file \(.*\) is not a folder; expected one with"):
        supplied(ours=tmp_path / "file").files("ours")


def test_a_copy_of_another_systems_or_seeds_predictions_is_refused(supplied: Made, tmp_path: Path) -> None:
    ours = written(tmp_path / "ours", seed1__bc2gm="a", seed2__jnlpba="b", seed3__jnlpba="b")
    theirs = written(tmp_path / "theirs", bc2gm="a")
    alone = supplied(ours=ours)
    assert alone.contents("ours", "bc2gm") == [alone.graph.digests.of(ours / "seed-1/bc2gm.conll")]
    with pytest.raises(PubmillError, match="model ours: .*seed-2.* is a copy of the predictions of ours"):
        alone.contents("ours", "jnlpba")
    both = supplied(ours=ours, theirs=theirs)
    with pytest.raises(PubmillError, match="model theirs: .*is a copy of the predictions of ours, seed 1 "):
        both.checked_files("theirs", "bc2gm")


def test_answers_of_a_language_model_are_results_of_a_job(supplied: Made) -> None:
    found = supplied()
    assert found.seeds("some-llm", "bc2gm") == [1, 2]
    answers = [found.graph.paths.answers("some-llm", "bc2gm", seed) for seed in (1, 2)]
    assert found.checked_files("some-llm", "bc2gm") == answers and found.contents("some-llm", "bc2gm") == []
    with pytest.raises(PubmillError, match="model some-llm on jnlpba: no predictions for this dataset"):
        found.checked_files("some-llm", "jnlpba")
    with pytest.raises(PubmillError, match="some-llm consists of supplied predictions, so it can't be fine"):
        found.graph.models.fine_tuned_weights("some-llm")
