"""The RO-Crate of a study, by the requirements of Workflow Run Crate 0.5 and the profiles that it extends."""

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from inspect import signature
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml

from pubmill.errors import PubmillError
from pubmill.extras.crate.crate_files import PROFILES, describe, write_crate
from pubmill.extras.crate.crate_recipes import CrateRecipe
from pubmill.extras.crate.crate_stages import Crate
from pubmill.extras.crate.programs.crate import main
from pubmill.recipes.reading import build
from pubmill.recipes.writing import as_values
from pubmill.report.rendering import to_json
from pubmill.specs import load
from pubmill.specs.study import Study
from pubmill.stages import checked_graph
from pubmill.storage.files import write_json
from pubmill.tables.cells import Provenance
from tests.licensed import APPLY, FILES, KEY, NAME
from tests.unit import toy_tables as made_up

Graph = dict[str, dict[str, Any]]
"""@id -> entity."""
ORCID = "https://orcid.org/0000-0002-1825-0097"
PUBLIC, OWN = "sources/host.example/a/b.tsv", "sources/local/notes/my file.csv"
RESULTS = ("tables/gu2020/table06.json", "reports/small.html")


def recipe(**changes: Any) -> CrateRecipe:
    values: dict[str, Any] = {
        "study": "small",
        "title": "A study",
        "scale": "small",
        "scale_title": "small scale, not comparable with the paper",
        "configuration": {"study": "small", "local_files": {"notes": "a folder of your own"}},
        "author": {"name": "Ada Lovelace", "orcid": ORCID},
        "tables": ["gu2020/table06"],
        "results": RESULTS,
        "sources": [
            "sources/host.example/a/b.tsv.source.json",
            "sources/local/notes/my file.csv.source.json",
        ],
        "licences": {PUBLIC: "CC BY-NC 4.0 (a; b)"},
        "conditions": {OWN: "https://apply.example/here"},
        "versions": {"crate": 1},
    }
    return build(CrateRecipe, values | changes, "here")


