"""A model that users bring, from its folder to a number."""

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
from tests.unit.toy_tasks import TOKENS, write_dataset

TOY = "bc2gm"
"""Name under which the toy dataset of words is in the toy table."""


USUAL = ("bert", "llama")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("datasets") / TOY, "tokens")


@pytest.mark.long
@pytest.mark.parametrize(
    "family",
    [
        pytest.param(one, marks=() if one in ("bert", "llama") else pytest.mark.weekly)
        for one in ARCHITECTURES
    ],
)
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
