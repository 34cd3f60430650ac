"""PMC through Snakemake: from an inventory and the bucket to a counted corpus, and a later inventory."""

import json
import shutil
from pathlib import Path

import pytest

from tests.bucket import DAY, URL, Bucket, xml
from tests.workflow.conftest import Project, copy_code

FOLDER = "results/demo/corpora/articles"
LATER = "2026-09-03"
SPEC = f"""\
name: articles
sources:
  - name: bucket
    kind: pmc
    url: {URL}
    inventory: "{DAY}"
    articles: [PMC0000000xx-PMC0000001xx]
    leave_out: [tables]
    unreadable: {{PMC0000000xx: {{PMC9.1: mismatched tags}}}}
selection: {{parts: [abstract, body], licences: [commercial], without: [retracted]}}
"""


@pytest.fixture
def bucket(tmp_path: Path) -> Bucket:
    made = Bucket(tmp_path)
    made.article(7, 1, pmid="77")
    made.article(7, 2, content=xml(7, "Two whole words more."), pmid="77")
    made.article(8, xml_url=None)
    made.article(9, content=xml(9).replace(b"</p>", b"</q>"))
    made.article(101, license_code="CC BY-NC")
    made.article(102, is_retracted=True)
    made.inventory()
    return made


@pytest.fixture
def project(root: Path, tmp_path: Path, python: str) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    made = Project(copy_code(root, folder), python=python)
    (folder / "specs/corpora/articles.yaml").write_text(SPEC)
    return made


def run(project: Project, bucket: Bucket) -> dict[str, object]:
    project.run("--config", f"mirror={bucket.mirror}", "tables=[]", "--", f"{FOLDER}/stats.json")
    stats: dict[str, object] = json.loads((project.folder / FOLDER / "stats.json").read_text())
    return {key: stats[key] for key in ("parsed", "documents", "words", "rejected", "samples")}


@pytest.mark.long
def test_from_an_inventory_to_a_corpus_and_a_later_inventory(project: Project, bucket: Bucket) -> None:
    assert run(project, bucket) == {
        "parsed": 5, "documents": 1, "words": 4,
        "rejected": {"no_text": 1, "unreadable": 1, "licence": 1, "retracted": 1},
        "samples": {
            "no_text": ["pmc:8"], "unreadable": ["pmc:9"], "licence": ["pmc:101"], "retracted": ["pmc:102"],
        },
    }  # fmt: skip

    bucket.article(8, content=xml(8, "At last."))
    bucket.inventory(LATER)
    for name in ("PMC7.2", "PMC9.1", "PMC101.1", "PMC102.1"):  # unchanged articles are not requested again
        shutil.rmtree(bucket.root / name)
        (bucket.root / "metadata" / f"{name}.json").unlink()
    project.edit("specs/corpora/articles.yaml", DAY, LATER)
    assert run(project, bucket) == {
        "parsed": 5, "documents": 2, "words": 6,
        "rejected": {"unreadable": 1, "licence": 1, "retracted": 1},
        "samples": {"unreadable": ["pmc:9"], "licence": ["pmc:101"], "retracted": ["pmc:102"]},
    }  # fmt: skip
