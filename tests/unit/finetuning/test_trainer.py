"""What a run reports of itself, weights that are refused, and the program."""

import json
import subprocess
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.finetuning.encoders import load_encoder
from pubmill.finetuning.finetuning_job import FinetuningJob, read_split
from pubmill.finetuning.run import finetune
from pubmill.metrics import dev_score
from pubmill.recipes.reading import as_values
from pubmill.storage.files import write_jsonl_gz
from tests.unit.toy_tasks import TOKENS

CPU = torch.device("cpu")


def test_a_run_accounts_for_itself(tiny: Path, tokens: Path) -> None:
    made = finetune(FinetuningJob(replace(TOKENS, epochs=4, learning_rate=1e-2), tiny, tokens, 1, "dev"))
    examples, report = read_split(tokens, "dev", TokensExample), made.report
    assert [row["id"] for row in made.predictions] == [example.id for example in examples]
    score = dev_score("entity_f1", "tokens", examples, [row["labels"] for row in made.predictions], None)
    assert score == report["dev"]["best"] == max(report["dev"]["scores"]) > 0
    assert report["dev"]["scores"].index(score) + 1 == report["dev"]["best_epoch"]
    assert report["steps"] == 4 * 7 and report["failed"] is None and report["model"] == "tiny"
    assert report["hardware"]["threads"] == torch.get_num_threads()
    assert set(report["data_sha256"]) == {"train", "dev"}


@pytest.mark.filterwarnings("ignore")
def test_nan_is_marked_as_failed_and_no_label_is_made_up(tiny: Path, tokens: Path) -> None:
    made = finetune(FinetuningJob(replace(TOKENS, learning_rate=1e30), tiny, tokens, 1, "test"))
    assert made.report["failed"] == "nan" and made.report["dev"]["best"] is None
    assert {row["labels"] for row in made.predictions} == {None}
    json.dumps(made.report, allow_nan=False)


def test_a_folder_without_safe_weights_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(PubmillError, match=r"no model folder.*safetensors"):
        load_encoder(tmp_path, 0.1, CPU)


@pytest.mark.parametrize(
    ("layers", "fault"),
    [
        (3, r"\d+ tensors of the encoder .* is in no file"),
        (1, r"\d+ tensors of the encoder .* would not be used"),
    ],
)
def test_weights_of_more_or_fewer_layers_are_refused(
    tiny: Path, tmp_path: Path, layers: int, fault: str
) -> None:
    for file in tiny.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": layers}))
    with pytest.raises(PubmillError, match=fault):
        load_encoder(tmp_path, 0.1, CPU)


def test_the_program_gives_the_same_as_the_library(
    tiny: Path, tokens: Path, tmp_path: Path, python: str, root: Path
) -> None:
    """And with it the same bytes in another process; `--selected` decides what it chose."""
    selected, output = tmp_path / "selected.json", tmp_path / "run/runs.json"
    chosen = {"learning_rate": 1e-3, "batch_size": 16, "epochs": 1}
    selected.write_text(json.dumps({"chosen": chosen, "mean_dev": 0.5}))
    command = [python, str(root / "scripts/finetune.py"), "--recipe", json.dumps(asdict(TOKENS))]
    command += ["--model", str(tiny), "--dataset", str(tokens), "--seeds", "3", "--split", "test"]
    command += ["--output", str(output), "--selected", str(selected)]
    subprocess.run(command, check=True, capture_output=True)
    recipe = replace(TOKENS, learning_rate=1e-3, batch_size=16, epochs=1)
    expected = finetune(FinetuningJob(recipe, tiny, tokens, 3, "test"))
    write_jsonl_gz(tmp_path / "expected.gz", expected.predictions)
    made = output.with_name("seed-3.predictions.jsonl.gz")
    assert made.read_bytes() == (tmp_path / "expected.gz").read_bytes()
    report = json.loads((tmp_path / "run/seed-3.training.json").read_text())
    assert report["recipe"] == expected.report["recipe"] == as_values(recipe)
    for key in ("loss_by_epoch", "steps", "model_sha256"):
        assert report[key] == expected.report[key]
