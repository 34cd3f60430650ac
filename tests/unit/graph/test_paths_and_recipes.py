"""File names and recipes."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.graph import Targets, as_json
from pubmill.graph.corpora import pubmed_files
from pubmill.specs import PubmedSource
from pubmill.specs.study import check_study
from pubmill.tables.aggregation import OF_PREDICTING


def targets(root: Path, **config: object) -> Targets:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"]}
    return Targets(
        *check_study({**base, "models": ["pubmedbert-base", "no-pretraining"], **config}, root / "specs")
    )


def source(**files: list[str]) -> PubmedSource:
    return PubmedSource.model_validate(
        {"name": "pubmed", "kind": "pubmed", "url": "https://example.org/pubmed", "files": files}
    )


def test_pubmed_files_come_in_ncbis_order() -> None:
    files = pubmed_files(source(updatefiles=["26n0004"], baseline=["26n0001-26n0003"]))
    assert files[0] == "baseline/pubmed26n0001.xml.gz"
    assert files[-1] == "updatefiles/pubmed26n0004.xml.gz"
    assert len(files) == 4


@pytest.mark.parametrize("wrong", ["n0001", "26n0001-27n0003", "26n1", "26n0001..26n0003"])
def test_a_wrong_range_is_told(wrong: str) -> None:
    with pytest.raises(PubmillError, match="is no range of PubMed files"):
        pubmed_files(source(baseline=[wrong]))


def test_recipes_hold_no_paths_and_no_machine_settings(root: Path, tmp_path: Path) -> None:
    made = targets(root, mirror=str(tmp_path), results="/elsewhere/results")
    recipes = [
        made.latest_recipe("pubmed-abstracts"),
        made.selection_recipe("pubmed-abstracts"),
        made.vocab_recipe("pubmed-uncased"),
        made.pretraining_recipe("pubmedbert-base"),
        made.model_recipe("pubmedbert-base"),
        made.dataset_recipe("bc2gm"),
        made.run_recipe("blurb", "pubmedbert-base", "bc2gm", "standard"),
        made.trial_recipe(
            "blurb", "pubmedbert-base", "bc2gm", "standard", "batch_size=16+epochs=8+learning_rate=0.002"
        ),
        made.choice_recipe("blurb", None, "bc2gm", "standard"),
        made.score_recipe("blurb", "pubmedbert-base", "bc2gm", "standard", 1),
        made.table_recipe("gu2020/table06"),
        made.report_recipe(),
    ]
    assert not any(str(tmp_path) in as_json(recipe) or "/elsewhere" in as_json(recipe) for recipe in recipes)
    assert all(json.loads(as_json(recipe)) for recipe in recipes)


def test_records_name_the_scale_and_every_expected_seed(root: Path) -> None:
    made = targets(root, datasets=["bc2gm"])
    records = made.records("gu2020/table06")
    assert list(records) == ["pubmedbert-base", "no-pretraining"]
    assert records["pubmedbert-base"] == {
        "bc2gm": [f"runs/blurb/pubmedbert-base/bc2gm/standard/final/seed-{seed}.json" for seed in (1, 2)]
    }
    assert all(path.startswith("results/demo/") for path in made.record_files("gu2020/table06"))


def test_what_is_not_run_has_its_reason(root: Path) -> None:
    missing = targets(root, datasets=["bc2gm"]).table_recipe("gu2020/table06")["missing"]
    assert missing["bc5-chem"] == "not run in this study"
    assert missing["biobert-base"] == "not run in this study"
    assert "yet" in missing["bluebert-base"] and missing["biosses"] == "not run in this study"


def test_segments_start_from_the_checkpoint_before(root: Path) -> None:
    made = targets(root)
    first, last = made.steps("pubmedbert-base")
    assert made.previous_step("pubmedbert-base", first) is None
    assert made.previous_step("pubmedbert-base", last) == first
    assert made.segment_arguments("pubmedbert-base", first) == []
    assert made.segment_arguments("pubmedbert-base", last) == [
        "--previous",
        f"results/demo/pretraining/pubmedbert-base/step-{first}",
    ]
    assert made.segment_inputs("pubmedbert-base", last) == made.checkpoint_files("pubmedbert-base", first)


def test_full_scale_takes_released_weights_and_lower_scales_their_own(root: Path) -> None:
    assert targets(root).weights("pubmedbert-base")["kind"] == "pretraining"
    assert targets(root, scale="full").weights("pubmedbert-base")["kind"] == "hub"
    assert targets(root, scale="full", models=None).pretrainings() == []


def test_a_local_folder_that_was_not_given_is_asked_for(root: Path) -> None:
    with pytest.raises(PubmillError, match=r"set local_files: \{abstracts: "):
        targets(root, scale="small")


def test_a_local_folder_without_files_is_told(root: Path, tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="no file in .* matches"):
        targets(root, scale="small", local_files={"abstracts": str(tmp_path)})


def test_an_unknown_download_is_refused(root: Path) -> None:
    with pytest.raises(PubmillError, match="no spec names https://example.org/x"):
        targets(root).download_checks("https://example.org/x")


def test_trials_are_named_by_their_point(root: Path) -> None:
    made = targets(root, scale="full", models=None)
    trials = made.trial_training("blurb", None, "bc2gm", "standard")
    assert len(trials) == 144
    assert trials[0] == (
        "results/full/runs/blurb/bert-base-uncased/bc2gm/standard/trials/"
        "batch_size=16+epochs=2+learning_rate=1e-05/seed-1.training.json"
    )
    run = ("blurb", "pubmedbert-base", "bc2gm", "standard")
    point = made.trial_recipe(*run, "batch_size=16+epochs=2+learning_rate=1e-05")
    assert (point["batch_size"], point["learning_rate"]) == (16, 1e-05)
    with pytest.raises(PubmillError, match="no trial 'batch_size=8' .* it has batch_size=16[+]"):
        made.trial_recipe(*run, "batch_size=8")


def test_one_choice_for_all_models_or_each_its_own(root: Path) -> None:
    made = targets(root, scale="full", models=None)
    runs = "results/full/runs"
    model, data = "biobert-base", "bc2gm"
    assert made.selected("blurb", model, data, "standard") == [f"{runs}/blurb/selected/bc2gm/standard.json"]
    assert made.choice_recipe("blurb", None, data, "standard")["decides"] == [
        "batch_size", "epochs", "learning_rate",
    ]  # fmt: skip
    own = [f"{runs}/tinn2021/{model}/bc2gm/layer-freeze/selected.json"]
    assert made.selected("tinn2021", model, data, "layer-freeze") == own
    assert made.selected_arguments("tinn2021", model, data, "layer-freeze") == ["--selected", *own]
    assert made.choice_recipe("tinn2021", model, data, "layer-freeze")["decides"] == [
        "batch_size", "frozen_layers", "learning_rate",
    ]  # fmt: skip
    assert len(made.trial_training("tinn2021", model, data, "layer-freeze")) == 18
    with pytest.raises(PubmillError, match="blurb: the choice is common to all models"):
        made.trial_training("blurb", model, data, "standard")
    with pytest.raises(PubmillError, match="tinn2021: each model chooses for itself"):
        made.trial_training("tinn2021", None, data, "standard")
    with pytest.raises(PubmillError, match="alrowili2021: nothing is searched"):
        made.trial_training("alrowili2021", model, data, "standard")


def test_a_setting_may_take_the_choice_of_another(root: Path) -> None:
    made = targets(root, scale="full", models=None)
    chosen = [made.selected("blurb", "biobert-base", "bc2gm", s) for s in ("standard", "tagging=io")]
    assert chosen[0] == chosen[1]
    assert made.selected("alrowili2021", "biobert-base", "bc2gm", "standard") == []


def test_folds_choose_their_steps_on_the_one_that_is_not_reported(root: Path) -> None:
    made = targets(root)
    run = ("lewis2020", "pubmedbert-base", "gad@fold-2", "standard")
    chosen = "results/demo/runs/lewis2020/pubmedbert-base/gad@fold-1/standard"
    assert made.selected(*run) == [f"{chosen}/selected.json"]
    assert f"{chosen}/selected.json" not in made.run_inputs("lewis2020", *run[1:2], "bc2gm", "standard")
    assert made.trial_training(*run[:2], "gad@fold-1", "standard") == [
        f"{chosen}/trials/default/seed-{seed}.training.json" for seed in (1, 2)
    ]
    assert made.choice_recipe(*run[:2], "gad@fold-1", "standard")["decides"] == ["stop_after"]
    assert made.split_arguments("lewis2020", "gad@fold-1", trial=True) == ["--split", "test", "--dev", "test"]
    assert made.split_arguments("lewis2020", "gad@fold-2", trial=False) == [
        "--split",
        "test",
        "--dev",
        "none",
    ]
    with pytest.raises(PubmillError, match="chooses on gad@fold-1"):
        made.check_run("lewis2020", "pubmedbert-base", "gad@fold-1", "standard")


def test_splits_of_trials_and_runs(root: Path) -> None:
    made = targets(root)
    assert made.split_arguments("blurb", "bc2gm", trial=True) == ["--split", "dev", "--dev", "dev"]
    assert made.split_arguments("blurb", "bc2gm", trial=False) == ["--split", "test", "--dev", "dev"]
    assert made.split_arguments("shin2020", "squad-v1", trial=False) == ["--split", "dev", "--dev", "none"]
    assert made.score_recipe("shin2020", "pubmedbert-base", "squad-v1", "standard", 1)["split"] == "dev"
    assert made.scored_examples("shin2020", "pubmedbert-base", "squad-v1", "standard").endswith(
        "/squad-v1/dev.jsonl.gz"
    )


def test_a_chain_begins_with_the_model_of_the_run_before(root: Path) -> None:
    made = targets(root)
    run = ("shin2020", "pubmedbert-base", "bioasq-factoid@7b")
    start = "results/demo/runs/shin2020/pubmedbert-base/squad-v1/standard/models/seed-1"
    assert made.first_model(*run, "standard") == start
    assert start in made.run_inputs(*run, "standard")
    assert made.first_model(*run, "no-squad") == "results/demo/models/pubmedbert-base"
    assert set(made.model_files("pubmedbert-base")) < set(made.run_inputs(*run, "no-squad"))
    squad = ("shin2020", "pubmedbert-base", "squad-v1", "standard")
    assert made.kept(*squad, 1) == [start] and made.kept_arguments(*squad, 1) == ["--kept", start]
    assert made.kept(*squad, 2) == [] and made.kept(*run, "standard", 1) == []


def test_a_study_may_keep_all_models(root: Path) -> None:
    made = targets(root, keep_models=True)
    run = ("blurb", "pubmedbert-base", "bc2gm", "standard")
    assert made.kept(*run, 2) == [made.paths.task_model(*run, 2)]
    assert "keep_models" not in as_json(made.run_recipe(*run))


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (("nothing", "pubmedbert-base", "bc2gm", "standard"), "no specs/protocols/nothing.yaml"),
        (("blurb", "nobody", "bc2gm", "standard"), "no specs/models/nobody.yaml"),
        (("blurb", "pubmedbert-base", "bc2gn", "standard"), "no specs/datasets/bc2gn.yaml"),
        (("blurb", "pubmedbert-base", "bc2gm", "tagging=oi"), "has no setting 'tagging=oi'; it has standard"),
        (("blurb", "pubmedbert-base", "biosses", "tagging=io"), "is not for similarity"),
    ],
)
def test_a_run_that_cannot_be_is_told(root: Path, run: tuple[str, str, str, str], told: str) -> None:
    made = targets(root)
    for ask in (made.run_inputs, made.scored_examples):
        with pytest.raises(PubmillError, match=told):
            ask(*run)


def test_seeds_of_a_dataset_of_its_folds_or_of_all(root: Path) -> None:
    made = targets(root, scale="full", models=None)
    assert [len(made.seeds("blurb", "m", name, "standard")) for name in ("bc2gm", "biosses")] == [5, 10]
    assert len(made.seeds("lewis2020", "m", "gad@fold-3", "standard")) == 5
    assert made.seeds("alrowili2021", "bio-lm-large", "chemprot@blurb", "standard") == (
        10, 42, 1234, 12345, 666,
    )  # fmt: skip


def test_text_of_the_users_own_is_recorded_as_a_source(root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").touch()
    made = targets(root, scale="small", local_files={"abstracts": str(tmp_path)})
    shard = made.shards("pubmed-abstracts")[-1]
    assert shard == ("abstracts", "a", "results/small/sources/local/abstracts/a.jsonl.gz")
    assert made.raw("abstracts", "a") == shard.file
    assert made.local_file("abstracts", "a.jsonl.gz") == str(tmp_path / "a.jsonl.gz")
    assert "sources/local/abstracts/a.jsonl.gz.source.json" in made.source_records()


@pytest.mark.parametrize("name", ["x;touch P.jsonl.gz", "{x}.jsonl.gz", "-x.jsonl.gz", "a\nb.jsonl.gz"])
def test_a_file_of_the_users_own_with_an_odd_name_is_refused(root: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(PubmillError) as caught:
        targets(root, scale="small", local_files={"abstracts": str(tmp_path)}).shards("pubmed-abstracts")
    told = str(caught.value)
    assert f"a file is called {name!r}; expected letters" in told and "Rename it" in told


def test_a_whole_baseline_fits_on_a_command_line(root: Path) -> None:
    """One argument of a Linux program has at most 131,072 bytes, and `bash -c` takes the command as one."""
    made = targets(root, scale="full", models=["no-pretraining"])
    assert len(made.shards("pubmed-abstracts")) == 1514
    assert len(as_json(made.latest_recipe("pubmed-abstracts"))) < 65536
    assert len(as_json(made.report_recipe())) < 131072


def test_checkpoints_and_saves_are_no_part_of_the_recipe(root: Path) -> None:
    assert not {"checkpoints", "save_minutes"} & targets(root).pretraining_recipe("pubmedbert-base").keys()


def test_a_model_depends_on_the_content_of_its_own_folder(root: Path, tmp_path: Path) -> None:
    specs_folder, weights = tmp_path / "specs", tmp_path / "weights"
    shutil.copytree(root / "specs", specs_folder)
    weights.mkdir()
    files = [weights / name for name in ("config.json", "model.safetensors", "vocab.txt")]
    for path in files:
        path.touch()
    (specs_folder / "models/mine.yaml").write_text(
        "name: mine\nlowercase: true\nweights: {kind: folder, local: mine}\ntables: [gu2020/table06]\n"
    )
    config = {
        "study": "x", "title": "x", "scale": "full", "tables": ["gu2020/table06"],
        "local_files": {"mine": str(weights)},
    }  # fmt: skip
    made = Targets(*check_study(config, specs_folder))
    assert made.own_models()[-1:] == ["mine"] and made.own_folder("mine") == weights
    assert made.own_folder_content("mine") == {path.name: sha256(b"").hexdigest() for path in files}
    assert [column["model"] for column in made.table_recipe("gu2020/table06")["columns"]][-1] == "mine"
    made = Targets(*check_study(config | {"local_files": {}}, specs_folder))
    told = "needs its weights in a folder of your own (then set local_files: mine)"
    assert made.table_recipe("gu2020/table06")["missing"]["mine"] == told and "mine" not in made.models()
    assert made.left_out()[-1] == f"left out of the tables: mine ({told})"
    made = Targets(*check_study(config | {"models": ["pubmedbert-base"]}, specs_folder))
    assert made.left_out()[-1] == (
        "left out of the tables: mine (its spec names gu2020/table06, which the study runs; "
        "add it to the study's `models:`)"
    )
    with pytest.raises(PubmillError, match=r"model mine: /nowhere \(local_files\.mine\) does not exist"):
        Targets(*check_study(config | {"local_files": {"mine": "/nowhere"}}, specs_folder))
    elsewhere = config | {"local_files": {"mine": "/nowhere"}, "models": ["pubmedbert-base"]}
    with pytest.raises(PubmillError, match="does not exist; correct the path, or the folder"):
        Targets(*check_study(elsewhere, specs_folder)).own_folder("mine")
    for path in files:
        kept = path.rename(tmp_path / "kept")
        lack = path.name if path.suffix == ".json" else "weights" if path.suffix != ".txt" else "tokenizer"
        with pytest.raises(PubmillError, match=rf"\(local_files\.mine\) has no {lack}.*; its files: "):
            Targets(*check_study(config, specs_folder))
        kept.rename(path)
    Targets(*check_study(config, specs_folder))


PIPELINES = ["scispacy-jnlpba", "scispacy-bc5cdr"]
TABLE10 = "tinn2021/table10"


def tools(root: Path, *named: str, **config: object) -> Targets:
    """A study of Table 10 in which the user names the folders of these pipelines."""
    config = {"tables": [TABLE10], "models": [*PIPELINES, "no-pretraining"]} | config
    return targets(root, local_files={name: f"/somewhere/{name}" for name in named}, **config)


def test_pipelines_have_one_record_of_their_own_place(root: Path) -> None:
    made = tools(root, *PIPELINES, datasets=["bc2gm"])
    assert made.records(TABLE10) == {
        **{m: {"bc2gm": [f"runs/off-the-shelf/{m}/bc2gm/as-it-is/final/seed-1.json"]} for m in PIPELINES},
        "no-pretraining": {
            "bc2gm": [f"runs/blurb/no-pretraining/bc2gm/standard/final/seed-{seed}.json" for seed in (1, 2)]
        },
    }
    assert made.models() == [*PIPELINES, "no-pretraining"]
    columns = {column["key"]: column for column in made.table_recipe(TABLE10)["columns"]}
    assert columns["scispacy-bc5cdr"]["pipeline"] and columns["scispacy-bc5cdr"]["model"] == "scispacy-bc5cdr"
    assert (columns["scispacy-max"]["model"], columns["scispacy-max"]["best_of"]) == (None, PIPELINES)
    assert not columns["pubmedbert-base"]["pipeline"]
    assert columns["no-pretraining"]["published"] == ["no-pretraining"]
    assert "scispacy-max" not in made.table_recipe(TABLE10)["missing"]


def test_pipelines_are_scored_as_fine_tuned_models_are(root: Path) -> None:
    """So that their records may stand in one row."""
    made = tools(root, *PIPELINES)
    recipes = (
        made.score_recipe("tinn2021", "no-pretraining", "bc2gm", "standard", 1),
        made.annotation_score_recipe("scispacy-bc5cdr", "bc2gm"),
    )
    common = [
        {
            **{name: recipe[name] for name in ("split", "kind", "metric", "negative", "scale")},
            **{stage: v for stage, v in recipe["versions"].items() if stage not in OF_PREDICTING},
        }
        for recipe in recipes
    ]
    assert common[0] == common[1]
    assert {"convert", "score", "metric", "metrics"} < common[0].keys()


def test_a_pipeline_whose_folder_is_not_named_is_a_reason_and_ends_no_study(root: Path) -> None:
    made = tools(root, "scispacy-jnlpba")
    missing = made.table_recipe(TABLE10)["missing"]
    told = "needs a spaCy pipeline of your own (then set local_files: scispacy-bc5cdr)"
    assert missing["scispacy-bc5cdr"] == told
    assert "scispacy-jnlpba" not in missing
    assert missing["pubmedbert-large"] == "not run in this study"
    assert list(made.records(TABLE10)) == ["scispacy-jnlpba", "no-pretraining"]
    assert made.left_out() == [f"left out of the tables: scispacy-bc5cdr ({told})"]
    assert made.report_recipe()["models"] == ["scispacy-jnlpba", "no-pretraining"]


def test_pipelines_that_the_study_leaves_out_are_not_asked_for(root: Path) -> None:
    made = tools(root, models=["no-pretraining"])
    missing = made.table_recipe(TABLE10)["missing"]
    assert {missing[name] for name in PIPELINES} == {"not run in this study"}
    assert made.left_out() == []


def test_a_pipeline_that_is_not_for_a_dataset_has_a_reason_there(root: Path) -> None:
    """It joins the table because the study lists its models."""
    made = tools(root, "scispacy-jnlpba", tables=["gu2020/table06"], datasets=["bc2gm", "ebm-pico"])
    assert list(made.records("gu2020/table06")["scispacy-jnlpba"]) == ["bc2gm"]
    missing = made.table_recipe("gu2020/table06")["missing"]
    assert missing["scispacy-jnlpba/ebm-pico"] == "the pipeline is not for this dataset"
    assert "scispacy-jnlpba/bc2gm" not in missing and "no-pretraining/ebm-pico" not in missing
    assert missing["gad@blurb"] == "not run in this study" and "scispacy-jnlpba/gad@blurb" not in missing


def test_a_table_may_show_another_metric_than_the_datasets_own(root: Path) -> None:
    made = tools(root, *PIPELINES, tables=[TABLE10, "tinn2021/table11"])
    metrics = {
        table: {row["metric"] for row in made.table_recipe(table)["rows"]} for table in made.study.tables
    }
    assert metrics == {TABLE10: {"entity_f1"}, "tinn2021/table11": {"relaxed_f1"}}
    assert made.records(TABLE10) == made.records("tinn2021/table11")
