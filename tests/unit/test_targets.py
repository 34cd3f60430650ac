"""File names and recipes."""

import json
import shutil
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import PubmedSource
from pubmill.study import check_study
from pubmill.targets import Targets, as_json
from pubmill.targets.corpora import pubmed_files


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
        made.finetuning_recipe("blurb", "bc2gm", "standard", None),
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
    assert "yet" in missing["roberta-base"] and "yet" in missing["biosses"]


def test_segments_start_from_the_checkpoint_before(root: Path) -> None:
    made = targets(root)
    first, last = made.steps("pubmedbert-base")
    assert made.previous_step("pubmedbert-base", first) is None
    assert made.previous_step("pubmedbert-base", last) == first
    assert made.segment_arguments("pubmedbert-base", first) == []
    assert made.segment_arguments("pubmedbert-base", last) == [
        "--start",
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
    assert len(made.trials("blurb")) == 6
    assert made.trials("blurb")["batch_size=16,learning_rate=1e-05"] == {
        "batch_size": 16,
        "learning_rate": 1e-05,
    }
    assert len(made.trial_training("blurb", "bc2gm", "standard")) == 12
    assert made.selection_inputs("blurb", "bc2gm", "standard") == [
        "results/full/runs/blurb/selected/bc2gm/standard.json"
    ]


def test_text_of_the_users_own_is_recorded_as_a_source(root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").touch()
    made = targets(root, scale="small", local_files={"abstracts": str(tmp_path)})
    shard = made.shards("pubmed-abstracts")[-1]
    assert shard == ("abstracts", "a", "results/small/sources/local/abstracts/a.jsonl.gz")
    assert made.raw("abstracts", "a") == shard.file
    assert made.local_file("abstracts", "a.jsonl.gz") == str(tmp_path / "a.jsonl.gz")
    assert "sources/local/abstracts/a.jsonl.gz.source.json" in made.report_recipe()["sources"]


def test_a_whole_baseline_fits_on_a_command_line(root: Path) -> None:
    """One argument of a Linux program has at most 131,072 bytes, and `bash -c` takes the command as one."""
    made = targets(root, scale="full", models=["no-pretraining"])
    assert len(made.shards("pubmed-abstracts")) == 1514
    assert len(as_json(made.latest_recipe("pubmed-abstracts"))) < 65536
    assert len(as_json(made.report_recipe())) < 131072


def test_checkpoints_and_saves_are_no_part_of_the_recipe(root: Path) -> None:
    assert not {"checkpoints", "save_minutes"} & targets(root).pretraining_recipe("pubmedbert-base").keys()


def test_a_models_own_folder_is_its_input(root: Path, tmp_path: Path) -> None:
    """So that weights which changed in place are noticed."""
    specs_folder, weights = tmp_path / "specs", tmp_path / "weights"
    shutil.copytree(root / "specs", specs_folder)
    weights.mkdir()
    (weights / "config.json").touch()
    (specs_folder / "models/mine.yaml").write_text(
        "name: mine\nlowercase: true\nweights: {kind: folder, local: mine}\ntables: [gu2020/table06]\n"
    )
    config = {
        "study": "x", "title": "x", "scale": "full", "tables": ["gu2020/table06"],
        "local_files": {"mine": str(weights)},
    }  # fmt: skip
    made = Targets(*check_study(config, specs_folder))
    assert made.model_inputs("mine") == {"folder": [str(weights / "config.json")]}
    assert made.model_arguments("mine") == ["--folder", str(weights)]
    assert [column["model"] for column in made.table_recipe("gu2020/table06")["columns"]][-1] == "mine"
