"""What is printed before a run, and in its place."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.cli.dry_runs import is_plain, print_cost, print_dry_run, stand_in
from pubmill.errors import PubmillError
from pubmill.planning.plan import Job
from pubmill.stages.user_folders import Digests
from pubmill.storage.result_paths import Paths
from pubmill.workflow.causes import NOT_MADE

Listing = Callable[..., list[str]]
DONE = Job("score", {"seed": "1"}, False)
TO_DO = [Job("score", {"seed": "2"}, True, NOT_MADE), Job("table", {}, True)]


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs of a made-up study without tables, to be filled."""
    jobs: list[Job] = []
    graph = SimpleNamespace(
        paths=Paths("results/x"),
        study=SimpleNamespace(study="x"),
        requests=SimpleNamespace(result_tables=list),
        left_out=lambda: [],
    )
    monkeypatch.setattr("pubmill.specs.study.check_study", lambda *_: ())
    monkeypatch.setattr("pubmill.stages.checked_graph", lambda *_: graph)
    monkeypatch.setattr("pubmill.workflow.listed_jobs.jobs_of_study", lambda *about: jobs)
    return jobs


@pytest.mark.parametrize(
    ("targets", "pages"), [([], ["results/x/reports/x.html"]), (["a.html", "b.html"], ["a.html", "b.html"])]
)
@pytest.mark.parametrize("why", [False, True])
def test_a_run_with_nothing_to_do_names_its_pages(
    study: list[Job], capsys: pytest.CaptureFixture[str], targets: list[str], pages: list[str], why: bool
) -> None:
    study.append(DONE)
    print_dry_run(Path(), {}, [], targets, why)
    expected = ["Nothing to be done.", *(f"To read: {page}" for page in pages)]
    assert capsys.readouterr().out.splitlines() == expected


@pytest.mark.parametrize("why", [False, True])
def test_jobs_to_do_are_counted_and_their_causes_are_printed_if_asked(
    study: list[Job], capsys: pytest.CaptureFixture[str], why: bool
) -> None:
    study.extend([DONE, *TO_DO])
    print_dry_run(Path(), {}, [], ["a.html"], why)
    said = capsys.readouterr().out
    assert "2 jobs" in said and "To read" not in said
    assert ("not made yet: 1 score\nand what follows from these: 1 table\n" in said) is why


@pytest.mark.parametrize(("searched", "lines"), [([], ["cost"]), (["2 searches"], ["2 searches", "cost"])])
def test_searches_are_named_before_the_cost(
    study: list[Job],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    searched: list[str],
    lines: list[str],
) -> None:
    monkeypatch.setattr("pubmill.cli.studies.measured_gpus", lambda: None)
    monkeypatch.setattr("pubmill.planning.plan.search_lines", lambda *_: searched)
    monkeypatch.setattr("pubmill.planning.plan.make_plan", lambda *_: "plan")
    monkeypatch.setattr("pubmill.planning.plan_printing.answer", lambda *_: ["cost"])
    print_cost(Path(), {}, [], "a.html")
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize(
    ("options", "why", "plain"),
    [
        ([], False, False),
        (["-n"], False, True),
        (["--dry-run", "-n"], True, True),
        (["--dryrun"], True, True),
        (["-n", "-j1"], False, False),
        (["-j1"], False, False),
    ],
)
def test_a_run_is_only_listed_without_other_options(options: list[str], why: bool, plain: bool) -> None:
    assert is_plain(options, why) is plain


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "without running them: add -n"),
        (["-j1"], "without running them: add -n"),
        (["--cores", "2", "-n"], "its options --cores 2 have no effect: leave them out"),
    ],
)
def test_causes_are_asked_for_with_a_dry_run_alone(options: list[str], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        is_plain(options, why=True)


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
