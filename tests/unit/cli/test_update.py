"""Updates: which files they may write, what they begin with, print and run."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from pubmill.cli import update_command
from pubmill.cli.update_command import STATE, own_files
from pubmill.errors import PubmillError
from pubmill.specs import LearntVocabSpec
from tests.unit.cli.conftest import Said


def test_specs_of_a_workspace_are_written_where_the_user_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own, link = Path("specs/corpora/c.yaml"), Path(".pubmill/specs/corpora/c.yaml")
    for path in (own, link):
        path.parent.mkdir(parents=True)
    own.touch()
    link.symlink_to(own.resolve())
    assert own_files({link: "text"}) == {"specs/corpora/c.yaml": "text"}
    assert own_files({own: "text"}) == {"specs/corpora/c.yaml": "text"}


def test_a_spec_of_the_package_is_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, here = tmp_path / "package/corpora/c.yaml", tmp_path / "here"
    package.parent.mkdir(parents=True)
    package.touch()
    (here / ".pubmill/specs/corpora").mkdir(parents=True)
    (here / ".pubmill/specs/corpora/c.yaml").symlink_to(package)
    monkeypatch.chdir(here)
    with pytest.raises(PubmillError, match=r"pubmill's own .* copy it to specs/corpora/c\.yaml here"):
        own_files({Path(".pubmill/specs/corpora/c.yaml"): "text"})


class Update(NamedTuple):
    """New files of a source."""

    added: list[str]


def study_graph(tmp_path: Path, *, duplicates: bool = True) -> Any:
    """A graph of two pretrainings, of a corpus and of another's vocabulary."""
    learnt = LearntVocabSpec.model_construct(corpus="words")
    shards = [SimpleNamespace(source="second", name="s1"), SimpleNamespace(source="first", name="s2")]
    corpus = SimpleNamespace(
        duplicates=duplicates, sources=[SimpleNamespace(name=one) for one in ("first", "second")]
    )
    return SimpleNamespace(
        specs=SimpleNamespace(
            pretraining={
                "a": SimpleNamespace(corpus="texts", vocab="learnt"),
                "b": SimpleNamespace(corpus="texts", vocab="released"),
            },
            vocabs={"learnt": learnt, "released": SimpleNamespace()},
            corpora={"texts": corpus, "words": SimpleNamespace(duplicates=None, sources=[])},
        ),
        scope=SimpleNamespace(pretrainings=lambda: ["a", "b"]),
        corpora=SimpleNamespace(shards=lambda name: shards if name == "texts" else []),
        study=SimpleNamespace(scale="demo"),
        paths=SimpleNamespace(
            parsed_shard=lambda source, name: str(tmp_path / f"{source}-{name}"),
            corpus=lambda name, what: str(tmp_path / f"{name}-{what}"),
            blocks=lambda name, table: [f"{name}/{table}/block1", f"{name}/{table}/block2"],
        ),
        selection=SimpleNamespace(divided=lambda name, table: [f"{name}/{table}/part1"]),
    )


def test_the_corpora_of_models_and_of_their_vocabularies_are_updated(tmp_path: Path) -> None:
    assert update_command._corpora(study_graph(tmp_path)) == ["texts", "words"]


