"""A table shows every record on disk made with the current recipes, whatever part of it a study requests."""

import json
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from pubmill.metrics import METRICS
from pubmill.metrics.run_manifests import write_manifest
from pubmill.recipes.tables import TableRecipe
from pubmill.specs.study import check_study
from pubmill.stages import Graph, checked_graph
from pubmill.stages.stage import stages
from pubmill.storage.checksums import write_predictions
from pubmill.storage.files import read_json, read_jsonl_gz
from pubmill.storage.result_paths import RunKey
from tests.attack.edits import edited
from tests.workflow import planner
from tests.workflow.conftest import Project, copy_code, copy_of, jobs_of
from tests.workflow.test_reruns import DEMO, FIRST, REWRITTEN, RUN

pytestmark = pytest.mark.long

NAME = "gu2020/table06"
JSON = "results/demo/tables/part/gu2020-table06.json"
WHOLE = JSON.replace("part", "demo")
PART = {
    "study": "part", "title": "A part", "scale": "demo", "tables": [NAME], "datasets": ["bc5-chem"],
    "models": ["no-pretraining"],
}  # fmt: skip
ENDINGS = ("predictions.jsonl.gz", "training.json")
STALE = "not run in this study; its records on disk are"
RECIPES = f"{STALE} from an older recipe or stage version"
PLACES = {(model, row) for model in ("pubmedbert-base", "no-pretraining") for row in ("bc5-chem", "jnlpba")}


@pytest.fixture(scope="module")
def part(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Any, Any]]:
    """A finished project in which a study of one dataset and one model was then run; its table before and
    after."""
    made = copy_of(finished, tmp_path_factory.mktemp("part") / "copy")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made.folder)
        predict_as_if_learnt(made.folder)
    made.run("--", WHOLE, WHOLE.replace(".json", ".comparisons.json"))
    before = json.loads((made.folder / WHOLE).read_text())
    overlay = made.folder / "part.yaml"
    overlay.write_text(yaml.safe_dump(PART))
    assert set(jobs_of(made.run("--configfile", "part.yaml"))) <= {"table", "compare", "report"}
    yield made, before, json.loads((made.folder / JSON).read_text())


def predict_as_if_learnt(folder: Path) -> None:
    """Give each run of the table predictions that differ from the gold labels in some examples.

    The training of these tests is too short to learn anything.
    """
    made = checked_graph(*check_study(yaml.safe_load((folder / "config.yaml").read_text()), folder / "specs"))
    stems: dict[Path, list[str]] = {}
    for number, path in enumerate((Path(made.paths.at(one)) for one in made.tables.made_records(NAME)), 2):
        _, _, _, protocol, model, dataset, setting, *_ = path.parts
        examples = Path(made.runs.scored_examples(RunKey(protocol, model, dataset, setting)))
        predictions, training = (path.with_name(f"{path.stem}.{name}") for name in ENDINGS)
        rows = (
            {"id": row["id"], "labels": row["labels"] if n % number else ["O"] * len(row["labels"])}
            for n, row in enumerate(read_jsonl_gz(examples))
        )
        write_predictions(predictions, rows, read_json(training) | {"failed": None})
        stems.setdefault(path.with_name("runs.json"), []).append(path.stem)
    for manifest, seeds in stems.items():
        write_manifest(manifest, seeds)


