"""Scores of models on other datasets, as a matrix."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.transfer.transfer_matrix import TRANSFER_RENDERERS, TransferMatrix, transfer_matrix
from pubmill.extras.transfer.transfers import TransferMatrixRecipe
from pubmill.recipes.reading import build
from pubmill.recipes.writing import as_json, as_values
from pubmill.storage.files import write_json
from pubmill.tables.cells import parse
from tests.unit.programs import run_program
from tests.unit.toy_tables import record, write

TRANSFER = "transfer/blurb/bert/{}/standard/seed-{}/{}.json"


def put(results: Path, one: str, other: str, seed: int, score: float | None) -> str:
    """Write the score of a run of one dataset on another."""
    values = {
        "protocol": "blurb", "model": "bert", "setting": "standard", "seed": seed, "scale": "small",
        "trained_on": one, "scored_on": other, "mentions": "disease", "counts": None, "data_sha256": "d",
        "metrics": None if score is None else {"entity_f1": score},
        "failed": "nan" if score is None else None,
    }  # fmt: skip
    path = TRANSFER.format(one, seed, other)
    write_json(results / path, values)
    return path


def recipe(results: Path, second: float | None = 0.4) -> TransferMatrixRecipe:
    """Two datasets of diseases with two seeds; `second`: the score of ncbi's second run on bc5."""
    own = {}
    for name, score in (("bc5", 0.8), ("ncbi", 0.9)):
        write(results, record("bert", name, 1, score), record("bert", name, 2, score))
        own[name] = [f"runs/blurb/bert/{name}/standard/final/seed-{seed}.json" for seed in (1, 2)]
    to_ncbi = [put(results, "bc5", "ncbi", seed, 0.7) for seed in (1, 2)]
    to_bc5 = [put(results, "ncbi", "bc5", 1, 0.6), put(results, "ncbi", "bc5", 2, second)]
    values: dict[str, Any] = {
        "protocol": "blurb",
        "model": "bert",
        "setting": "standard",
        "scale_title": "small scale",
        "comparable": False,
        "aggregate": "mean",
        "metrics": {"bc5": "entity_f1", "ncbi": "entity_f1"},
        "labels": {"bc5": "BC5", "ncbi": "<NCBI>"},
        "types": {"disease": ["bc5", "ncbi"]},
        "scores": {"bc5": {"bc5": own["bc5"], "ncbi": to_ncbi}, "ncbi": {"bc5": to_bc5, "ncbi": own["ncbi"]}},
    }
    return build(TransferMatrixRecipe, values, "here")


def test_the_matrix_in_all_forms(tmp_path: Path) -> None:
    found = transfer_matrix(recipe(tmp_path), tmp_path)
    assert found.cell("ncbi", "bc5").value == pytest.approx(50.0) and found.cell("bc5", "bc5").is_own
    assert found.cell("ncbi", "bc5").seeds == {1: pytest.approx(60.0), 2: pytest.approx(40.0)}
    forms = {form: render(found) for form, render in TRANSFER_RENDERERS.items()}
    assert parse(TransferMatrix, json.loads(forms["json"]), "here") == found
    assert "| BC5 | **80.00** | 70.00 |\n| &lt;NCBI&gt; | 50.00 | **90.00** |" in forms["md"]
    assert "<b>80.00</b>" in forms["html"] and "<NCBI>" not in forms["html"]
    assert "seed 1: 60.00, seed 2: 40.00" in forms["html"] and "Small scale." in forms["html"]


def test_a_failed_run_leaves_the_cell_empty(tmp_path: Path) -> None:
    found = transfer_matrix(recipe(tmp_path, None), tmp_path)
    assert found.cell("ncbi", "bc5").value is None and found.cell("ncbi", "bc5").seeds[2] is None
    assert "seed 2: failed" in TRANSFER_RENDERERS["html"](found)


def test_a_score_that_is_missing_or_of_another_form(tmp_path: Path) -> None:
    made = recipe(tmp_path)
    write_json(tmp_path / TRANSFER.format("bc5", 1, "ncbi"), {"seed": 1})
    with pytest.raises(PubmillError, match="seed-1/ncbi.json is not a TransferScore"):
        transfer_matrix(made, tmp_path)
    (tmp_path / TRANSFER.format("bc5", 1, "ncbi")).unlink()
    with pytest.raises(PubmillError, match="does not exist"):
        transfer_matrix(made, tmp_path)


def test_the_program_writes_the_matrix_in_every_form(tmp_path: Path) -> None:
    made = recipe(tmp_path)
    words = ["--recipe", as_json(as_values(made)), "--results", tmp_path, "--output", tmp_path / "matrix"]
    run_program("transfer_matrix", *words)
    for form, render in TRANSFER_RENDERERS.items():
        assert (tmp_path / f"matrix.{form}").read_text() == render(transfer_matrix(made, tmp_path))
