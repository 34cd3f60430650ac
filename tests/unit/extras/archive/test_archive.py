"""What an archive holds, and what `pubmill verify` says of honest, damaged and hostile ones."""

import gzip
import hashlib
import json
import re
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from pubmill.cli.studies import target_of_study
from pubmill.errors import PubmillError
from pubmill.extras.archive.archive_recipes import ArchiveRecipe
from pubmill.extras.archive.archive_stages import Archive
from pubmill.extras.archive.programs.archive import main
from pubmill.extras.archive.verification import ArchivedStudy, verify
from pubmill.hardware import provenance
from pubmill.stages import Graph
from pubmill.storage.files import read_json
from tests.unit.extras.archive import toy_study as toy
from tests.unit.programs import run_verb
from tests.world.part import CANARY

RUN = "results/toy/runs/toy/bert/{}/standard/final/seed-1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    toy.make(folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "study"))


@pytest.fixture
def members(made: Path) -> dict[str, bytes]:
    return toy.members_of(archive(made))


def archive(folder: Path) -> Path:
    return folder / "results/toy/reports/toy.archive.zip"


def checked(folder: Path) -> ArchivedStudy:
    return verify(archive(folder), folder / "checkout")


def pack(folder: Path, graph: Graph) -> ArchiveRecipe:
    recipe = graph.stage(Archive).recipe()
    main(recipe, folder / "results/toy", archive(folder), folder / "checkout/specs")
    return recipe


def again(folder: Path, **more: object) -> ArchivedStudy:
    pack(folder, toy.graph_of(folder, **more))
    return checked(folder)


def test_nothing_differs_in_an_honest_archive_or_between_two_of_one_study(folder: Path) -> None:
    before = archive(folder).read_bytes()
    for study in (checked(folder), again(folder)):
        assert study.different == study.notes == []
        assert study.counted == {
            "records from predictions": 8, "records from contributions": 4, "tables": 1, "cells": 16,
            "verdicts": 5, "comparisons": 3,
        }  # fmt: skip
    assert archive(folder).read_bytes() == before


def test_of_public_datasets_it_has_examples_and_predictions_and_of_others_only_counts(
    members: dict[str, bytes],
) -> None:
    stems = {name: RUN.format(name) for name in ("words", toy.SECRET)}
    endings = {
        name: {one.removeprefix(stem) for one in members if one.startswith(stem)}
        for name, stem in stems.items()
    }
    assert endings[toy.SECRET] == {".json", ".items.npz"}
    assert endings["words"] == {".json", ".items.npz", ".predictions.jsonl.gz", ".training.json"}
    examples = {name for name in members if "/datasets/" in name and name.startswith("results/")}
    assert examples == {f"results/toy/datasets/{name}/test.jsonl.gz" for name in ("words", "pairs")}
    readme = members["README.md"].decode()
    assert "secret: records, contributions" in readme and "apply at https://example.org/" in readme
    assert "words: scored examples, predictions, records. Licence: CC BY 4.0" in readme


def texts(members: dict[str, bytes]) -> Iterator[tuple[str, str]]:
    for name, content in members.items():
        yield name, (gzip.decompress(content) if name.endswith(".gz") else content).decode("utf-8", "replace")


def test_no_text_of_licensed_data_and_no_folder_of_the_machine_is_in_it(
    made: Path, members: dict[str, bytes]
) -> None:
    """And its list is that of sha256sum."""
    public = {"results/toy/datasets/words/test.jsonl.gz", "results/toy/datasets/pairs/test.jsonl.gz"}
    assert {name for name, text in texts(members) if CANARY in text} <= public
    assert [name for name, text in texts(members) if str(made) in text] == []
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    listed = dict(line.split("  ")[::-1] for line in members["SHA256SUMS"].decode().splitlines())
    assert listed == {name: one for name, one in digests.items() if name != "SHA256SUMS"}


