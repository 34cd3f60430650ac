"""Settings of a study's own: chosen hyper-parameters, and a search for each model."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import Specs
from pubmill.specs.own_settings import HyperparameterChoice, read_choice_option, with_own_settings
from pubmill.specs.study import Study, check_study
from pubmill.specs.table_specs import TableSpec
from pubmill.stages import Graph
from pubmill.storage.result_paths import ChoiceKey, RunKey

TABLE = "gu2020/table06"
CHOICE = {
    "name": "linkbert",
    "source": "the authors' scripts",
    "values": {"learning_rate": 3e-5, "batch_size": 32, "epochs": 20},
    "datasets": {"biosses": {"epochs": 30}},
}
MODELS = ["biolinkbert-base", "biobert-base"]


def graph(root: Path, *tables: str, **study: Any) -> Graph:
    config = {"study": "x", "title": "x", "scale": "full", "models": MODELS, "tables": tables or (TABLE,)}
    return Graph(*check_study({**config, **study}, root / "specs"))


def settings(graph: Graph, table: str = TABLE) -> dict[str, set[str]]:
    """Return column -> the settings of its records."""
    records = graph.tables.records(table)
    return {
        column: {path.split("/")[4] for paths in rows.values() for path in paths}
        for column, rows in records.items()
    }


def test_chosen_values_make_a_run_without_a_search(root: Path) -> None:
    chosen = graph(root, choice=CHOICE)
    own = "standard+linkbert"
    assert settings(chosen) == {model: {own} for model in MODELS}
    run = RunKey("blurb", "biolinkbert-base", "ncbi-disease", own)
    assert chosen.runs.selected(run) == []
    values = chosen.runs.recipe(run)
    assert [values[key] for key in CHOICE["values"]] == [3e-5, 32, 20]
    of_biosses = chosen.runs.recipe(RunKey("blurb", "biolinkbert-base", "biosses", own))
    assert (of_biosses["learning_rate"], of_biosses["epochs"]) == (3e-5, 30)
    other = RunKey("blurb", "biobert-base", "ncbi-disease", "standard")
    assert chosen.runs.selected(other) == graph(root).runs.selected(other) != []


def test_an_own_search_tries_each_model_alone(root: Path) -> None:
    own = graph(root, search="own")
    assert settings(own) == {model: {"standard+own-search"} for model in MODELS}
    run = RunKey("blurb", "biolinkbert-base", "ncbi-disease", "standard+own-search")
    [selected] = own.runs.selected(run)
    assert selected == f"results/full/runs/{'/'.join(run)}/selected.json"
    trials = own.runs.trial_manifests(ChoiceKey(*run))
    assert {path.split("/")[4] for path in trials} == {"biolinkbert-base"}
    common = graph(root).runs.trial_manifests(ChoiceKey("blurb", None, run[2], "standard"))
    assert len(trials) == len(common) / 2
    with pytest.raises(PubmillError, match="each model chooses for itself"):
        own.runs.trial_manifests(ChoiceKey("blurb", None, "ncbi-disease", "standard+own-search"))


@pytest.mark.parametrize("changed", [{"choice": CHOICE}, {"search": "own"}])
def test_no_such_cell_is_compared_with_a_published_value(root: Path, changed: dict[str, Any]) -> None:
    recipe = graph(root, **changed).tables.recipe(TABLE)
    own = {cell for cell in recipe.not_comparable if cell.partition("/")[0] in MODELS}
    assert own == {f"{model}/{row.key}" for model in MODELS for row in recipe.rows}
    labels = {column.key: column.label for column in recipe.columns}
    name = "linkbert" if "choice" in changed else "own-search"
    assert all(labels[model].endswith(f" ({name})") for model in MODELS)
    assert "(" not in labels["pubmedbert-base"]
    texts = {reason.text for reason in recipe.reasons if f"standard+{name}" in reason.text}
    source = "the authors' scripts" if "choice" in changed else "searched for this model alone"
    assert texts and all(source in text for text in texts)
    assert graph(root).tables.recipe(TABLE).not_comparable == {}


def test_settings_that_share_a_choice_share_it_in_the_own_search(root: Path) -> None:
    own = graph(root, "gu2020/table10", search="own", models=["pubmedbert-base"])
    run = RunKey("blurb", "pubmedbert-base", "ncbi-disease", "head=bilstm+own-search")
    assert own.runs.selected(run)[0].endswith("/ncbi-disease/standard+own-search/selected.json")


def test_a_search_that_nothing_needs_is_refused(root: Path) -> None:
    """As of a table whose models search for themselves, or beside chosen values."""
    with pytest.raises(PubmillError, match="none of the study's protocols .lewis2020. has a search"):
        graph(root, "lewis2020/table03", search="own", models=None)
    with pytest.raises(PubmillError, match="nothing is searched: remove `search` or `choice`"):
        graph(root, choice=CHOICE, search="own")


@pytest.mark.parametrize("changes, reported", [
    ({"values": {"learning_rate": 1e-5, "batch_size": 16}}, r"no epochs, which protocol blurb searches"),
    ({"values": {**CHOICE["values"], "warmup": 0.2}}, "not warmup; remove the latter .on bc5-chem, "),  # type: ignore[dict-item]
    ({"values": {**CHOICE["values"], "epochs": -1}}, "epochs: expected greater than 0"),  # type: ignore[dict-item]
    ({"values": {}}, "no batch_size, epochs, learning_rate, which"),
    ({"datasets": {"bioses": {"epochs": 3}}}, "datasets: there is no dataset 'bioses'; the nearest: bio"),
])  # fmt: skip
def test_a_choice_gives_exactly_what_is_searched(root: Path, changes: dict[str, Any], reported: str) -> None:
    with pytest.raises(PubmillError, match=reported):
        graph(root, choice=CHOICE | changes).tables.recipe(TABLE)


def test_datasets_that_are_not_run_need_no_values(root: Path) -> None:
    choice = {"name": "one", "source": "s", "datasets": {"biosses": CHOICE["values"]}}
    assert settings(graph(root, choice=choice, datasets=["biosses"])) == {
        model: {"standard+one"} for model in MODELS
    }


def test_cells_without_a_run_keep_the_settings_of_the_table(full_specs: Specs) -> None:
    rows = [
        {"dataset": name, "label": name, "group": "g"}
        for name in ("ncbi-disease", "bc2gm", "biosses", "gone")
    ]
    columns = [
        {"model": "biolinkbert-base", "label": "L", "cells": {
            "ncbi-disease": {"copied": "Dai", "why": "caption"}, "bc2gm": {"not_comparable": "other split"},
        }},
        {"model": "gone", "label": "G", "missing": "no weights"},
    ]  # fmt: skip
    values = {
        "name": "table01", "kind": "results", "paper": "p", "title": "T", "caption": "C", "protocol": "blurb",
        "setting": "head=bilstm", "columns": columns, "rows": rows,
    }  # fmt: skip
    study = Study.model_validate(
        {"study": "x", "title": "x", "scale": "full", "tables": ["p/table01"], "search": "own"}
    )
    specs = full_specs.model_copy(update={"tables": {"p/table01": TableSpec.model_validate(values)}})
    first, second = with_own_settings(specs, study).tables["p/table01"].columns
    assert {name: cell.setting for name, cell in first.cells.items()} == {
        "ncbi-disease": None,  # copied
        "bc2gm": ("head=bilstm+own-search",),  # biosses is no dataset of that setting
    }
    assert first.cells["bc2gm"].not_comparable == "hyper-parameters were searched for this model alone, " + (
        "not by bert-base-uncased and biobert-base for all models"
    )
    assert (first.label, second) == ("L (own-search)", specs.tables["p/table01"].columns[1])
    few = study.model_copy(update={"datasets": ("ncbi-disease",)})
    assert with_own_settings(specs, few).tables == specs.tables


def test_words_become_values_and_the_name_of_a_setting() -> None:
    found = read_choice_option("lr=3e-5,batch=32,epochs=20,bias_correction=false")
    values = {"learning_rate": 3e-5, "batch_size": 32, "epochs": 20, "bias_correction": False}
    assert found.values == values
    assert found.name == "lr=3e-05+batch=32+epochs=20+bias-correction=false"
    assert "own choice" in found.source


def test_a_configuration_gives_text() -> None:
    """As `--config choice={...}` does."""
    found = HyperparameterChoice.model_validate({"name": "x", "source": "y", "values": {"epochs": "3"}})
    assert found.values == {"epochs": 3}


@pytest.mark.parametrize("words, reported", [
    ("lr", "expected each key once"), ("lr=", "expected each key once"),
    ("lr=1,learning_rate=2", "expected each key once"),
    ("rate=1", "there is no key 'rate'; the nearest: learning_rate, batch"),
    ("lr=fast", "learning_rate: .*'fast'"), ("batch=1.5", "batch_size: .*'1.5'"),
    ("metric=accuracy", "metric: the dataset decides it"), ("none.yaml", "there is no file none.yaml"),
])  # fmt: skip
def test_mistakes_are_named(words: str, reported: str) -> None:
    with pytest.raises(PubmillError, match=reported):
        read_choice_option(words)


FILE = """\
name: linkbert
source: the authors' scripts
values: {learning_rate: 3e-5, batch_size: 32}
datasets:
  biosses: {learning_rate: 1e-5}
