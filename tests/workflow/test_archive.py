"""The archive of the demo through Snakemake, and its verification by the command."""

import gzip
import sys
import zipfile
from pathlib import Path

import pytest

from tests.licensed import KEY, NAME, add_spec, write_files
from tests.workflow.conftest import Project, ended
from tests.workflow.test_access import assert_no_canary
from tests.world.part import CANARY

pytest.importorskip("pubmill.extras.archive", reason="the extra is not there")
ARCHIVE = "results/demo/reports/demo.archive.zip"


def verify(project: Project) -> str:
    return ended([sys.executable, "-m", "pubmill.cli", "verify", ARCHIVE], project.folder)


@pytest.mark.long
def test_the_archive_of_the_demo_is_made_again(copy: Project) -> None:
    copy.run(ARCHIVE)
    assert copy.planned(ARCHIVE) == {}
    said = verify(copy)
    assert said.endswith("nothing differs\n") and " records from predictions, " in said


@pytest.mark.long
def test_no_licensed_text_reaches_records_tables_report_or_archive(copy: Project, tmp_path: Path) -> None:
    add_spec(copy.folder / "specs")
    write_files(tmp_path / "own")
    own = f'local_files={{"{KEY}": "{tmp_path}/own"}}'
    done = copy.run("--config", f"datasets=[bc5-chem, {NAME}]", own, "--", "all", ARCHIVE)
    assert list((copy.folder / "results/demo/runs").rglob(f"{NAME}/*/final/seed-1.json"))
    assert NAME in (copy.folder / "results/demo/reports/demo.html").read_text()
    assert_no_canary(copy, done.stdout + done.stderr)
    with zipfile.ZipFile(copy.folder / ARCHIVE) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    runs = {name for name in members if f"/{NAME}/" in name}
    assert runs and all(name.endswith((".json", ".items.npz")) for name in runs)
    packed = {name: gzip.decompress(content) for name, content in members.items() if name.endswith(".gz")}
    texts = {name: content.decode("utf-8", "replace") for name, content in (members | packed).items()}
    assert [name for name, text in texts.items() if CANARY in text or str(tmp_path) in text] == []
    assert "records from contributions" in verify(copy)