def test_predictions_that_are_labelled_as_licensed_are_left_out_and_named(folder: Path) -> None:
    """Such as those on public data by a model that was pretrained on licensed text."""
    record = RUN.format("words").removeprefix("results/toy/")
    training = folder / "results/toy" / f"{record}.training.json"
    notes = read_json(training) | {"access": "credentialed"}
    training.write_text(json.dumps(notes))
    study = again(folder)
    assert study.different == [] and [note for note in study.notes if record in note]
    assert study.counted["records from predictions"] == 7
    assert f"{RUN.format('words')}.predictions.jsonl.gz" not in toy.members_of(archive(folder))


def test_it_is_an_ro_crate(members: dict[str, bytes]) -> None:
    """What RO-Crate 1.1 requires of the descriptor, the root and data entities."""
    entities = {one["@id"]: one for one in json.loads(members["ro-crate-metadata.json"])["@graph"]}
    descriptor, root = entities["ro-crate-metadata.json"], entities["./"]
    assert descriptor["about"] == {"@id": "./"}
    assert {"@id": "https://w3id.org/ro/crate/1.1"} in descriptor["conformsTo"]
    assert all(root[key] for key in ("name", "description", "datePublished", "license", "hasPart"))
    assert entities[root["license"]["@id"]]["@type"] == "CreativeWork"
    assert "ComputationalWorkflow" in entities[root["mainEntity"]["@id"]]["@type"]
    for part in (one["@id"] for one in root["hasPart"]):
        assert part in members or any(name.startswith(part) for name in members if part.endswith("/")), part
    named = re.findall(r'\{"@id": "([^"]+)"\}', json.dumps([*entities.values()]))
    assert {one for one in named if not one.startswith("http")} <= entities.keys()


def test_an_author_is_named(folder: Path) -> None:
    author = {"name": "Ada Lovelace", "orcid": "https://orcid.org/0000-0002-1825-0097"}
    assert again(folder, author=author).different == []
    graph = json.loads(toy.members_of(archive(folder))["ro-crate-metadata.json"])["@graph"]
    assert [one["name"] for one in graph if one["@type"] == "Person"] == ["Ada Lovelace"]


def test_records_on_disk_that_no_job_makes_are_in_it(folder: Path) -> None:
    """A study of one model shows the other's records too; stale ones stay out, with their reason."""
    graph = toy.graph_of(folder, models=["ours"])
    stale = folder / "results/toy" / RUN.format("pairs").removeprefix("results/toy/")
    record = read_json(Path(f"{stale}.json")) | {"made_by": "other recipes"}
    Path(f"{stale}.json").write_text(json.dumps(record), encoding="utf-8")
    toy.write_table(folder, graph)
    recipe = pack(folder, graph)
    assert len(recipe.found) == 4 and list(recipe.stale) == ["runs/toy/bert/pairs/standard/final/seed-1.json"]
    assert checked(folder).different == []


def test_changed_specs_are_differences_at_the_same_commit_and_notes_at_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = folder / "checkout/specs/models/bert.yaml"
    spec.write_text(spec.read_text().replace("BERT", "Bert"))
    assert checked(folder).different == ["specs/models/bert.yaml: not as in the installed pubmill"]
    (folder / "checkout/specs/models/ours.yaml").unlink()
    monkeypatch.setattr(provenance, "commit", lambda *_: "d" * 40)
    study = checked(folder)
    assert study.different == []
    assert [note.partition(":")[0] for note in study.notes][::2] == [
        "specs/models/ours.yaml", "specs/models/bert.yaml"
    ]  # fmt: skip
    assert "verified by dddd" in study.notes[1]


def test_the_command_names_what_differs(made: Path, members: dict[str, bytes], tmp_path: Path) -> None:
    name = f"{RUN.format('words')}.json"
    record = json.loads(members[name])
    record["metrics"]["entity_f1"] = 0.99
    forged = toy.write(toy.fitted(members | {name: json.dumps(record).encode()}), tmp_path / "x.zip")
    study = verify(forged, made / "checkout")
    place = name.removeprefix("results/toy/")
    assert study.different[0].startswith(f"{place}: metrics: entity_f1: 0.99 in the archive, ")


def test_the_command_ends_with_1_if_something_differs(made: Path) -> None:
    """The toy's specs are not those of this pubmill, and the same commit packed it."""
    code, output, _ = run_verb("verify", archive(made))
    assert code == 1 and "different: specs/" in output and output.endswith(" differences\n")


