"""What reruns what (CONTRIBUTING, "Versions"): jobs counted in dry runs of a finished study."""

import json
from pathlib import Path

from tests.workflow.conftest import TABLE, Project

RUNS = 4  # two models, two datasets, of each seed
MODELS = 2


def test_a_finished_study_has_a_table_and_a_report(finished: Project) -> None:
    table = json.loads((finished.folder / "results/demo/tables/gu2020/table06.json").read_text())
    assert table
    report = (finished.folder / "results/demo/reports/demo.html").read_text()
    assert "<html" in report and 'http-equiv="refresh"' not in report


def test_finished_results_need_nothing(finished: Project) -> None:
    assert finished.planned() == {}
    assert finished.planned(TABLE) == {}


def test_a_published_value_reruns_one_job(copy: Project) -> None:
    copy.edit(
        "specs/tables/gu2020/table06.published.csv",
        "pubmedbert-base,bc5-chem,entity_f1,93.33",
        "pubmedbert-base,bc5-chem,entity_f1,93.34",
    )
    assert copy.planned(TABLE) == {"table": 1}


def test_a_metric_version_reruns_scoring_and_tables_only(copy: Project) -> None:
    copy.edit(
        "pubmill/targets/versions.py",
        '    "entity_f1": 1,',
        '    "entity_f1": 2,',
    )
    assert copy.planned(TABLE) == {"score": 2 * RUNS, "table": 1}


def test_what_failed_after_a_change_is_still_to_be_done(copy: Project) -> None:
    """Else the table, which is there from before the change, would be taken for that of now."""
    copy.edit("pubmill/targets/versions.py", '    "entity_f1": 1,', '    "entity_f1": 2,')
    copy.edit("scripts/score.py", "def main() -> None:", "def main() -> None:\n    raise SystemExit(1)\n")
    assert copy.run(TABLE, check=False).returncode
    assert copy.planned(TABLE) == {"score": 2 * RUNS, "table": 1}


def test_another_seed_runs_only_that_seed(copy: Project) -> None:
    copy.edit(
        "specs/scales/demo.yaml",
        "{bc5-chem: 2,",
        "{bc5-chem: 3,",
    )
    assert copy.planned(TABLE) == {"finetune": MODELS, "score": MODELS, "table": 1}


def test_the_report_follows_its_tables(copy: Project) -> None:
    copy.edit("specs/tables/gu2020/table06.yaml", "label: BC5-chem,", "label: BC5 chemicals,")
    assert copy.planned() == {"table": 1, "compare": 1, "report": 1}


def test_code_without_a_new_version_reruns_nothing(copy: Project) -> None:
    path = copy.folder / "pubmill/metrics/entities.py"
    path.write_text(path.read_text() + "\n# a remark\n")
    assert copy.planned() == {}


def test_another_mirror_and_key_order_rerun_nothing(copy: Project, world: Path, tmp_path: Path) -> None:
    """A mirror with the same files; one that lacks some would change why cells are empty."""
    (tmp_path / "elsewhere").symlink_to(world)
    copy.edit("config.yaml", f"mirror: {world}", f"mirror: {tmp_path / 'elsewhere'}")
    copy.edit(
        "specs/vocabs/pubmed-uncased.yaml",
        "lowercase: true\ncorpus: pubmed-abstracts",
        "corpus: pubmed-abstracts\nlowercase: true",
    )
    assert copy.planned() == {}


def test_a_dataset_version_reruns_its_conversion_and_what_follows(copy: Project) -> None:
    copy.edit("specs/datasets/jnlpba.yaml", "\nversion: 1", "\nversion: 2")
    planned = copy.planned(TABLE)
    assert planned == {"convert": 1, "trial": 1, "choose": 1, "finetune": RUNS, "score": RUNS, "table": 1}


def test_a_longer_pretraining_repeats_its_segments(copy: Project) -> None:
    """The schedule's length changes every learning rate, so no checkpoint of a shorter one serves."""
    there = "steps: 40\n      recompute_activations: false\n    checkpoints: [20, 40]"
    copy.edit("specs/scales/demo.yaml", there, there.replace("40", "60"))
    assert copy.planned("results/demo/pretraining/pubmedbert-base/step-60/state.json") == {"pretrain": 2}


def test_another_checkpoint_on_the_way_is_no_other_recipe(copy: Project) -> None:
    copy.edit("specs/scales/demo.yaml", "checkpoints: [20, 40]", "checkpoints: [10, 20, 40]")
    assert copy.planned("results/demo/pretraining/pubmedbert-base/step-10/state.json") == {"pretrain": 1}
