"""Models that are not fine-tuned: supplied predictions, and language models that are asked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import ModelSpec, Specs
from pubmill.stages import Graph, supplied_predictions
from pubmill.stages.availability import NONE_SUPPLIED, NOT_LOCAL, NOT_PROMPTED
from pubmill.stages.supplied_predictions import Answering, SuppliedPredictions
from tests.unit.toy_studies import GraphOf, targets

SCISPACY = ["scispacy-jnlpba", "scispacy-bc5cdr"]
TABLE10 = "tinn2021/table10"


def study(root: Path, folder: Path, *named: str, **config: object) -> Graph:
    """A study of Table 10 in which the user has predictions of these models for bc2gm."""
    for name in named:
        written(folder / name, bc2gm=name)
    config = {"tables": [TABLE10], "models": [*SCISPACY, "no-pretraining"]} | config
    return targets(root, local_files={name: str(folder / name) for name in named}, **config)


def test_a_column_of_a_paper_is_made_from_predictions(root: Path, tmp_path: Path) -> None:
    made = study(root, tmp_path, *SCISPACY, datasets=["bc2gm"])
    assert made.tables.records(TABLE10) == {
        **{m: {"bc2gm": [f"runs/off-the-shelf/{m}/bc2gm/as-it-is/final/seed-1.json"]} for m in SCISPACY},
        "no-pretraining": {
            "bc2gm": [f"runs/blurb/no-pretraining/bc2gm/standard/final/seed-{seed}.json" for seed in (1, 2)]
        },
    }
    assert made.scope.models() == [*SCISPACY, "no-pretraining"]
    recipe = made.tables.recipe(TABLE10)
    columns = {column.key: column for column in recipe.columns}
    assert columns["scispacy-bc5cdr"].supplied and columns["scispacy-bc5cdr"].model == "scispacy-bc5cdr"
    assert (columns["scispacy-max"].model, columns["scispacy-max"].best_of) == (None, tuple(SCISPACY))
    assert not columns["pubmedbert-base"].supplied
    assert columns["no-pretraining"].published == ("no-pretraining",)
    assert "scispacy-max" not in recipe.missing
    assert [one.partition(" is not")[0] for one in recipe.notes[-2:]] == [
        "scispaCy, BC5CDR", "scispaCy, JNLPBA",
    ]  # fmt: skip


def test_predictions_that_are_not_there_are_a_reason_and_end_no_study(root: Path, tmp_path: Path) -> None:
    made = study(root, tmp_path, "scispacy-jnlpba")
    recipe = made.tables.recipe(TABLE10)
    reported = "needs predictions that you supply (then set local_files: scispacy-bc5cdr)"
    assert recipe.missing["scispacy-bc5cdr"] == reported
    assert "scispacy-jnlpba" not in recipe.missing
    assert recipe.missing["pubmedbert-large"] == "not run in this study"
    assert not [note for note in recipe.notes if note.startswith("scispaCy, BC5CDR is")]
    assert list(made.tables.records(TABLE10)) == ["scispacy-jnlpba", "no-pretraining"]
    assert made.left_out()[0] == f"left out of the tables: scispacy-bc5cdr ({reported})"
    assert made.report.recipe().models == ("scispacy-jnlpba", "no-pretraining")


def test_models_that_the_study_leaves_out_are_not_asked_for(root: Path, tmp_path: Path) -> None:
    made = study(root, tmp_path, models=["no-pretraining"])
    missing = made.tables.recipe(TABLE10).missing
    assert {missing[name] for name in SCISPACY} == {"not run in this study"}
    [line] = made.left_out()
    assert line.endswith("(`models:` of the study names others; null: all)")


def test_a_table_may_show_another_metric_than_the_datasets_own(root: Path, tmp_path: Path) -> None:
    made = study(root, tmp_path, *SCISPACY, tables=[TABLE10, "tinn2021/table11"])
    metrics = {table: {row.metric for row in made.tables.recipe(table).rows} for table in made.study.tables}
    assert metrics == {TABLE10: {"entity_f1"}, "tinn2021/table11": {"relaxed_f1"}}
    assert made.tables.records(TABLE10) == made.tables.records("tinn2021/table11")


SYSTEM = {"name": "a/m", "version": "1", "prompt": "p"}
ASKED = {
    "kind": "prompted", "server": "http://localhost:8000/v1", "model": "m", "datasets": ["bc2gm"],
    "seeds": [1, 2],
}  # fmt: skip
WEIGHTS: dict[str, dict[str, Any]] = {
    "ours": {"kind": "predictions", "local": "ours"}, "theirs": {"kind": "predictions", "local": "theirs"},
    "some-llm": ASKED,
}  # fmt: skip
Made = Callable[..., SuppliedPredictions]


@pytest.fixture
def supplied(full_specs: Specs, graph_of: GraphOf) -> Made:
    """A function that makes this part of the graph, with folders of predictions by model."""

    def make(**folders: Path) -> SuppliedPredictions:
        models = {
            name: ModelSpec.model_validate(
                {"name": name, "lowercase": False, "weights": {"system": SYSTEM, **weights}}
            )
            for name, weights in WEIGHTS.items()
        }
        specs = full_specs.model_copy(update={"models": {**full_specs.models, **models}})
        local = {name: str(folder) for name, folder in folders.items()}
        return graph_of(specs, local_files=local).supplied

    return make


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/').replace('seed', 'seed-')}.conll"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_predictions_need_a_folder_and_answers_an_extra(
    supplied: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supplied_predictions, "stages", lambda: {"any": Answering})
    theirs = written(tmp_path, bc2gm="")
    found = supplied(theirs=theirs).graph.availability
    assert found.model("ours") == "needs predictions that you supply (then set local_files: ours)"
    assert (found.model("theirs"), found.model("some-llm")) == (None, None)
    monkeypatch.setattr(supplied_predictions, "stages", dict)
    found = supplied(theirs=theirs).graph.availability
    assert (found.model("theirs"), found.model("some-llm")) == (None, NOT_PROMPTED)


def test_files_have_the_seeds_of_their_folders(supplied: Made, tmp_path: Path) -> None:
    folder = written(tmp_path, seed1__bc2gm="a", seed3__bc2gm="b", mednli="c", nothing="d")
    found = supplied(ours=folder)
    assert found.seeds("ours", "bc2gm") == [1, 3] and found.seeds("theirs", "bc2gm") == []
    files = [str(folder / f"seed-{seed}/bc2gm.conll") for seed in (1, 3)]
    assert found.checked_files("ours", "bc2gm") == files
    why_not = found.graph.availability.predictions
    assert (why_not("ours", "jnlpba"), why_not("ours", "bc2gm")) == (NONE_SUPPLIED, None)
    assert why_not("ours", "mednli") == NOT_LOCAL and found.seeds("ours", "mednli") == []
    with pytest.raises(PubmillError, match="model ours on jnlpba: no predictions for this dataset are suppl"):
        found.checked_files("ours", "jnlpba")
    [unused] = found.unused_files(["ours", "theirs", "some-llm", "biobert-base"])
    assert unused.startswith(f"left out of the tables: {folder / 'nothing.conll'} (named after no dataset;")


def test_a_file_in_the_place_of_the_folder_is_refused(supplied: Made, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PubmillError, match=r"model ours: .*file \(.*\) is not a folder; expected one with"):
        supplied(ours=tmp_path / "file").files("ours")


def test_a_copy_of_another_systems_or_seeds_predictions_is_refused(supplied: Made, tmp_path: Path) -> None:
    ours = written(tmp_path / "ours", seed1__bc2gm="a", seed2__jnlpba="b", seed3__jnlpba="b")
    theirs = written(tmp_path / "theirs", bc2gm="a")
    alone = supplied(ours=ours)
    assert alone.contents("ours", "bc2gm") == [alone.graph.digests.of(ours / "seed-1/bc2gm.conll")]
    with pytest.raises(PubmillError, match="model ours: .*seed-2.* is a copy of the predictions of ours"):
        alone.contents("ours", "jnlpba")
    both = supplied(ours=ours, theirs=theirs)
    with pytest.raises(PubmillError, match="model theirs: .*is a copy of the predictions of ours, seed 1 "):
        both.checked_files("theirs", "bc2gm")


def test_answers_of_a_language_model_are_results_of_a_job(supplied: Made) -> None:
    found = supplied()
    assert found.seeds("some-llm", "bc2gm") == [1, 2]
    answers = [found.graph.paths.answers("some-llm", "bc2gm", seed) for seed in (1, 2)]
    assert found.checked_files("some-llm", "bc2gm") == answers and found.contents("some-llm", "bc2gm") == []
    with pytest.raises(PubmillError, match="model some-llm on jnlpba: no predictions for this dataset"):
        found.checked_files("some-llm", "jnlpba")
    with pytest.raises(PubmillError, match="some-llm consists of supplied predictions, so it can't be fine"):
        found.graph.models.fine_tuned_weights("some-llm")