"""


def test_a_file_has_values_for_all_datasets_and_for_single_ones(tmp_path: Path) -> None:
    (tmp_path / "linkbert.yaml").write_text(FILE)
    found = read_choice_option(str(tmp_path / "linkbert.yaml"))
    assert found.values == {"learning_rate": 3e-5, "batch_size": 32}
    assert found.datasets == {"biosses": {"learning_rate": 1e-5}}


@pytest.mark.parametrize("text, changed, reported", [
    ("source: the authors' scripts\n", "", "source: this key is required"),
    ("values:", "value:", ":3: value: unknown key; the nearest: values"),
    ("3e-5", "fast", ":3: values: learning_rate: .*'fast'"),
    ("name: linkbert", "name: Link BERT", ":1: name"),
    ("name: linkbert", "name: own-search", "own-search is the name of a search"),
    ("source:", "name: again\nsource:", "again|duplicate"),
    (FILE.partition("values:")[2], " {}\n", "needs `values`"),
])  # fmt: skip
def test_keys_of_a_file_are_strict(tmp_path: Path, text: str, changed: str, reported: str) -> None:
    assert text in FILE
    (tmp_path / "linkbert.yaml").write_text(FILE.replace(text, changed, 1))
    with pytest.raises(PubmillError, match=reported):
        read_choice_option(str(tmp_path / "linkbert.yaml"))
