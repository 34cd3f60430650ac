"""Origins of a cell: files of its data, released weights, and weights made here down to their corpus."""

from pathlib import Path
from typing import Any

from pubmill.inspection.explain.cell_explanations import explain, source_folders, weights_account
from pubmill.specs import HubWeights
from pubmill.specs.study import with_own_weights
from pubmill.stages import Graph
from pubmill.storage.files import write_json
from tests.unit.inspection.toy_explanations import MODEL, OTHER, TABLE, explainer, put_records


def test_data_are_reported_down_to_the_source_files(tmp_path: Path) -> None:
    put_records(tmp_path / "demo", 0.8, 0.9)
    made = explainer(tmp_path)
    card = {"counts": {"test": {"sentences": 3}}, "examples_sha256": {"test": "d" * 64}}
    write_json(tmp_path / "demo/datasets/bc2gm/card.json", card)
    [(role, file), *_] = made.graph.datasets.inputs("bc2gm").items()
    source = {
        "url": "https://host/x", "sha256": "5" * 64, "bytes": 5, "origin": "network", "retrieved": "now",
    }  # fmt: skip
    write_json(Path(f"{file}.source.json"), source)
    [data] = explain(made, TABLE, "bc2gm", MODEL).data
    assert data["sources"][role] == source and data["examples sha256"] == {"test": "d" * 64}
    assert list(data["sources"].values()).count("not there") == 2


def test_weights_made_here_are_reported_down_to_the_corpus(tmp_path: Path) -> None:
    made = explainer(tmp_path)
    folder = tmp_path / f"demo/pretraining/{MODEL}/step-1000"
    hardware = {"cpu": "EPYC", "cores": 2, "gpus": []}
    state = {"step": 1000, "tokens": 7, "seconds": 3.0, "hardware": hardware, "recipe": {"steps": 1000}}
    write_json(folder / "state.json", state)
    (folder / "log.jsonl").write_text('{"step": 1000, "tokens": 7, "loss": 4.5}\n')
    statistics = {"documents": 11, "words": 12, "bytes": 13, "parsed": 14, "rejected": {"too_short": 3}}
    write_json(tmp_path / "demo/corpora/pubmed-abstracts/stats.json", statistics)
    write_json(tmp_path / "demo/vocabs/pubmed-uncased/diagnosis.json", {"size": 2000, "documents": 11})
    weights = explain(made, TABLE, "bc2gm", MODEL).weights
    assert weights is not None and weights["recipe"] == MODEL and weights["step"] == 1000
    assert weights["training"]["loss"] == 4.5 and weights["training"]["machine"] == "EPYC, 2 cores"
    assert weights["values"] == {"steps": 1000}
    assert weights["corpus"]["counts"] == statistics and weights["vocabulary"]["size"] == 2000
    assert weights["corpus"]["sources"] == {"not there": "4 of 4 files"}


def test_released_weights_are_reported_by_id_and_revision(tmp_path: Path) -> None:
    made = explainer(tmp_path, scale="full")
    found = explain(made, TABLE, "bc2gm", MODEL)
    released = made.graph.specs.models[MODEL].released
    assert found.weights and isinstance(released, HubWeights)
    assert (found.weights["id"], found.weights["revision"]) == (released.id, released.revision)
    assert found.recipe and found.recipe["keep"] == "last", "the recipe as it would be run"
    assert found.search and found.search["chosen"] == "not yet"
    made = explainer(tmp_path, scale="full", tables=["shin2020/table02"], models=None)
    weights = explain(made, "shin2020/table02", "mrr", "biobert-large").weights
    assert weights and weights["revision"] is None
    pin = {"kind": "hub", "revision": "ab" * 20, "found": "2026-01-02"}
    write_json(tmp_path / "full/sources/released/biobert-large.json", pin)
    weights = explain(made, "shin2020/table02", "mrr", "biobert-large").weights
    assert weights and weights["revision"] == "ab" * 20 and weights["found"] == "2026-01-02"


def test_a_folder_of_many_files_is_reported_by_one_digest(tmp_path: Path) -> None:
    for number in range(21):
        source = {"url": "u", "bytes": 1, "sha256": "5" * 64, "origin": "network", "retrieved": "2026-01-02"}
        write_json(tmp_path / f"sources/host/{number:02}.gz.source.json", source)
    files = [f"{tmp_path}/sources/host/{number:02}.gz" for number in range(22)]
    found = source_folders(tmp_path, files)
    assert found["host"]["files"] == 21 and found["host"]["bytes"] == 21 and "00.gz" not in found["host"]
    assert len(found["host"]["sha256 of the list"]) == 64 and found["not there"] == "1 of 22 files"


def account_of(tmp_path: Path, recipe: str, *own: str) -> dict[str, Any]:
    """What is behind the weights of a model at scale full, where those in `own` are pretrained here."""
    graph = explainer(tmp_path, scale="full", tables=[], models=None).graph
    return weights_account(Graph(graph.study, with_own_weights(graph.specs, own)), recipe)


def test_a_pretraining_names_what_it_began_with_and_its_teacher(tmp_path: Path) -> None:
    """A model, or a step of another recipe; and both again down to what they began with."""
    account = account_of(tmp_path, "bio-lm-base@distill", "bio-lm-base@distill")
    assert account["began with"]["model"] == "bio-lm-base" and account["teacher"]["model"] == "bio-lm-large"
    assert account["checkpoint"] == "pretraining/bio-lm-base@distill/step-50000"
    assert account["training"] == "not there" and account["values"]["steps"] == 50_000
    account = account_of(tmp_path, "biom-albert-xxlarge@pmc", "biom-albert-xxlarge@pmc")
    assert account["began with"]["checkpoint"] == "pretraining/biom-albert-xxlarge/step-264000"
    assert "teacher" not in account and "began with" not in account["began with"]
    assert account["vocabulary"]["diagnosis"] == "not there" and account["corpus"]["counts"] == "not there"


def test_random_weights_have_no_checkpoint_and_licensed_sources_are_not_known(tmp_path: Path) -> None:
    account = account_of(tmp_path, OTHER)
    assert account["architecture"]["layers"] == 12 and "rotary" not in account["architecture"]
    assert account["vocabulary"]["vocabulary"] == "pubmed-uncased" and "checkpoint" not in account
    sources = account_of(tmp_path, "bio-lm-base", "bio-lm-base")["corpus"]["sources"]
    assert sources.startswith("not known: corpus lewis2020-pm+m3 (MIMIC-III")
