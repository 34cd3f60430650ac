"""What users of their own bring, from the command they type to a number: a model, a table."""

import csv
import re
from pathlib import Path

import pytest
import yaml

from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.run import finetune_or_fail, write_outcome
from pubmill.metrics import SCORERS
from pubmill.metrics.records import score_run, write_record
from pubmill.new_specs.new_model import new_model, write_spec
from pubmill.pretraining.export import export
from pubmill.recipes.models import ExportRecipe, LocalWeights
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.storage.result_paths import PREDICTIONS
from tests.unit import toy_tables
from tests.unit.finetuning.encoder_families import ARCHITECTURES, save_encoder
from tests.unit.programs import run_verb
from tests.unit.toy_tasks import TOKENS, write_dataset
from tests.workflow.conftest import Project, copy_code

TOY = "bc2gm"
"""Name under which the toy dataset of words is in the toy table."""


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("datasets") / TOY, "tokens")


@pytest.mark.long
@pytest.mark.parametrize("family", ARCHITECTURES)
def test_a_model_of_ones_own_gets_from_its_folder_to_a_cell(family: str, words: Path, tmp_path: Path) -> None:
    """Described, taken over, fine-tuned, scored and shown, for every architecture."""
    own = new_model(str(save_encoder(tmp_path / "own" / family, family)))
    spec = yaml.safe_load(write_spec(own, tmp_path / "specs").read_text())
    recipe = ExportRecipe(model=own.name, lowercase=spec["lowercase"], weights=LocalWeights(local=own.name))
    export(recipe, tmp_path / own.name, folder=own.folder)

    place = toy_tables.paths(own.name, TOY, seeds=1)
    record = tmp_path / place[0]
    predictions, training = record.with_suffix(PREDICTIONS), record.with_suffix(".training.json")
    record.parent.mkdir(parents=True)
    job = FinetuningJob(TOKENS, tmp_path / own.name, words, 1, "test")
    write_outcome(finetune_or_fail(job), job, predictions, None)
    scoring = ScoringRecipe(
        model=own.name, dataset=TOY, protocol="blurb", setting="standard", scale="small", seed=1,
        split="test", kind="tokens", metric="entity_f1", versions={"finetune": 1},
    )  # fmt: skip
    scored, _ = score_run(scoring, SCORERS["tokens"], predictions, words / "test.jsonl.gz", training)
    write_record(record, scored)

    shown = toy_tables.recipe(columns=[toy_tables.column(own.name, family)], records={own.name: {TOY: place}})
    cell = toy_tables.table(tmp_path, shown, toy_tables.HEADER).cells[own.name][TOY]
    assert scored.failed is None and scored.metrics
    assert cell.value == pytest.approx(100 * scored.metrics["entity_f1"])


@pytest.mark.long
def test_a_new_table_with_four_mistakes_is_mended_by_what_is_said(root: Path, tmp_path: Path) -> None:
    """Each dry run names the file, the line and what stands there; the last counts jobs."""
    project = Project(copy_code(root, tmp_path))

    def typed(*words: str) -> str:
        ended = run_verb(*words, checkout=project.folder)
        return ended.stdout + ended.stderr

    made = ("new", "table", "mine/table01", "--dataset", "bc2gm", "--dataset", "jnlpba")
    assert typed(*made, "--model", "pubmedbert-base").splitlines()[-3:-1] == [
        "specs/tables/mine/table01.yaml", "specs/tables/mine/table01.published.csv",
    ]  # fmt: skip
    study = "study: mine\ntitle: Mine\nscale: full\ntables: [mine/table01]\n"
    (project.folder / "studies/mine.yaml").write_text(study)
    table, published = "specs/tables/mine/table01.yaml", "specs/tables/mine/table01.published.csv"
    with (project.folder / published).open() as lines:
        assert [row[:3] for row in csv.reader(lines)][1:] == [
            ["pubmedbert-base", "bc2gm", "entity_f1"], ["pubmedbert-base", "jnlpba", "entity_f1"],
        ]  # fmt: skip

    project.edit(table, "dataset: bc2gm", "dataset: bc2gn")
    assert "table01.yaml:" in (said := typed("run", "mine", "-n")) and "the nearest: bc2gm" in said
    project.edit(table, "dataset: bc2gn", "dataset: bc2gm")
    for names, value, message in (
        ("pubmedbert-base,bc2gm", "80.1 %", "the value '80.1 %' is not a number, such as 93.33"),
        ("pubmedbert,bc2gm", "80.1", "no cell pubmedbert / bc2gm / entity_f1; the nearest: pubmedbert-base"),
        ("bc2gm,pubmedbert-base", "80.1", "no cell bc2gm / pubmedbert-base / entity_f1: row and column"),
    ):
        right, wrong = "pubmedbert-base,bc2gm,entity_f1,,not entered yet", f"{names},entity_f1,{value},"
        project.edit(published, right, wrong)
        assert f"{published}:2: {message}" in (said := typed("run", "mine", "-n")), said
        project.edit(published, wrong, right)
    project.edit(published, "bc2gm,entity_f1,,not entered yet", "bc2gm,entity_f1,80.1,")
    assert re.search(r"^\d+ jobs would run:", typed("run", "mine", "-n"), re.MULTILINE)
