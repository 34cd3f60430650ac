"""Restricted datasets through Snakemake: without their files, with them, and with damaged ones."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pubmill.specs import load
from tests.licensed import APPLY, FILES, KEY, NAME, add_spec, write_files
from tests.workflow.conftest import Project
from tests.world.part import CANARY

CARD = f"results/demo/datasets/{NAME}/card.json"
ONLY = ("--config", f"datasets=[{NAME}]", "models=[no-pretraining]")


@pytest.fixture
def asking(project: Project) -> Project:
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
    card = path.with_name("card.json")
    return card.is_file() and json.loads(card.read_text())["access"] == "public"


def assert_no_canary(project: Project, said: str = "") -> None:
    reported = [name for name, text in shown(project, said) if CANARY in text]
    assert not reported, f"licensed text is in {reported}"


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


def test_with_its_files_it_is_converted(asking: Project, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "my files (100%) ü #1 'x'")
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
    (folder / FILES["train"]).write_text(f"{CANARY} B\t{CANARY}\t<{CANARY}|{CANARY}\n")
    done = asking.run("--configfile", str(overlay), "--", CARD, check=False)
    assert done.returncode == 1 and "pubmill: error: " in done.stdout + done.stderr
    assert_no_canary(asking, done.stdout + done.stderr)


@pytest.mark.long
@pytest.mark.weekly
def test_the_licensed_datasets_of_the_miniature_world(project: Project, root: Path) -> None:
    names = [name for name, spec in load(root / "specs", "demo").datasets.items() if spec.apply]
    cards = [f"results/demo/datasets/{name}/card.json" for name in names]
    done = project.run("--", *cards)
    assert all((project.folder / card).is_file() for card in cards)
    assert_no_canary(project, done.stdout + done.stderr)
