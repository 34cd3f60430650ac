"""spaCy pipelines in tables."""

from pathlib import Path

from pubmill.stages import Graph
from pubmill.storage.result_paths import RunKey
from pubmill.tables.recorded_runs import OF_PREDICTING
from tests.unit.toy_studies import targets

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
