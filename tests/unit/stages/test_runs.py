"""Trials, choices and runs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.errors import PubmillError
from pubmill.recipes.reading import as_json
from pubmill.stages import Graph
from pubmill.stages.run_stages import TrialStage
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import ChoiceKey, RunKey
from tests.unit.toy_studies import targets


def test_trials_are_named_by_their_point(root: Path) -> None:
    made = targets(root, scale="full", models=None)
    trials = made.runs.trial_manifests(ChoiceKey("blurb", None, "bc2gm", "standard"))
    assert len(trials) == 48, "one job a point and model, with all seeds"
    assert trials[0] == (
        "results/full/runs/blurb/bert-base-uncased/bc2gm/standard/trials/"
        "batch_size=16+epochs=2+learning_rate=1e-05.json"
    )
    run = RunKey("blurb", "pubmedbert-base", "bc2gm", "standard")
    point = made.runs.trial_recipe(run, "batch_size=16+epochs=2+learning_rate=1e-05")
    assert (point["batch_size"], point["learning_rate"], point["train_on"]) == (16, 1e-05, "train")
    with pytest.raises(PubmillError, match="no block of trials 'batch_size=8' .* it has batch_size=16[+]"):
        made.runs.trial_inputs(run, "batch_size=8")


@pytest.mark.parametrize(("points", "sizes"), [(1, [1] * 24), (10, [10, 10, 4]), (None, [24])])
def test_a_scale_says_how_many_points_one_job_tries(points: int | None, sizes: list[int], root: Path) -> None:
    made = targets(root, scale="full", models=None)
    scale = made.specs.scale.model_copy(update={"block_points": points})
    made = Graph(made.study, made.specs.model_copy(update={"scale": scale}))
    run = RunKey("blurb", "bert-base-uncased", "bc2gm", "standard")
    blocks = made.runs.blocks(run)
    assert [len(block) for block in blocks] == sizes
    assert [point for block in blocks for point in block] == list(made.runs.points(run))
    wildcards = SimpleNamespace(**run._asdict(), trial=blocks[-1][0])
    recipe = made.stage(TrialStage).recipe_of(wildcards)
    assert tuple(recipe["points"]) == blocks[-1] and list(made.stage(TrialStage).seeds_of(wildcards)) == [
        1,
        2,
        3,
    ]


def test_one_choice_for_all_models_or_each_its_own(root: Path) -> None:
    made = targets(root, scale="full", models=None)
    runs = "results/full/runs"
    model, data = "biobert-base", "bc2gm"
    assert made.runs.selected(RunKey("blurb", model, data, "standard")) == [
        f"{runs}/blurb/selected/bc2gm/standard.json"
    ]
    assert made.runs.choice_recipe(ChoiceKey("blurb", None, data, "standard")).decides == (
        "batch_size", "epochs", "learning_rate",
    )  # fmt: skip
    own = [f"{runs}/tinn2021/{model}/bc2gm/layer-freeze/selected.json"]
    assert made.runs.selected(RunKey("tinn2021", model, data, "layer-freeze")) == own
    assert made.runs.selected_arguments(RunKey("tinn2021", model, data, "layer-freeze")) == [
        "--selected",
        *own,
    ]
    assert made.runs.choice_recipe(ChoiceKey("tinn2021", model, data, "layer-freeze")).decides == (
        "batch_size", "frozen_layers", "learning_rate",
    )  # fmt: skip
    assert len(made.runs.trial_manifests(ChoiceKey("tinn2021", model, data, "layer-freeze"))) == 18
    with pytest.raises(PubmillError, match="blurb, setting standard: the choice is common to all models"):
        made.runs.trial_manifests(ChoiceKey("blurb", model, data, "standard"))
    with pytest.raises(PubmillError, match="tinn2021, setting standard: each model chooses for itself"):
        made.runs.trial_manifests(ChoiceKey("tinn2021", None, data, "standard"))
    with pytest.raises(PubmillError, match="alrowili2021, setting standard: nothing is searched"):
        made.runs.trial_manifests(ChoiceKey("alrowili2021", model, data, "standard"))


def test_a_setting_may_take_the_choice_of_another(root: Path) -> None:
    made = targets(root, scale="full", models=None)
    chosen = [
        made.runs.selected(RunKey("blurb", "biobert-base", "bc2gm", s)) for s in ("standard", "tagging=io")
    ]
    assert chosen[0] == chosen[1]
    assert made.runs.selected(RunKey("alrowili2021", "biobert-base", "bc2gm", "standard")) == []


def test_folds_choose_their_steps_on_the_one_that_is_not_reported(root: Path) -> None:
    made = targets(root)
    run = RunKey("lewis2020", "pubmedbert-base", "gad@fold-2", "standard")
    chosen = "results/demo/runs/lewis2020/pubmedbert-base/gad@fold-1/standard"
    assert made.runs.selected(run) == [f"{chosen}/selected.json"]
    assert f"{chosen}/selected.json" not in made.runs.inputs(
        RunKey("lewis2020", *run[1:2], "bc2gm", "standard")
    )
    assert made.runs.trial_manifests(ChoiceKey(*run[:2], "gad@fold-1", "standard")) == [
        f"{chosen}/trials/default.json"
    ]
    assert made.runs.choice_recipe(ChoiceKey(*run[:2], "gad@fold-1", "standard")).decides == ("stop_after",)
    assert made.runs.split_arguments("lewis2020", "gad@fold-1", trial=True) == (
        "--split test --dev test".split()
    )
    assert made.runs.split_arguments("lewis2020", "gad@fold-2", trial=False) == [
        "--split", "test", "--dev", "none",
    ]  # fmt: skip
    with pytest.raises(PubmillError, match="chooses on gad@fold-1"):
        made.runs.check(RunKey("lewis2020", "pubmedbert-base", "gad@fold-1", "standard"))


def test_splits_of_trials_and_runs(root: Path) -> None:
    made = targets(root)
    assert made.runs.split_arguments("blurb", "bc2gm", trial=True) == ["--split", "dev", "--dev", "dev"]
    assert made.runs.split_arguments("blurb", "bc2gm", trial=False) == ["--split", "test", "--dev", "dev"]
    assert made.runs.split_arguments("shin2020", "squad-v1", trial=False) == [
        "--split", "dev", "--dev", "none",
    ]  # fmt: skip
    assert (
        made.records.recipe(RunKey("shin2020", "pubmedbert-base", "squad-v1", "standard"), 1).split == "dev"
    )
    assert made.runs.scored_examples(RunKey("shin2020", "pubmedbert-base", "squad-v1", "standard")).endswith(
        "/squad-v1/dev.jsonl.gz"
    )


def test_a_chain_begins_with_the_model_of_the_run_before(root: Path) -> None:
    made = targets(root)
    run = ("shin2020", "pubmedbert-base", "bioasq-factoid@7b")
    start = "results/demo/runs/shin2020/pubmedbert-base/squad-v1/standard/models/seed-1"
    assert made.runs.first_model(RunKey(*run, "standard")) == start
    squad = RunKey("shin2020", "pubmedbert-base", "squad-v1", "standard")
    assert made.paths.runs(squad) in made.runs.inputs(RunKey(*run, "standard"))
    assert not [path for path in made.runs.inputs(RunKey(*run, "standard")) if "/models/" in path]
    assert made.runs.first_model(RunKey(*run, "no-squad")) == "results/demo/models/pubmedbert-base"
    assert set(made.paths.model_files("pubmedbert-base")) < set(made.runs.inputs(RunKey(*run, "no-squad")))
    assert made.runs.keep_arguments(squad) == ["--keep", start]
    assert made.runs.keep_arguments(RunKey(*run, "standard")) == []


def test_a_run_that_no_table_shows_is_another_s_start_with_one_seed(root: Path) -> None:
    squad = RunKey("shin2020", "biomegatron-345m@bio-30k", "squad-v1", "standard")
    assert targets(root).runs.trained_seeds(squad) == (1,)
    shown = targets(root, tables=["shin2020/table07"], models=None)
    of_table = {run_of(path).run for path in shown.tables.made_records("shin2020/table07")}
    squads = [run for run in of_table if run.dataset == "squad-v1"]
    assert squads and all(shown.runs.trained_seeds(run) == shown.runs.seeds(run) for run in squads)


def test_a_study_may_keep_all_models(root: Path) -> None:
    made = targets(root, keep_models=True)
    run = RunKey("blurb", "pubmedbert-base", "bc2gm", "standard")
    assert made.runs.kept(run) == [made.paths.task_model(run, seed) for seed in (1, 2)]
    assert "keep_models" not in as_json(made.runs.recipe(run))


@pytest.mark.parametrize(
    ("run", "reported"),
    [
        (RunKey("nothing", "pubmedbert-base", "bc2gm", "standard"), "no specs/protocols/nothing.yaml"),
        (RunKey("blurb", "nobody", "bc2gm", "standard"), "no specs/models/nobody.yaml"),
        (RunKey("blurb", "pubmedbert-base", "bc2gn", "standard"), "no specs/datasets/bc2gn.yaml"),
        (
            RunKey("blurb", "pubmedbert-base", "bc2gm", "tagging=oi"),
            "has no setting 'tagging=oi'; it has standard",
        ),
        (RunKey("blurb", "pubmedbert-base", "biosses", "tagging=io"), "is not for similarity"),
    ],
)
def test_a_run_that_cannot_be_is_reported(root: Path, run: RunKey, reported: str) -> None:
    made = targets(root)
    for ask in (made.runs.inputs, made.runs.scored_examples):
        with pytest.raises(PubmillError, match=reported):
            ask(run)


def test_seeds_of_a_dataset_of_its_folds_or_of_all(root: Path) -> None:
    made = targets(root, scale="full", models=None)
    assert [
        len(made.runs.seeds(RunKey("blurb", "m", name, "standard"))) for name in ("bc2gm", "biosses")
    ] == [5, 10]
    assert len(made.runs.seeds(RunKey("lewis2020", "m", "gad@fold-3", "standard"))) == 5
    assert made.runs.seeds(RunKey("alrowili2021", "bio-lm-large", "chemprot@blurb", "standard")) == (
        10, 42, 1234, 12345, 666,
    )  # fmt: skip


def test_a_choice_in_an_unknown_setting_names_the_nearest(root: Path) -> None:
    with pytest.raises(PubmillError, match="protocol blurb: there is no setting 'standart'; the nearest: st"):
        targets(root).runs.searchers(ChoiceKey("blurb", None, "bc2gm", "standart"))
