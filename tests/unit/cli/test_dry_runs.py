"""Where a dry run works."""

from pathlib import Path

import pytest

from pubmill.cli.run_requests import stand_in
from pubmill.stages.availability import Digests


def test_a_dry_run_writes_into_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what verbs write before a run, of Snakemake's records and of the digests of files."""
    here, beside = tmp_path / "here", tmp_path / "beside"
    own = ["specs/models/a.yaml", "workspace.yaml", "tests/world/mirror/a", "tests/other", ".snakemake/log/a"]
    for path in [beside / "a", *(here / name for name in [*own, ".snakemake/metadata/a", "results/full/a"])]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name, encoding="utf-8")
    monkeypatch.chdir(here)
    before = sorted(tmp_path.rglob("*"))
    with stand_in():
        assert Path("../beside/a").is_file() and Path(".snakemake/metadata/a").is_file()
        assert Path("tests/other").is_file() and not Path(".snakemake/log").exists()
        for name in [*own[:3], "specs/models/b.yaml", "tests/world/mirror/b", ".snakemake/log/b", "new"]:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text("other", encoding="utf-8")
        digests = Digests(Path("results/full/.digests.jsonl"))
        assert digests.of(Path("results/full/a")) == digests.of(beside / "a")
    assert Path.cwd() == here and sorted(tmp_path.rglob("*")) == before
    assert all((here / name).read_text(encoding="utf-8") == Path(name).name for name in own)