def test_the_program_finds_the_workflow_of_its_package(root: Path) -> None:
    """The folder of specs that it takes by default lies beside the Snakefile."""
    assert signature(main).parameters["specs"].default.parent == root


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "home of somebody/results"
    made_up.write_all(folder)
    (folder / "tables/gu2020").mkdir(parents=True)
    (folder / RESULTS[0]).write_text(to_json(made_up.table(folder)))
    (folder / "reports").mkdir()
    (folder / RESULTS[1]).write_text("<!DOCTYPE html>")
    for path, url in ((PUBLIC, "https://host.example/a/b.tsv"), (OWN, f"file://{tmp_path}/my file.csv")):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text("licensed text")
        source = {
            "url": url,
            "bytes": 13,
            "sha256": "5" * 64,
            "origin": "?",
            "retrieved": "2020-01-02T03:04:05+00:00",
        }
        write_json(folder / f"{path}.source.json", source)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a crate takes of the checkout, in small."""
    for name in (
        "Snakefile",
        "LICENSE",
        "config.yaml",
        "rules/one.smk",
        "specs/models/bert.yaml",
        "pubmill/x.py",
    ):
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "checkout/config.yaml").write_text(
        f"study: demo\nresults: {tmp_path}/r\nmirror: {tmp_path}/m\nlocal_files: {{a: {tmp_path}/a}}\n"
    )
    return tmp_path / "checkout"


@pytest.fixture
def crate(results: Path, checkout: Path, tmp_path: Path) -> Path:
    write_crate(recipe(), results, checkout, tmp_path / "small.crate")
    return tmp_path / "small.crate"


def read(crate: Path) -> Graph:
    metadata = json.loads((crate / "ro-crate-metadata.json").read_text())
    assert metadata["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    return {entity["@id"]: entity for entity in metadata["@graph"]}


def ids(value: Any) -> list[str]:
    """The entities that a property refers to."""
    found = value if isinstance(value, list) else [value]
    return [one["@id"] for one in found if isinstance(one, dict)]


def is_a(entity: dict[str, Any], kind: str) -> bool:
    return kind in (entity["@type"] if isinstance(entity["@type"], list) else [entity["@type"]])


def faults(graph: Graph) -> Iterator[str]:
    """What the profiles say a crate MUST have, and this one lacks."""
    root, descriptor = graph.get("./", {}), graph.get("ro-crate-metadata.json", {})
    if ids(descriptor.get("about")) != ["./"] or "https://w3id.org/ro/crate/1.1" not in ids(
        descriptor.get("conformsTo")
    ):
        yield "RO-Crate 1.1: the descriptor is about the root and says which version it conforms to"
    yield from (
        f"RO-Crate 1.1: the root has no {key}"
        for key in ("name", "description", "datePublished", "license")
        if not root.get(key)
    )
    yield from (
        f"the root does not conform to {one}"
        for one in PROFILES
        if one not in ids(root.get("conformsTo")) or not is_a(graph.get(one, {"@type": ""}), "CreativeWork")
    )
    [main] = ids(root.get("mainEntity")) or [""]
    workflow = graph.get(main, {"@type": []})
    yield from (
        f"Workflow RO-Crate: the main entity is no {kind}"
        for kind in ("File", "SoftwareSourceCode", "ComputationalWorkflow")
        if not is_a(workflow, kind)
    )
    language = ids(workflow.get("programmingLanguage"))
    if not language or not is_a(graph.get(language[0], {"@type": ""}), "ComputerLanguage"):
        yield "Workflow RO-Crate: the main entity has no language"
    actions = [one for one in graph.values() if is_a(one, "CreateAction")]
    if not any(ids(action.get("instrument")) == [main] for action in actions):
        yield "Workflow Run Crate: no action has the main entity for its instrument"
    for slot in (*ids(workflow.get("input")), *ids(workflow.get("output"))):
        parameter = graph.get(slot, {"@type": ""})
        if (
            not is_a(parameter, "FormalParameter")
            or "additionalType" not in parameter
            or not ids(parameter.get("workExample"))
        ):
            yield f"Workflow Run Crate: {slot} is no whole parameter"


def test_the_crate_has_what_its_profiles_demand(crate: Path) -> None:
    assert not list(faults(read(crate)))


@pytest.mark.parametrize(
    ("place", "key"),
    [("./", "mainEntity"), ("./", "license"), ("./", "conformsTo"), ("Snakefile", "programmingLanguage"),
     ("#run-of-small", "instrument"), ("#source", "workExample"), ("#result", "additionalType")],
)  # fmt: skip
def test_the_demands_are_checked(crate: Path, place: str, key: str) -> None:
    graph = read(crate)
    del graph[place][key]
    assert list(faults(graph))


def test_nothing_is_referred_to_that_is_not_described(crate: Path) -> None:
    graph = read(crate)
    outside = (
        "https://w3id.org/ro/crate/1.1",
        "https://bioschemas.org/",
        "https://doi.org/",
        "https://snakemake.",
    )
    for entity in graph.values():
        for key, value in entity.items():
            lost = [one for one in ids(value) if one not in graph and not one.startswith(outside)]
            assert not lost, f"{entity['@id']}, {key}: {lost}"
    parts = set(ids(graph["./"]["hasPart"]))
    assert parts == {name for name, one in graph.items() if is_a(one, "File")}


def test_every_file_is_described_as_it_is(crate: Path) -> None:
    described = {
        unquote(name): one for name, one in read(crate).items() if is_a(one, "File") and ":" not in name
    }
    there = {path.relative_to(crate).as_posix() for path in crate.rglob("*") if path.is_file()}
    assert set(described) == there - {"ro-crate-metadata.json", "SHA256SUMS"}
    for name, entity in described.items():
        content = (crate / name).read_bytes()
        assert entity["contentSize"] == str(len(content)), name
        assert entity["sha256"] == hashlib.sha256(content).hexdigest() and entity["encodingFormat"], name


def test_the_run_has_its_times_inputs_and_results(crate: Path) -> None:
    action = read(crate)["#run-of-small"]
    assert action["startTime"] == "2020-01-02T03:04:05+00:00"
    assert datetime.fromisoformat(action["endTime"]) > datetime.fromisoformat(action["startTime"])
    assert set(ids(action["result"])) == {f"results/{path}" for path in RESULTS}
    assert {"study.yaml", "https://host.example/a/b.tsv"} < set(ids(action["object"]))
    assert ids(action["agent"]) == [ORCID]
    for fact in ("4 fine-tuning runs, none failed", "a processor, 2 cores", "c" * 40, "not comparable"):
        assert fact in action["description"]


def test_sources_are_described_and_not_copied(crate: Path) -> None:
    graph = read(crate)
    public = graph["https://host.example/a/b.tsv"]
    assert is_a(public, "File") and public["sha256"] == "5" * 64 and public["contentSize"] == "13"
    assert graph[ids(public["license"])[0]]["name"] == "CC BY-NC 4.0 (a; b)"
    own = graph["#sources/local/notes/my%20file.csv"]
    assert is_a(own, "CreativeWork") and "https://apply.example/here" in own["description"]
    for path in filter(Path.is_file, crate.rglob("*")):
        assert b"licensed text" not in path.read_bytes(), path


def test_nothing_names_a_folder_of_the_machine(crate: Path, tmp_path: Path) -> None:
    for path in filter(Path.is_file, crate.rglob("*")):
        text = path.read_text()
        assert str(tmp_path) not in text and "file://" not in text and "home of somebody" not in text, path


def test_the_package_is_not_copied_but_its_specs_are(crate: Path) -> None:
    assert (crate / "specs/models/bert.yaml").is_file() and not (crate / "pubmill").exists()
    assert "sha256" in read(crate)["rules/one.smk"]


def test_without_an_author_there_is_no_agent(results: Path, checkout: Path, tmp_path: Path) -> None:
    write_crate(recipe(author=None), results, checkout, tmp_path / "x.crate")
    graph = read(tmp_path / "x.crate")
    assert "agent" not in graph["#run-of-small"] and "author" not in graph["./"] and not list(faults(graph))


def test_the_same_study_gives_the_same_bytes(
    results: Path, checkout: Path, crate: Path, tmp_path: Path
) -> None:
    write_crate(recipe(), results, checkout, tmp_path / "again.crate")
    for path in filter(Path.is_file, crate.rglob("*")):
        assert path.read_bytes() == (tmp_path / "again.crate" / path.relative_to(crate)).read_bytes(), path


@pytest.mark.parametrize("lost", [RESULTS[1], f"{PUBLIC}.source.json"])
def test_an_unfinished_study_has_no_crate(results: Path, checkout: Path, tmp_path: Path, lost: str) -> None:
    (results / lost).unlink()
    with pytest.raises(PubmillError, match="finished study"):
        write_crate(recipe(), results, checkout, tmp_path / "x.crate")
    assert not (tmp_path / "x.crate").exists()


def test_the_recipe_leaves_out_the_machine_and_names_terms(specs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for file in FILES.values():
        (folder / file).touch()
    config = {
        "study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"], "mirror": str(tmp_path),
        "results": str(tmp_path / "r"), "local_files": {KEY: str(folder)},
    }  # fmt: skip
    targets = checked_graph(Study.model_validate(config), load(specs, "demo"))
    made = build(CrateRecipe, as_values(targets.stage(Crate).recipe()), "here")
    assert str(tmp_path) not in yaml.safe_dump(made.configuration)
    assert made.configuration["local_files"] == {KEY: "a folder of your own"}
    assert set(made.results) > {"reports/x.html", "reports/x.checklist.md", "tables/gu2020/table06.csv"}
    assert "tables/gu2020/table06.comparisons.html" in made.results
    assert targets.paths.crate(targets.study.study) not in targets.publication.everything()
    assert NAME in targets.scope.datasets() and APPLY in made.conditions.values()


def test_files_have_their_media_types(results: Path, checkout: Path, tmp_path: Path) -> None:
    """A name without an ending is a text's, an unknown ending may be anything's."""
    source = json.loads((results / f"{OWN}.source.json").read_text())
    odd = ("sources/local/notes/README", "sources/local/notes/a.odd", "sources/local/notes/b.xml.gz")
    for path in odd:
        write_json(results / f"{path}.source.json", source)
    made = recipe(sources=[f"{path}.source.json" for path in odd])
    write_crate(made, results, checkout, tmp_path / "small.crate")
    graph = read(tmp_path / "small.crate")
    types = {name: one.get("encodingFormat") for name, one in graph.items()}
    assert [types[f"#{path}"] for path in odd] == [
        "text/plain",
        "application/octet-stream",
        "application/gzip",
    ]
    assert (types["LICENSE"], types["README.md"], types["study.yaml"]) == (
        "text/plain", "text/markdown", "application/yaml",
    )  # fmt: skip
    assert {types[f"results/{path}"] for path in RESULTS} == {"application/json", "text/html"}


def test_descriptions_have_what_is_known(tmp_path: Path) -> None:
    made = recipe(tables=["a", "b"])
    runs = [
        Provenance(runs=3, failed=1, seconds=61.0, commits=("x",), hardware=("m",)),
        Provenance(runs=2, commits=("y", "x")),
    ]
    assert describe(made, runs) == (
        f"At {made.scale_title}. Runs: a: 3 fine-tuning runs, 1 failed, 1 min 1 s; b: 2 fine-tuning runs, "
        "none failed, 0 s. Machines: m. Commits of pubmill: x, y."
    )
    assert describe(recipe(tables=[]), []) == f"At {made.scale_title}."


def test_files_of_one_licence_share_its_entity(results: Path, checkout: Path, tmp_path: Path) -> None:
    words = "CC BY-NC 4.0 (a; b)"
    write_crate(recipe(licences={PUBLIC: words, OWN: words}), results, checkout, tmp_path / "small.crate")
    graph = read(tmp_path / "small.crate")
    [licence] = [name for name, one in graph.items() if one.get("name") == words]
    assert [name for name, one in graph.items() if ids(one.get("license")) == [licence]] == [
        "https://host.example/a/b.tsv", "#sources/local/notes/my%20file.csv",
    ]  # fmt: skip
    assert licence.startswith("#licence-") and len(licence) == len("#licence-") + 12


def test_the_readme_says_how_to_verify_the_crate(results: Path, checkout: Path, tmp_path: Path) -> None:
    (results / "reports/small.proof.zip").write_bytes(b"PK")
    made = recipe(results=[*RESULTS, "reports/small.proof.zip"])
    write_crate(made, results, checkout, tmp_path / "small.crate")
    text = (tmp_path / "small.crate/README.md").read_text()
    commands = text[text.index("## How to verify it") :].split("```")[1].splitlines()[1:]
    assert commands[0].startswith("sha256sum --check SHA256SUMS ")
    archive = commands[1].split()[1]
    assert (tmp_path / "small.crate" / archive).read_bytes() == b"PK"
    assert commands[2].startswith(f"python verify.py {archive} ")