Damage = Callable[[dict[str, bytes], Path], Path]


def with_name(name: str) -> Damage:
    return lambda members, path: toy.write(toy.fitted(members | {name: b"x"}), path)


def cut(members: dict[str, bytes], path: Path) -> Path:
    toy.write(members, path)
    path.write_bytes(path.read_bytes()[:-1000])
    return path


def twice(members: dict[str, bytes], path: Path) -> Path:
    toy.write(members, path)
    with pytest.warns(UserWarning), zipfile.ZipFile(path, "a") as opened:
        opened.writestr("README.md", members["README.md"])
    return path


def link(members: dict[str, bytes], path: Path) -> Path:
    toy.write(members, path)
    about = zipfile.ZipInfo("link")
    about.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as opened:
        opened.writestr(about, "/etc/passwd")
    return path


def bomb(members: dict[str, bytes], path: Path) -> Path:
    name = "results/toy/datasets/words/test.jsonl.gz"
    return toy.write(toy.fitted(members | {name: gzip.compress(bytes(200_000_001), 1)}), path)


def pickled(members: dict[str, bytes], path: Path) -> Path:
    file = path.with_suffix(".npz")
    np.savez(file, about=np.array([{}], dtype=object), names=np.array([]), values=np.zeros((0, 0)))
    return toy.write(toy.fitted(members | {f"{RUN.format('words')}.items.npz": file.read_bytes()}), path)


def no_zip(members: dict[str, bytes], path: Path) -> Path:
    path.write_text("hello", encoding="utf-8")
    return path


def with_json(text: str) -> Damage:
    return lambda members, path: toy.write(
        toy.fitted(members | {f"results/toy/{toy.TABLE_FILE}": text.encode()}), path
    )


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        pytest.param(cut, "not a whole archive", id="cut"),
        pytest.param(no_zip, "not a whole archive", id="no-zip"),
        pytest.param(lambda members, path: path, "does not exist", id="absent"),
        pytest.param(lambda members, path: toy.write({"a": b"b"}, path), "SHA256SUMS is missing", id="other"),
        pytest.param(twice, "README.md is in it twice", id="twice"),
        pytest.param(link, "link is no plain file", id="link"),
        pytest.param(bomb, "unpacks to more than 200,000,000 bytes", id="bomb"),
        pytest.param(pickled, "not a file of contributions", id="pickle"),
        pytest.param(with_json('{"a": 1, "a": 2}'), "occurs twice", id="repeated-key"),
        pytest.param(with_json('{"a": NaN}'), "NaN is no finite number", id="nan"),
        pytest.param(with_json("[" * 100_000), "nested too deeply", id="deep"),
        *(
            pytest.param(with_name(name), "is no name of a member", id=name)
            for name in ("../x", "/x", "a//b", "a/../b", "a/.x", "a\\b", "folder/", "x\u202ey", "x" * 500)
        ),
    ],
)
def test_a_damaged_or_hostile_archive_ends_with_one_message(
    members: dict[str, bytes], made: Path, tmp_path: Path, damage: Damage, said: str
) -> None:
    path = damage(members, tmp_path / "x.zip")
    try:
        found = "\n".join(verify(path, made / "checkout").different)
    except PubmillError as error:
        found = str(error)
    assert said in found and not list(tmp_path.parent.rglob("passwd"))


def test_it_is_requested_by_a_word() -> None:
    config = {"study": "gu2020", "scale": "full", "results": "results", "own_tables": "", "tables": []}
    assert target_of_study("archive", config) == "results/full/reports/gu2020.archive.zip"


def test_an_archive_needs_finished_results(folder: Path) -> None:
    graph = toy.graph_of(folder)
    Path(graph.paths.table(toy.TABLE, "csv")).unlink()
    with pytest.raises(PubmillError, match=r"table01.csv does not exist; run the study first"):
        pack(folder, graph)


def test_a_study_without_tables_of_results_has_no_archive(folder: Path) -> None:
    with pytest.raises(PubmillError, match="no tables of results that could be archived"):
        toy.graph_of(folder, tables=[]).stage(Archive).recipe()