@pytest.mark.parametrize(
    ("added", "line"),
    [
        ([], "pubmed: 0 new files"),
        (["f1"], "pubmed: 1 new file: f1"),
        (["f1", "f2"], "pubmed: 2 new files: f1 to f2"),
        (["f1", "f2", "f3"], "pubmed: 3 new files: f1 to f3"),
    ],
)
def test_new_files_of_a_source_are_counted_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    added: list[str],
    line: str,
) -> None:
    source = SimpleNamespace(name="pubmed")
    pairs = [("texts", source), ("words", source)]
    monkeypatch.setattr("pubmill.inspection.pubmed_updates.pubmed_sources", lambda *_: pairs)
    monkeypatch.setattr("pubmill.inspection.pubmed_updates.source_update", lambda *_: Update(added))
    found = update_command._updates(study_graph(tmp_path), None)
    assert [(name, list(update.added)) for name, update in found.items()] == (
        [("pubmed", added)] if added else []
    )
    assert capsys.readouterr().out == f"{line}\n"


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose spec an update changes from `old` to `new`."""
    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()
    Path("specs/texts.yaml").write_text("old", encoding="utf-8")
    graph = study_graph(tmp_path)
    monkeypatch.setattr(update_command, "_graph", lambda *_: graph)
    monkeypatch.setattr(update_command, "_updates", lambda *_: {})
    monkeypatch.setattr("pubmill.cli.studies.specs_folder", lambda: Path("specs"))
    updates = "pubmill.inspection.pubmed_updates"
    monkeypatch.setattr(f"{updates}.updated_specs", lambda *_: {Path("specs/texts.yaml"): "new"})
    monkeypatch.setattr(f"{updates}.check_updated", lambda *_: None)
    return tmp_path


def begin(*, dry: bool = False) -> dict[str, dict[str, int]]:
    return update_command._begin({"mirror": None}, [], dry)


def test_an_update_begins_with_the_shards_before_it_and_the_new_specs(
    begun: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {"texts": {str(begun / "second-s1"): 1, str(begun / "first-s2"): 0}, "words": {}}
    assert begin() == before
    assert Path("specs/texts.yaml").read_text(encoding="utf-8") == "new"
    assert json.loads(STATE.read_text()) == {"before": before, "specs": {}}
    assert capsys.readouterr().out == "specs/texts.yaml names the new files\n"


def test_a_killed_update_keeps_what_it_began_with_and_writes_its_specs_first(
    begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def graph(*_: Any) -> Any:
        seen.append(Path("specs/texts.yaml").read_text(encoding="utf-8"))
        return study_graph(begun)

    monkeypatch.setattr(update_command, "_graph", graph)
    STATE.parent.mkdir()
    state = {"before": {"texts": {"first": 3}}, "specs": {"specs/texts.yaml": "killed"}}
    STATE.write_text(json.dumps(state))
    assert begin(dry=True) == {} and json.loads(STATE.read_text()) == state
    assert begin() == {"texts": {"first": 3}, "words": {}}
    assert seen == ["old", "killed", "new"]


def test_a_dry_run_of_an_update_writes_nothing(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert begin(dry=True) == {}
    assert Path("specs/texts.yaml").read_text(encoding="utf-8") == "old" and not STATE.exists()
    assert capsys.readouterr().out == ""


def test_specs_that_do_not_fit_the_new_files_are_taken_back(
    begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        assert Path("specs/texts.yaml").read_text(encoding="utf-8") == "new"
        raise PubmillError("no such file")

    monkeypatch.setattr("pubmill.inspection.pubmed_updates.check_updated", refuse)
    with pytest.raises(PubmillError, match="no such file"):
        begin()
    assert Path("specs/texts.yaml").read_text(encoding="utf-8") == "old" and not STATE.exists()


@pytest.mark.parametrize(
    ("before", "made", "printed"),
    [
        ({"old": 0}, True, "texts:\n  3 new: 1, 2 ...\n"),
        ({"old": 0}, False, ""),
        ({"second-s1": 1, "first-s2": 0}, True, ""),
        ({"second-s1": 0, "first-s2": 1}, True, "texts:\n  3 new: 1, 2 ...\n"),
    ],
)
def test_changes_are_reported_of_corpora_that_were_made_before(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    before: dict[str, int],
    made: bool,
    printed: str,
) -> None:
    change = SimpleNamespace(documents=3, kind="new", ids=["1", "2"])
    monkeypatch.setattr("pubmill.corpus.document_versions.changes", lambda *_: [change])
    for name in before if made else ():
        (tmp_path / name).touch()
    shards = {str(tmp_path / name): rank for name, rank in before.items()}
    update_command._report(study_graph(tmp_path), {"texts": shards})
    assert capsys.readouterr().out == printed


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[list[str]]]:
    """A function that makes Snakemake end with a status, and returns the list of its runs."""

    def runs(status: int) -> list[list[str]]:
        words: list[list[str]] = []

        def start(command: list[str], check: bool) -> SimpleNamespace:
            assert command[1:4] == ["-m", "snakemake", "--logger=pubmill"] and not check
            words.append(command[4:])
            return SimpleNamespace(returncode=status)

        monkeypatch.setattr("subprocess.run", start)
        return words

    return runs


def test_blocks_are_made_before_parts_and_a_command_shows_its_first_file(
    tmp_path: Path, run: Callable[[int], list[list[str]]], capsys: pytest.CaptureFixture[str]
) -> None:
    runs, graph = run(0), study_graph(tmp_path)
    update_command._divide(graph, ["texts"], "latest", ["-j1"])
    blocks, parts = ["texts/latest/block1", "texts/latest/block2", "-j1"], ["texts/latest/part1", "-j1"]
    assert runs == [blocks, parts]
    shown = capsys.readouterr().err.splitlines()
    assert [line.partition("snakemake ")[2] for line in shown] == [
        "texts/latest/block1 ... -j1",
        "texts/latest/part1 -j1",
    ]
    update_command._divide(graph, [], "latest", ["-j1"])
    assert len(runs) == 2


def test_a_failed_run_ends_the_update_with_its_status(
    tmp_path: Path, run: Callable[[int], list[list[str]]]
) -> None:
    runs = run(3)
    with pytest.raises(SystemExit) as ended:
        update_command._divide(study_graph(tmp_path), ["texts"], "latest", [])
    assert ended.value.code == 3 and len(runs) == 1


@pytest.mark.parametrize("options", ["", "-n", "--dry-run"])
def test_an_update_divides_reports_and_then_runs_the_study(
    started: Said, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    """Only corpora in which duplicates are removed have a table of these."""
    steps: list[Any] = []
    monkeypatch.setattr(update_command, "provide_mirror", lambda mirror: None)

    def begin(_: Any, __: Any, dry: bool) -> dict[str, dict[str, int]]:
        steps.append(("begin", dry))
        return {}

    monkeypatch.setattr(update_command, "_begin", begin)
    monkeypatch.setattr(update_command, "_graph", lambda *_: study_graph(tmp_path))
    monkeypatch.setattr(update_command, "_divide", lambda _, names, table, __: steps.append((table, names)))
    monkeypatch.setattr(update_command, "_report", lambda *_: steps.append("report"))
    monkeypatch.setattr(update_command, "_run", lambda targets, words: steps.append(targets))
    STATE.parent.mkdir(exist_ok=True)
    STATE.touch()
    started("update", "gu2020", "table06", *options.split())
    done = [
        ("latest", ["texts", "words"]),
        "report",
        ("duplicates", ["texts"]),
        ["results/full/tables/gu2020/table06.html"],
    ]
    assert steps == [("begin", bool(options)), *([] if options else done)]
    assert STATE.exists() is bool(options)
    steps.clear()
    started("update", "gu2020", "table06", *options.split())
    assert steps == [("begin", bool(options)), *([] if options else done)]
