"""Recipes and inputs of the proof of a study."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pubmill.extras.proof.proof_stages import Proof
from pubmill.specs import Specs, load
from pubmill.stages import Graph
from pubmill.storage.result_paths import RunKey
from tests.licensed import KEY, NAME

STUDY: dict[str, Any] = {
    "tables": ("gu2020/table06", "gu2020/table02"),
    "models": ("no-pretraining",),
    "datasets": ("bc2gm", "biosses"),
}
TABLE = "gu2020/table06"


def test_a_program_of_an_extra_stands_in_its_folder() -> None:
    assert Proof.program == "pubmill/extras/proof/programs/proof.py"


def test_a_proof_needs_tables_comparisons_bases_and_runs(
    demo_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(demo_specs, **STUDY)
    found, paths = made.stage(Proof).inputs(), made.paths
    records = made.tables.record_files(TABLE)
    assert records and set(found) > {
        paths.table(TABLE, "json"),
        paths.comparisons(TABLE, "json"),
        paths.table_basis(TABLE),
        *records,
        *made.tables.contribution_files(TABLE),
        paths.examples("bc2gm", "test"),
        paths.predictions(RunKey("blurb", "no-pretraining", "biosses", "standard"), 1),
    }
    assert len(found) == len(set(found)) and paths.table("gu2020/table02", "json") not in found
    recipe = made.stage(Proof).recipe()
    assert recipe.tables == (TABLE,) and recipe.open_datasets == ("bc2gm", "biosses")
    assert [Path(path).name for path in made.stage(Proof).published(Path("specs"))] == [
        "table06.published.csv"
    ]


def test_the_basis_of_a_table_depends_on_its_records(
    demo_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(demo_specs, **STUDY)
    recipe = made.stage(Proof).basis_recipe(TABLE)
    assert recipe.audited.name == TABLE and recipe.table == made.tables.recipe(TABLE)
    found = made.stage(Proof).basis_inputs(TABLE)
    assert found[0] == made.paths.table(TABLE, "json")
    assert set(made.tables.contribution_files(TABLE)) <= set(found)


def test_the_proof_of_a_licensed_dataset_does_not_read_its_examples(
    specs: Path, folder: Path, graph_of: Callable[..., Graph]
) -> None:
    study = STUDY | {"datasets": ("bc2gm", NAME), "local_files": {KEY: str(folder)}}
    made = graph_of(load(specs, "demo"), **study)
    found = made.stage(Proof).inputs()
    assert any(f"/{NAME}/" in path and path.endswith(".items.npz") for path in found)
    assert not [path for path in found if NAME in path and not path.endswith((".items.npz", ".json"))]
    assert made.stage(Proof).recipe().open_datasets == ("bc2gm",)


def test_a_study_without_tables_of_results_has_no_proof(
    demo_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(demo_specs, **(STUDY | {"tables": ("gu2020/table02",)}))
    proofs = made.paths.proof_files(made.study.study)
    assert not set(proofs) & set(made.publication.files())
    whole = graph_of(demo_specs, **STUDY)
    assert set(proofs) <= set(whole.publication.files()) and not set(proofs) & set(
        whole.publication.everything()
    )


def test_items_of_a_finished_pipeline_are_those_of_the_split_that_it_predicts(
    full_specs: Specs, tmp_path: Path, graph_of: Callable[..., Graph]
) -> None:
    (tmp_path / "config.cfg").touch()
    study = {"tables": ("tinn2021/table10",), "models": ("scispacy-bc5cdr",), "datasets": ("bc5-chem",)}
    made = graph_of(full_specs, **study, local_files={"scispacy-bc5cdr": str(tmp_path)})
    paths, run = made.paths, made.pipelines.run("scispacy-bc5cdr", "bc5-chem")
    split = made.pipelines.split("scispacy-bc5cdr", "bc5-chem")
    assert {paths.examples("bc5-chem", split), paths.predictions(*run)} <= set(made.stage(Proof).inputs())
