"""Restricted datasets through Snakemake: without their files, with them, and with damaged ones."""

import gzip
import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pubmill.specs import DatasetSpec, LocalFile, load
from tests.licensed import APPLY, FILES, KEY, NAME, add_spec, write_files
from tests.workflow.conftest import Project
from tests.world.part import CANARY

CARD = f"results/demo/datasets/{NAME}/card.json"
ONLY = ("--config", f"datasets=[{NAME}]", "models=[no-pretraining]")


@pytest.fixture
def asking(project: Project) -> Project:
    """A project whose table has a restricted dataset."""
    add_spec(project.folder / "specs")
    return project


def shown(project: Project, said: str = "") -> Iterator[tuple[str, str]]:
    """Yield everything that people see or may pass on: output, logs, cards, records, pages, predictions.

    The copies of the files and the examples, which only their owner may read, are not included.
    """
    yield "standard output and error", said
    for folder in ("results", ".snakemake"):
        for path in (project.folder / folder).rglob("*"):
            licensed = "sources/local" in str(path) and not path.name.endswith(".source.json")
            examples = path.parent.parent.name == "datasets" and path.name.endswith(".jsonl.gz")
            if path.is_file() and (licensed or examples):
                assert path.stat().st_mode & 0o077 == 0 or not_licensed(path), path
            elif path.is_file():
                data = path.read_bytes()
                data = gzip.decompress(data) if path.suffix == ".gz" and "sources" not in path.parts else data
                yield str(path.relative_to(project.folder)), data.decode("utf-8", "replace")


def not_licensed(path: Path) -> bool:
    """Return whether the examples of a folder are public according to their card."""
    card = path.with_name("card.json")
    return card.is_file() and json.loads(card.read_text())["access"] == "public"


def assert_no_canary(project: Project, said: str = "") -> None:
    reported = [name for name, text in shown(project, said) if CANARY in text]
    assert not reported, f"licensed text is in {reported}"


@pytest.fixture(scope="module")
def bare(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The miniature world without the files that users must supply."""
    folder = tmp_path_factory.mktemp("bare") / "mirror"
    shutil.copytree(world, folder, ignore=shutil.ignore_patterns("local"))
    return folder


@pytest.mark.long
def test_without_its_files_all_is_green_and_the_cell_says_where_to_apply(
    asking: Project, world: Path, bare: Path
) -> None:
    asking.edit("config.yaml", f"mirror: {world}", f"mirror: {bare}")
    assert "take_local" not in asking.planned()
    table = "results/demo/tables/demo/gu2020-table06.json"
    done = asking.run(*ONLY, "--", table, table.replace(".json", ".html"))
    assert f"left out of the tables: {NAME} (needs files that you apply for at {APPLY}" in done.stderr
    cell = json.loads((asking.folder / table).read_text())["cells"]["no-pretraining"][NAME]
    assert cell["value"] is None and APPLY in cell["missing"] and KEY in cell["missing"]
    assert APPLY in (asking.folder / table.replace(".json", ".html")).read_text()


def test_by_its_name_it_says_what_it_needs(asking: Project) -> None:
    done = asking.run("-n", CARD, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in said
    for text in (APPLY, KEY, *FILES.values()):
        assert text in said


def test_a_folder_that_lacks_a_file_ends_the_run_at_once(asking: Project, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "own")
    (folder / FILES["dev"]).unlink()
    done = asking.run(*ONLY, f'local_files={{"{KEY}": "{folder}"}}', check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in said
    for text in (str(folder), f"has no file {FILES['dev']}", APPLY):
        assert text in said
    assert not list((asking.folder / "results/demo").glob("[!.]*")), "nothing but the lock of the results"


@pytest.mark.parametrize("name", ["own", "my files (100%) ü #1 'x'"])
def test_with_its_files_it_is_converted(asking: Project, tmp_path: Path, name: str) -> None:
    folder = write_files(tmp_path / name)
    overlay = tmp_path / "own.yaml"
    overlay.write_text(json.dumps({"local_files": {KEY: str(folder)}}))
    done = asking.run("--configfile", str(overlay), "--", CARD)
    card = json.loads((asking.folder / CARD).read_text())
    assert card["counts"]["train"]["mentions"] == 2
    source = asking.folder / f"results/demo/sources/local/{KEY}/{FILES['train']}"
    assert source.read_bytes() == (folder / FILES["train"]).read_bytes()
    assert json.loads(source.with_name(f"{source.name}.source.json").read_text())["origin"] == "local"
    assert_no_canary(asking, done.stdout + done.stderr)
    assert asking.planned("--configfile", str(overlay), "--", CARD) == {}


def licensed(root: Path) -> dict[str, DatasetSpec]:
    """Return the restricted datasets of the checkout."""
    return {name: spec for name, spec in load(root / "specs", "demo").datasets.items() if spec.apply}


def cards(names: dict[str, DatasetSpec]) -> list[str]:
    return [f"results/demo/datasets/{name}/card.json" for name in names]


@pytest.mark.long
@pytest.mark.weekly
def test_the_licensed_datasets_of_the_miniature_world(project: Project, root: Path, world: Path) -> None:
    names = licensed(root)
    done = project.run("--", *cards(names))
    for card in cards(names):
        assert (project.folder / card).is_file()
    assert_no_canary(project, done.stdout + done.stderr)


def cut(data: bytes) -> bytes:
    """Return the first half, followed by bytes that no format allows there."""
    return data[: len(data) // 2] + f"\n\t{CANARY}\t<{CANARY}|{CANARY}\n".encode()


def scrambled(data: bytes) -> bytes:
    """Return the text with the words of every third line in another order, with other separators."""
    lines = data.decode("utf-8").split("\n")
    lines[::3] = [" ".join(reversed(line.replace("\t", "||").split(" "))) for line in lines[::3]]
    return "\n".join(lines).encode()


def damaged(path: Path, damage: Callable[[bytes], bytes]) -> bytes:
    """Return the file with damaged text; archives stay intact, but their content is damaged."""
    if tarfile.is_tarfile(path):
        made = io.BytesIO()
        with tarfile.open(path) as whole, tarfile.open(fileobj=made, mode="w:gz") as spoilt:
            for member in whole.getmembers():
                content = whole.extractfile(member)
                data = damage(content.read()) if content else b""
                member.size = len(data)
                spoilt.addfile(member, io.BytesIO(data))
        return made.getvalue()
    if zipfile.is_zipfile(path):
        made = io.BytesIO()
        with zipfile.ZipFile(path) as whole, zipfile.ZipFile(made, "w") as spoilt:
            for name in whole.namelist():
                spoilt.writestr(name, damage(whole.read(name)))
        return made.getvalue()
    return damage(path.read_bytes())


@pytest.mark.long
@pytest.mark.parametrize("damage", [cut, pytest.param(scrambled, marks=pytest.mark.weekly)])
def test_damaged_files_of_the_miniature_world_show_no_text(
    project: Project, root: Path, world: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    names = licensed(root)
    spoilt = tmp_path / "spoilt"
    shutil.copytree(world / "local", spoilt / "local")
    for spec in names.values():
        for file in spec.sources.values():
            if isinstance(file, LocalFile):
                path = world / "local" / file.local / file.file
                (spoilt / "local" / file.local / file.file).write_bytes(damaged(path, damage))
    project.edit("config.yaml", f"mirror: {world}", f"mirror: {spoilt}")
    done = project.run("--", *cards(names), check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "pubmill: error: " in said
    assert_no_canary(project, said)
    assert not any((project.folder / card).exists() for card in cards(names))
