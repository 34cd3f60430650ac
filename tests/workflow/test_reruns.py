"""Which change reruns which jobs (reruns.md), counted in plans of a finished study.

Each test changes the study's files and restores them.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workflow.conftest import TABLE, Planning, Project, copy_of, jobs_of

DEMO, BLURB = "specs/scales/demo.yaml", "specs/protocols/blurb.yaml"
PUBLISHED, TABLE06 = "specs/tables/gu2020/table06.published.csv", "specs/tables/gu2020/table06.yaml"
ENTITIES, VOCAB = "pubmill/metrics/entities.py", "specs/vocabs/pubmed-uncased.yaml"
ENTITY_F1 = '"conlleval, seqeval; gu2020 4.1", f1_of(), chooses=f1_of()'
GRID = "{learning_rate: [2e-3], batch_size: [16], epochs: [1]}, models: [pubmedbert-base]"
FIRST = (
    "optimisation: {learning_rate: 3e-3}\n      sequence_length: 64\n      batch_size: 32\n      steps: 40\n"
)
FIRST += "      recompute_activations: false\n    checkpoints: [20, 40]"
HEADS = (
    "{kinds: [tokens, sequence, multilabel, regression, span], values: {head: mlp, head_sizes: [64]}, why: x}"
)
RUN = "results/demo/runs/blurb/pubmedbert-base/bc5-chem/standard/final"
WEIGHTS = "results/demo/pretraining/pubmedbert-base/step-40/model.safetensors"

EDITS = {
    "a published value": (PUBLISHED, "bc5-chem,entity_f1,93.33", "bc5-chem,entity_f1,93.34"),
    "a label of a table": (TABLE06, "label: BC5-chem,", "label: BC5 chemicals,"),
    "the version of a metric": (ENTITIES, ENTITY_F1, f"{ENTITY_F1}, version=2"),
    "how a protocol aggregates": (BLURB, "aggregate: mean", "aggregate: median"),
    "one seed more on a dataset": (DEMO, "{bc5-chem: 2,", "{bc5-chem: 3,"),
    "one point more in the grid": (DEMO, GRID, GRID.replace("2e-3", "2e-3, 3e-3")),
    "a hyper-parameter of a protocol": (BLURB, "weight_decay: 0.0", "weight_decay: 0.1"),
    "the head of a protocol": (BLURB, "overrides:\n", f"overrides:\n  heads: {HEADS}\n"),
    "a setting that no table shows": (DEMO, "values: {head_sizes: [32]}", "values: {head_sizes: [64]}"),
    "the version of a dataset": ("specs/datasets/jnlpba.yaml", "\nversion: 1", "\nversion: 2"),
    "an option of a dataset's converter": (
        "specs/datasets/bc5-chem.yaml", "options: {labels: first_character}",
        "options: {labels: first_character, other: 1}",
    ),
    "one more file of PubMed": (DEMO, "[26n1335-26n1336]", "[26n1335-26n1336, 26n1337]"),
    "a filter of the corpus": ("specs/corpora/pubmed-abstracts.yaml", "min_words: 128", "min_words: 100"),
    "the size of the vocabulary": (DEMO, "pubmed-uncased: {size: 2000}", "pubmed-uncased: {size: 1900}"),
    "the learning rate of a pretraining": (DEMO, FIRST, FIRST.replace("3e-3", "2e-3")),
    "a checkpoint within the last segment": (DEMO, FIRST, FIRST.replace("20, 40", "20, 30, 40")),
    "code without a new version": (
        "pubmill/metrics/entities.py", "def score_entities(", "# a remark\ndef score_entities(",
    ),
    "the text of a command": (
        "rules/finetuning.smk", "python -m pubmill.job score", "exec python -m pubmill.job score",
    ),
    "a comment, and the order of keys": (
        VOCAB, "lowercase: true\ncorpus: pubmed-abstracts",
        "corpus: pubmed-abstracts\nlowercase: true  # a remark",
    ),
}  # fmt: skip
REWRITTEN = {
    "the weights of the last segment": WEIGHTS,
    "one dataset's examples": "results/demo/datasets/jnlpba/train.jsonl.gz",
    "one run's predictions": f"{RUN}/runs.json",
}
OTHERS = ("nothing", "an intermediate file that is gone")
OWN_FILES = (
    "a folder of your own that moved", "a folder of your own that was copied",
    "the checkout that moved, with its results", "the content of a dataset's own file",
    "the content of a corpus's own file", "the weights in a model's own folder",
)  # fmt: skip
"""Counted by `test_moves.py`."""


@pytest.fixture(scope="module")
def own(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Planning:
    """A finished project for this module alone, because its tests change files temporarily."""
    return Planning(
        copy_of(finished, tmp_path_factory.mktemp("reruns") / "copy").folder, python=finished.python
    )


@pytest.fixture
def changing(own: Planning) -> Iterator[Planning]:
    names = {"config.yaml", *(edit[0] for edit in EDITS.values()), *REWRITTEN.values()}
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in map(own.folder.joinpath, names)}
    yield own
    for path, (content, changed) in before.items():
        path.write_bytes(content)
        os.utime(path, ns=(changed, changed))


def jobs_by_change(root: Path) -> dict[str, dict[str, int]]:
    """Change -> jobs, from reruns.md."""
    text = (root / "tests/workflow/reruns.md").read_text()
    rows = re.findall(r"(?m)^\| ([^|]+) \| (none|[a-z_]+ \d[^|]*) \|$", text)
    return {
        change: {rule: int(n) for rule, n in re.findall(r"([a-z_]+) (\d+)", jobs)} for change, jobs in rows
    }


@pytest.fixture(scope="module")
def reported(root: Path) -> dict[str, dict[str, int]]:
    return jobs_by_change(root)


def test_the_page_has_a_line_for_each_change(reported: dict[str, dict[str, int]]) -> None:
    assert set(reported) == {*EDITS, *REWRITTEN, *OTHERS, *OWN_FILES}


@pytest.mark.long
def test_a_table_with_own_columns_leaves_the_study_as_it_is(copy: Project) -> None:
    own = "results/demo/tables/demo+no-pretraining/gu2020-table06.html"
    settings = ("--config", 'models=["no-pretraining"]', "own_tables=no-pretraining")
    assert jobs_of(copy.run(own, *settings)) == {"table": 1}
    page = (copy.folder / own).read_text()
    assert "no-pretraining" in page or "No pretraining" in page
    assert copy.planned() == {} and copy.planned(own, *settings) == {}


@pytest.mark.long
def test_a_choice_of_ones_own_is_a_setting_that_no_published_value_judges(copy: Project) -> None:
    own = "results/demo/tables/demo+chosen/gu2020-table06"
    values = '{"learning_rate": 1e-3, "batch_size": 16, "epochs": 2}'
    choice = f'choice={{"name": "chosen", "source": "a colleague", "values": {values}}}'
    models = ('models=["no-pretraining"]', 'datasets=["jnlpba"]', "own_tables=chosen")
    settings = ("--config", *models, choice)
    assert jobs_of(copy.run(f"{own}.html", *settings)) == {"finetune": 1, "score": 1, "table": 1}
    folder = copy.folder / "results/demo/runs/blurb/no-pretraining/jnlpba/standard+chosen/final"
    record = json.loads((folder / "seed-1.json").read_text())
    assert (record["setting"], record["recipe"]["epochs"]) == ("standard+chosen", 2)
    table = json.loads((copy.folder / f"{own}.json").read_text())
    assert table["cells"]["no-pretraining"]["jnlpba"]["value"] is not None
    page = (copy.folder / f"{own}.html").read_text()
    assert "(chosen)" in page and "a colleague" in page and "the user chose the hyper-parameters" in page
    assert copy.planned() == {} and copy.planned(f"{own}.html", *settings) == {}


def test_predictions_of_others_are_scored_alone(copy: Project) -> None:
    (copy.folder / "theirs").mkdir()
    (copy.folder / "theirs/jnlpba.conll").write_text("gene O\n\n")
    spec = {
        "name": "theirs", "label": "Theirs", "lowercase": False,
        "weights": {
            "kind": "predictions", "local": "theirs", "system": {"name": "x", "version": "1", "prompt": "y"},
        },
    }  # fmt: skip
    (copy.folder / "specs/models/theirs.yaml").write_text(json.dumps(spec))
    own = "results/demo/tables/demo+theirs/gu2020-table06.html"
    models = ('models=["theirs"]', 'datasets=["jnlpba"]', "own_tables=theirs")
    settings = ("--config", *models, f'local_files={{"theirs": "{copy.folder}/theirs"}}')
    assert copy.planned(own, *settings) == {"take_predictions": 1, "score_predictions": 1, "table": 1}


def test_a_plan_is_what_a_dry_run_says(changing: Planning) -> None:
    assert changing.planned() == changing.planned(TABLE) == {}
    changing.edit(*EDITS["one seed more on a dataset"])
    assert changing.planned() == Project.planned(changing)


@pytest.mark.parametrize("change", EDITS)
def test_an_edit(changing: Planning, reported: dict[str, dict[str, int]], change: str) -> None:
    changing.edit(*EDITS[change])
    assert changing.planned() == reported[change]


@pytest.mark.parametrize("change", REWRITTEN)
def test_another_file(changing: Planning, reported: dict[str, dict[str, int]], change: str) -> None:
    path = changing.folder / REWRITTEN[change]
    path.write_bytes(path.read_bytes() + b"x")
    assert changing.planned() == reported[change]


def test_an_intermediate_file_is_made_again_when_it_is_asked_for(changing: Planning) -> None:
    (changing.folder / WEIGHTS).unlink()
    assert changing.planned() == {}
    assert changing.planned(WEIGHTS) == {"pretrain": 1}


@pytest.mark.long
def test_what_failed_after_a_change_is_still_to_be_done(copy: Project) -> None:
    """Otherwise the table from before the change would count as up to date."""
    copy.edit(*EDITS["the version of a metric"])
    copy.edit("pubmill/jobs/score.py", "    written = list[Path]()", "    raise SystemExit(1)")
    assert copy.run(TABLE, check=False).returncode
    assert copy.planned(TABLE) == {"score": 4, "table": 1}


def test_another_mirror_reruns_nothing(changing: Planning, world: Path, tmp_path: Path) -> None:
    """A mirror with the same files; one without some of them would change why cells are empty."""
    (tmp_path / "elsewhere").symlink_to(world)
    changing.edit("config.yaml", f"mirror: {world}", f"mirror: {tmp_path / 'elsewhere'}")
    assert changing.planned() == {}


@pytest.mark.parametrize(
    ("old", "new", "step", "jobs"), [("40", "60", 60, 2), ("[20, 40]", "[10, 20, 40]", 10, 1)]
)
def test_another_checkpoint_on_the_way_is_no_other_recipe_and_a_longer_schedule_is(
    changing: Planning, old: str, new: str, step: int, jobs: int
) -> None:
    """A schedule's length changes every learning rate, so checkpoints of a shorter one cannot be used."""
    changing.edit(DEMO, FIRST, FIRST.replace(old, new))
    target = f"results/demo/pretraining/pubmedbert-base/step-{step}/state.json"
    assert changing.planned(target) == {"pretrain": jobs}