@pytest.fixture
def targets(part: tuple[Project, Any, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = part[0].folder
    monkeypatch.chdir(folder)

    def make(**config: Any) -> Graph:
        base = yaml.safe_load((folder / "config.yaml").read_text())
        return checked_graph(*check_study({**base, **PART, **config}, folder / "specs"))

    return make


def shown(recipe: TableRecipe) -> set[tuple[str, str]]:
    return {(column, row) for column, rows in recipe.records.items() for row in rows}


def stale(made: Graph) -> dict[tuple[str, ...], str]:
    found = made.tables.recipe(NAME).missing.items()
    return {tuple(place.split("/")): why for place, why in found if why.startswith(STALE)}


def test_a_study_of_less_keeps_what_is_there(part: tuple[Project, Any, Any]) -> None:
    _, before, after = part
    for column, row in PLACES:
        assert after["cells"][column][row] == before["cells"][column][row]
        assert after["cells"][column][row]["value"] is not None
    assert after["cells"]["pubmedbert-base"]["bc2gm"]["missing"] == "not run in this study"
    assert after["provenance"] == before["provenance"]


def test_a_copied_value_is_shown_with_ours_in_the_table_it_is_from(part: tuple[Project, Any, Any]) -> None:
    """The paper of the table took it from the other one, whose record is on disk; nothing else is run."""
    made, copies = part[0], "alrowili2021/table02"
    study = PART | {"study": "copies", "tables": [NAME, copies], "models": ["pubmedbert-base"]}
    (made.folder / "copies.yaml").write_text(yaml.safe_dump(study))
    path = "results/demo/tables/copies/alrowili2021-table02.json"
    assert jobs_of(made.run("--configfile", "copies.yaml", "--", path)) == {"table": 1}
    cell = json.loads((made.folder / path).read_text())["cells"]["pubmedbert-base"]["bc5-chem"]
    origin = cell["copied_from"]
    assert cell["value"] is None and (origin["table"], origin["linked"]) == (NAME, True)
    assert origin["cell"]["value"] == part[2]["cells"]["pubmedbert-base"]["bc5-chem"]["value"]


def test_comparisons_and_report_have_it_too(part: tuple[Project, Any, Any]) -> None:
    reports = part[0].folder / "results/demo/reports"
    compared = json.loads((part[0].folder / JSON.replace(".json", ".comparisons.json")).read_text())
    assert {row["row"] for row in compared["rows"]} == {"bc5-chem", "jnlpba"}
    assert "8 of 8 <small>none failed" in (reports / "part.html").read_text()


def test_the_whole_study_then_trains_nothing(part: tuple[Project, Any, Any], python: str) -> None:
    jobs = planner.planned(python, part[0].folder)
    assert jobs and set(jobs) <= {"table", "compare", "report"}


def test_records_are_found_for_any_part_of_a_table(targets: Any) -> None:
    assert shown(targets().tables.recipe(NAME)) == PLACES
    assert shown(targets(models=["bert-base-uncased"]).tables.recipe(NAME)) >= {
        (model, row) for model, row in PLACES if model == "pubmedbert-base"
    }
    assert not targets(datasets=None, models=["pubmedbert-base", "no-pretraining"]).tables.found(NAME)[0]


def test_a_column_that_a_model_joins_by_its_spec_stays(part: tuple[Project, Any, Any], targets: Any) -> None:
    spec = part[0].folder / "specs/models/no-pretraining.yaml"
    columns = targets(models=["pubmedbert-base"]).tables.recipe(NAME).columns
    assert "no-pretraining" not in [column.key for column in columns]
    with edited(spec, spec.read_bytes() + f"tables: [{NAME}]\n".encode()):
        assert shown(targets(models=["pubmedbert-base"]).tables.recipe(NAME)) == PLACES


@pytest.mark.parametrize("name", ["finetune", "export_model", "entity_f1"])
def test_records_of_an_older_stage_or_metric_are_stale(
    targets: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name in METRICS:
        monkeypatch.setitem(METRICS, name, replace(METRICS[name], version=99))
    else:
        monkeypatch.setattr(stages()[name], "version", stages()[name].version + 1)
    # The study itself makes the other one again.
    assert set(stale(targets())) == PLACES - {("no-pretraining", "bc5-chem")}
    assert set(stale(targets()).values()) == {RECIPES}


@pytest.mark.parametrize(
    ("file", "old", "new", "rows"),
    [
        ("specs/datasets/jnlpba.yaml", "\nversion: 1", "\nversion: 2", {"jnlpba"}),
        ("specs/protocols/blurb.yaml", "weight_decay: 0.0", "weight_decay: 0.1", {"jnlpba", "bc5-chem"}),
        (DEMO, FIRST, FIRST.replace("3e-3", "2e-3"), {"jnlpba", "bc5-chem"}),
        ("specs/corpora/pubmed-abstracts.yaml", "min_words: 128", "min_words: 100", set()),
        ("specs/protocols/blurb.yaml", "aggregate: mean", "aggregate: median", set()),
    ],
)
def test_records_of_another_recipe_are_stale_and_start_nothing(
    part: tuple[Project, Any, Any], targets: Any, file: str, old: str, new: str, rows: set[str]
) -> None:
    path = part[0].folder / file
    text = path.read_text()
    assert text.count(old) == 1
    with edited(path, text.replace(old, new).encode()):
        made = targets()
        found = stale(made)
        assert {row for _, row in found} == rows and set(found.values()) <= {RECIPES}
        assert "jnlpba" not in rows or ("pubmedbert-base", "jnlpba") in found
        files = made.tables.record_files(NAME)
        assert [path for path in files if "jnlpba" in path or "pubmedbert" in path] == []


@pytest.mark.parametrize(
    ("file", "why", "places"),
    [
        (REWRITTEN["one dataset's examples"], "of examples that have changed since", 2),
        ("results/demo/models/pubmedbert-base/config.json", "of model weights that have changed since", 2),
    ],
)
def test_records_of_what_has_changed_since_are_stale(
    part: tuple[Project, Any, Any], targets: Any, file: str, why: str, places: int
) -> None:
    path = part[0].folder / file
    content = path.read_bytes()
    with edited(path, content):
        path.touch()
        assert stale(targets()) == {}
        path.write_bytes(content + b" ")
        assert list(stale(targets()).values()) == [f"{STALE} {why}"] * places


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "can't be read"), ("[]", RECIPES), ("{}", RECIPES),
        (None, "without the contributions of each document"),
    ],
)  # fmt: skip
def test_damaged_records_are_no_reason_to_fail(
    part: tuple[Project, Any, Any], targets: Any, content: str | None, why: str
) -> None:
    path = part[0].folder / RUN.replace("bc5-chem", "jnlpba") / "seed-1.json"
    damaged = path if content is not None else path.with_name("seed-1.items.npz")
    with edited(damaged, (content or "").encode()):
        if content is None:
            damaged.unlink()
        assert why in stale(targets())["pubmedbert-base", "jnlpba"]


def test_a_table_changes_with_the_records_that_it_found(part: tuple[Project, Any, Any], targets: Any) -> None:
    made = targets()
    path = part[0].folder / "results/demo" / made.tables.found_records(NAME)[0]
    before = made.records.digest_of(made.tables.found_records(NAME))
    with edited(path, path.read_bytes() + b"\n"):
        assert targets().records.digest_of(made.tables.found_records(NAME)) != before
        path.unlink()
        assert targets().records.digest_of(made.tables.found_records(NAME)) != before


def test_the_stored_records_of_a_real_cell_make_its_table(root: Path, tmp_path: Path, python: str) -> None:
    """Those that docs/results.md names, without its datasets and weights."""
    with tarfile.open(root / "docs/results/first-real.tar.xz") as stored:
        stored.extractall(tmp_path, filter="data")
    table = "results/small/tables/first-real/real-table01.json"
    project = Project(copy_code(root, tmp_path), python=python)
    project.run(
        "--configfile", "studies/first-real.yaml", "--config", "models=[]", "datasets=[]", "--", table
    )
    cell = json.loads((tmp_path / table).read_text())["cells"]["minilm"]["ncbi-disease"]
    assert round(cell["value"], 2) == 82.39, cell
