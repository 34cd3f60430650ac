"""Trials, choices and runs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.errors import ExitWithMessage, PubmillError
from pubmill.recipes.reading import as_json
from pubmill.stages import Graph
from pubmill.stages.run_stages import TrialStage
from pubmill.storage.result_paths import ChoiceKey, RunKey, run_of
from tests.unit.toy_studies import targets


def test_trials_are_named_by_their_point(full: Graph) -> None:
    made = full
    trials = made.runs.trial_manifests(ChoiceKey("blurb", None, "bc2gm", "standard"))
    assert len(trials) == 12, "a job for four points of each of two models, with all seeds"
    assert trials[0] == (
        "results/full/runs/blurb/bert-base-uncased/bc2gm/standard/trials/"
        "batch_size=16+epochs=2+learning_rate=1e-05.json"
    )
    run = RunKey("blurb", "pubmedbert-base", "bc2gm", "standard")
    point = made.runs.trial_recipe(run, "batch_size=16+epochs=2+learning_rate=1e-05")
    assert (point["batch_size"], point["learning_rate"], point["train_on"]) == (16, 1e-05, "train")
    with pytest.raises(PubmillError, match="no block of trials 'batch_size=8' .* it has batch_size=16[+]"):
        made.runs.trial_inputs(run, "batch_size=8")


@pytest.fixture(scope="module")
def full(root: Path) -> Graph:
    return targets(root, scale="full", models=None)


@pytest.fixture(scope="module")
def demo(root: Path) -> Graph:
    return targets(root)


@pytest.mark.parametrize(("points", "sizes"), [(1, [1] * 24), (10, [10, 10, 4]), (None, [24])])
def test_a_scale_says_how_many_points_one_job_tries(
    full: Graph, points: int | None, sizes: list[int]
) -> None:
    scale = full.specs.scale.model_copy(update={"block_points": points})
    made = Graph(full.study, full.specs.model_copy(update={"scale": scale}))
    run = RunKey("blurb", "bert-base-uncased", "bc2gm", "standard")
    blocks = made.runs.blocks(run)
    assert [len(block) for block in blocks] == sizes
    assert [point for block in blocks for point in block] == list(made.runs.points(run))
    wildcards, stage = SimpleNamespace(**run._asdict(), trial=blocks[-1][0]), made.stage(TrialStage)
    assert tuple(stage.recipe_of(wildcards)["points"]) == blocks[-1]
    assert list(stage.seeds_of(wildcards)) == [1, 2, 3]


def test_one_choice_for_all_models_or_each_its_own(full: Graph) -> None:
    made, runs, of = full.runs, "results/full/runs", ("biobert-base", "bc2gm")
    common, own = ("blurb", *of, "standard"), ("tinn2021", *of, "layer-freeze")
    assert made.selected(RunKey(*common)) == [f"{runs}/blurb/selected/bc2gm/standard.json"]
    choice = ChoiceKey("blurb", None, "bc2gm", "standard")
    assert made.choice_recipe(choice).decides == ("batch_size", "epochs", "learning_rate")
    selected = f"{runs}/tinn2021/biobert-base/bc2gm/layer-freeze/selected.json"
    assert made.selected(RunKey(*own)) == [selected]
    decides = ("batch_size", "frozen_layers", "learning_rate")
    assert made.choice_recipe(ChoiceKey(*own)).decides == decides
    assert [len(made.points(RunKey(*own))), len(made.trial_manifests(ChoiceKey(*own)))] == [18, 5]
    for wrong, reported in (
        (common, "blurb, setting standard: the choice is common to all models"),
        (("tinn2021", None, "bc2gm", "standard"), "tinn2021, setting standard: each model chooses"),
        (("alrowili2021", *of, "standard"), "alrowili2021, setting standard: nothing is searched"),
    ):
        with pytest.raises(PubmillError, match=reported):
            made.trial_manifests(ChoiceKey(*wrong))
    with pytest.raises(PubmillError, match="protocol blurb: there is no setting 'standart'; the nearest: st"):
        made.searchers(ChoiceKey("blurb", None, "bc2gm", "standart"))


def test_a_setting_may_take_the_choice_of_another(full: Graph) -> None:
    of, runs = ("biobert-base", "bc2gm"), full.runs
    chosen, taken = (runs.selected(RunKey("blurb", *of, name)) for name in ("standard", "tagging=io"))
    assert chosen == taken and runs.selected(RunKey("alrowili2021", *of, "standard")) == []


def test_folds_choose_their_steps_on_the_one_that_is_not_reported(demo: Graph) -> None:
    of, other, runs = ("lewis2020", "pubmedbert-base"), "gad@fold-1", demo.runs
    chosen = f"results/demo/runs/lewis2020/pubmedbert-base/{other}/standard"
    assert runs.selected(RunKey(*of, "gad@fold-2", "standard")) == [f"{chosen}/selected.json"]
    assert f"{chosen}/selected.json" not in runs.inputs(RunKey(*of, "bc2gm", "standard"))
    choice = ChoiceKey(*of, other, "standard")
    assert runs.trial_manifests(choice) == [f"{chosen}/trials/default.json"]
    assert runs.choice_recipe(choice).decides == ("stop_after",)
    with pytest.raises(PubmillError, match="chooses on gad@fold-1"):
        runs.check(RunKey(*of, other, "standard"))


def test_splits_of_trials_and_runs(demo: Graph) -> None:
    for protocol, dataset, trial, words in (
        ("blurb", "bc2gm", True, "--split dev --dev dev"),
        ("blurb", "bc2gm", False, "--split test --dev dev"),
        ("lewis2020", "gad@fold-1", True, "--split test --dev test"),
        ("lewis2020", "gad@fold-2", False, "--split test --dev none"),
        ("shin2020", "squad-v1", False, "--split dev --dev none"),
    ):
        assert demo.runs.split_arguments(protocol, dataset, trial=trial) == words.split()
    squad = RunKey("shin2020", "pubmedbert-base", "squad-v1", "standard")
    assert demo.records.recipe(squad, 1).split == "dev"
    assert demo.runs.scored_examples(squad).endswith("/squad-v1/dev.jsonl.gz")


def test_a_chain_begins_with_the_model_of_the_run_before(demo: Graph) -> None:
    made, run = demo, ("shin2020", "pubmedbert-base", "bioasq-factoid@7b")
    start = "results/demo/runs/shin2020/pubmedbert-base/squad-v1/standard/models/seed-1"
    assert made.runs.first_model(RunKey(*run, "standard")) == start
    squad = RunKey("shin2020", "pubmedbert-base", "squad-v1", "standard")
    assert made.paths.runs(squad) in made.runs.inputs(RunKey(*run, "standard"))
    assert not [path for path in made.runs.inputs(RunKey(*run, "standard")) if "/models/" in path]
    assert made.runs.first_model(RunKey(*run, "no-squad")) == "results/demo/models/pubmedbert-base"
    assert set(made.paths.model_files("pubmedbert-base")) < set(made.runs.inputs(RunKey(*run, "no-squad")))
    assert made.runs.kept(squad) == [start]
    assert made.runs.kept(RunKey(*run, "standard")) == []


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


@pytest.mark.parametrize(("run", "reported"), [
    (RunKey("nothing", "pubmedbert-base", "bc2gm", "standard"), "no specs/protocols/nothing.yaml"),
    (RunKey("blurb", "nobody", "bc2gm", "standard"), "no specs/models/nobody.yaml"),
    (RunKey("blurb", "pubmedbert-base", "bc2gn", "standard"), "no specs/datasets/bc2gn.yaml"),
    (RunKey("blurb", "pubmedbert-base", "bc2gm", "tagging=oi"),
     "has no setting 'tagging=oi'; it has standard"),
    (RunKey("blurb", "pubmedbert-base", "biosses", "tagging=io"), "is not for similarity"),
])  # fmt: skip
def test_a_run_that_cannot_be_is_reported(demo: Graph, run: RunKey, reported: str) -> None:
    for ask in (demo.runs.inputs, demo.runs.scored_examples):
        with pytest.raises(PubmillError, match=reported):
            ask(run)


def test_seeds_of_a_dataset_of_its_folds_or_of_all(full: Graph) -> None:
    for protocol, model, dataset, seeds in (
        ("blurb", "m", "bc2gm", (1, 2, 3, 4, 5)), ("blurb", "m", "biosses", tuple(range(1, 11))),
        ("lewis2020", "m", "gad@fold-3", (1, 2, 3, 4, 5)),
        ("alrowili2021", "bio-lm-large", "chemprot@blurb", (10, 42, 1234, 12345, 666)),
    ):  # fmt: skip
        assert full.runs.seeds(RunKey(protocol, model, dataset, "standard")) == seeds


def test_rules_end_with_the_message_of_an_error(demo: Graph) -> None:
    plain = ExitWithMessage(demo)
    assert plain.results == "results/demo" and plain.paths.model("x") == "results/demo/models/x"
    with pytest.raises(SystemExit, match="pubmill: error: there is no specs/protocols/none.yaml"):
        plain.runs.protocol("none")
