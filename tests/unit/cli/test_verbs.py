"""Verbs: the command that each starts, what it prints, and what it says about words that it does not know."""

import json
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from pubmill import __version__
from pubmill.cli.app import APP, VERBS
from pubmill.cli.studies import configuration
from pubmill.planning.plan import Job
from pubmill.specs import load
from tests.licensed import KEY, NAME
from tests.unit.cli.conftest import Said

SNAKEMAKE = "-m snakemake --logger=pubmill"
LOCAL = "--profile profiles/local"
GU = "--configfile studies/gu2020.yaml"


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("demo", f"{SNAKEMAKE} {LOCAL}"),
        ("run demo", f"{SNAKEMAKE} {LOCAL}"),
        ("run gu2020", f"{SNAKEMAKE} {LOCAL} {GU}"),
        ("run studies/gu2020.yaml -j4", f"{SNAKEMAKE} {LOCAL} {GU} -j4"),
        (
            "run gu2020 table06 results/full/datasets/bc2gm/card.json --forcerun convert",
            f"{SNAKEMAKE} results/full/tables/gu2020/gu2020-table06.html "
            f"results/full/datasets/bc2gm/card.json {LOCAL} {GU} --forcerun convert",
        ),
        (
            "run gu2020 gu2020/table06 --profile profiles/gpu --config mirror=/data results=there",
            f"{SNAKEMAKE} there/full/tables/gu2020/gu2020-table06.html {GU} --config mirror=/data "
            "results=there --profile profiles/gpu",
        ),
        ("run gu2020 --configfile mine.yaml", f"{SNAKEMAKE} {LOCAL} {GU} mine.yaml"),
    ],
)
def test_a_verb_starts_snakemake_and_prints_it(
    started: Said, checkout: Path, words: str, command: str
) -> None:
    (checkout / "mine.yaml").write_text("mirror: null\n")
    assert started(*words.split()) == command


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run gu2021", "there is no study 'gu2021'; the nearest: gu2020, tinn2021"),
        ("run gu2020 table6", "study gu2020: there is no table 'table6'; the nearest: gu2020/table06"),
        ("table gu2020/tabel06 --model x", "there is no table 'gu2020/tabel06'; the nearest: gu2020/table06"),
        ("table gu2020/table06 --model pubmedbert", "there is no model 'pubmedbert'; the nearest: pubmedb"),
        ("table gu2020/table06 --model x --scale tiny", "there is no scale 'tiny'; the nearest: "),
        ("predict kept notes.txt --format text", "after kept, name the text to annotate, then the file"),
        ("predict kept - notes.jsonl", "the standard input has no name; name its format with --format"),
        ("doctor data --scale tiny", "there is no scale 'tiny'; the nearest: "),
        ("doctor data --local first=x --local there", "--local there: expected KEY=FOLDER"),
        ("doctor data --local empty=", "--local empty=: expected KEY=FOLDER"),
        ("doctor fsck nowhere", "nowhere is not a folder; give the folder that is set as `results:`"),
        ("explain table06 --compare bert biobert --study gu2020",
         "results/full/tables/gu2020/gu2020-table06.json does not exist yet. Make it: .venv/bin/pubmill "),
        ("explain table06 BC2GM --compare a b", "--compare is about a whole table: name no row"),
        ("doctor nobody", "there is no study 'nobody'; the nearest: "),
        ("export bc2gm there --form jsonls", "there is no form 'jsonls'; the nearest: jsonl"),
        ("explain gu2020/table06 BC2GM", "COLUMN is missing: a cell has a row and a column. gu2020/table06"),
        ("plan", "which study? Name one of studies/, as in: .venv/bin/pubmill plan gu2020"),
        ("open", "results/demo/reports/demo.html does not exist yet. Make it: .venv/bin/pubmill run demo "),
    ],
)  # fmt: skip
def test_an_unknown_word_is_reported_with_the_nearest(started: Said, words: str, message: str) -> None:
    assert started(*words.split()).startswith(f"error: {message}")


def test_a_table_number_of_two_papers_needs_the_paper(started: Said, checkout: Path) -> None:
    (checkout / "two.yaml").write_text(
        "study: two\ntitle: Two\nscale: demo\ntables: [gu2020/table02, lewis2020/table02]\n"
    )
    said = started("run", "two.yaml", "table02")
    assert said == "error: table02 may be gu2020/table02 or lewis2020/table02; write the paper too"


def test_commands_run_only_in_a_checkout(
    started: Said, checkout: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout / "specs")
    assert started("plan", "gu2020") == f"error: run this in the checkout itself: cd {checkout}"
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert "is not a checkout of pubmill" in started("plan", "gu2020")


def test_open_shows_a_finished_page(started: Said, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    page = checkout / "results/full/tables/gu2020/gu2020-table06.html"
    page.parent.mkdir(parents=True)
    page.touch()
    assert started("open", "gu2020", "table06").strip() == "results/full/tables/gu2020/gu2020-table06.html"
    assert opened == [page.resolve().as_uri()]
    unfinished = started("open", "gu2020")
    assert "results/full/reports/gu2020.html does not exist yet. Make it: " in unfinished
    assert "so far: gu2020/table06. Open one: .venv/bin/pubmill open gu2020 gu2020/table06" in unfinished


def test_the_help_lists_every_verb_by_group_in_a_whole_line(started: Said) -> None:
    lines = started("--help").splitlines()
    assert not [line for line in lines[1:] if line.endswith("...")]
    shown = [line.split()[0] for line in lines[lines.index("Run:") :] if re.match(r"  \w+  ", line)]
    assert shown == [verb for verbs in VERBS.values() for verb in verbs]
    assert [line[:-1] for line in lines if re.fullmatch(r"[A-Z][a-z ]+:", line)] == ["Options", *VERBS]


def test_a_verb_shows_its_own_options(started: Said) -> None:
    assert "--offline" in started("doctor", "study", "--help")
    assert "Further options are Snakemake's: .venv/bin/snakemake --help" in started("run", "--help")
    assert started("--version") == f"pubmill {__version__}\n"


@pytest.mark.parametrize(
    ("kind", "name"),
    [("studies", "gu2020"), ("tables", "gu2020/table06"), ("datasets", "bc2gm"), ("models", "biobert-base")],
)
def test_names_are_listed_with_what_they_are(started: Said, kind: str, name: str) -> None:
    [found] = [one for one in started("list", kind).splitlines() if one.split()[0] == name]
    assert len(found.split(maxsplit=1)) == 2


@pytest.mark.parametrize(("options", "why"), [("-n", False), ("--dry-run --why --forceall", True)])
def test_a_dry_run_is_listed_under_the_command_it_stands_for(
    started: Said, monkeypatch: pytest.MonkeyPatch, options: str, why: bool
) -> None:
    listed: list[tuple[object, ...]] = []
    monkeypatch.setattr(
        "pubmill.cli.run_requests.print_dry_run", lambda request, *about: listed.append(about[1:])
    )
    said = started("run", "gu2020", "table06", *options.split())
    given = options.replace(" --why", "").split()
    assert listed == [(given, why)]
    table = "results/full/tables/gu2020/gu2020-table06.html"
    assert f"$ .venv/bin/snakemake {table} {LOCAL} {GU} {' '.join(given)}\n" in said
    assert started("run", "gu2020", "--why").endswith("without running them: add -n")


def test_a_profile_whose_package_is_missing_says_how_to_install_it(
    started: Said, checkout: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "mine").mkdir()
    (checkout / "mine/config.yaml").write_text("executor: no-such-cluster\n")
    said = started("run", "gu2020", "--profile", "mine")
    assert "mine submits jobs by a package that is not installed: " in said
    assert ".venv/bin/pip install snakemake-executor-plugin-no-such-cluster" in said
    (checkout / "mine/config.yaml").write_text("executor: slurm\n")
    monkeypatch.setattr("shutil.which", lambda program: None)
    said = started("run", "gu2020", "--profile", "mine")
    assert said.startswith("error: mine submits jobs to Slurm, but this machine has no sbatch;")
    monkeypatch.setattr("shutil.which", lambda program: program)
    assert started("run", "gu2020", "--profile", "mine").endswith("--profile mine")
    said = started("run", "gu2020", "--profile", "slrum")
    assert said.startswith("error: no profile slrum: expected a folder with config.yaml, or one of cluster-")


def test_a_table_is_named_by_its_number_where_one_study_has_it(started: Said) -> None:
    said = started("explain", "table12", "--all")
    assert said.startswith("gu2020/table12: ") and "with --all" not in said
    said = started("explain", "table09", "--study", "gu2020", "--json")
    assert json.loads(said)["table"] == "gu2020/table09"


def test_a_table_with_its_paper_needs_no_study_that_has_it(started: Said) -> None:
    assert "there is no table 'nobody/table01'" in started("explain", "nobody/table01", "BC2GM", "BERT")


def test_a_cell_is_explained_by_the_study_with_its_settings(started: Said, checkout: Path) -> None:
    (checkout / "mine.yaml").write_text("mirror: null\n")
    more = ("--configfile", "mine.yaml", "--config", "results=there")
    said = started("explain", "gu2020/table09", "bc2gm", "pubmedbert-base", *more)
    assert said.splitlines()[-1].startswith("  .venv/bin/pubmill run gu2020 there/full/")
    assert said.splitlines()[-1].endswith(" --configfile mine.yaml --config results=there")


def test_a_plan_is_followed_by_the_requests_of_a_profile(
    started: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [Job("table", {"results_table": "gu2020-table06"}, True)]
    monkeypatch.setattr("pubmill.planning.plan.jobs_of_study", lambda *_, **__: jobs)
    plan = started("plan", "gu2020")
    assert plan.startswith("GPU-hours:  none\n") and "jobs:       1 to do, 0 done already\n" in plan
    requests = started("plan", "gu2020", "--profile", "slurm").removeprefix(plan)
    assert [line.split()[:3] for line in requests.splitlines()[::3]][-1] == ["table", "1", "cpu"]


def test_several_settings_may_follow_one_option(started: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[object] = []

    def jobs_of_study(_: object, config: dict[str, object], **__: object) -> list[Job]:
        found.append((config["results"], config["save_minutes"]))
        return []

    monkeypatch.setattr("pubmill.planning.plan.jobs_of_study", jobs_of_study)
    for words in (
        ["gu2020", "--config", "results=a", "save_minutes=7"],
        ["--config", "results=a", "save_minutes=7", "gu2020"],
    ):
        started("plan", *words)
    assert found == [("a", 7)] * 2


def test_recipes_need_no_study(started: Said) -> None:
    assert started("plan", "--recipes").startswith("| recipe | operations | ")


def test_a_dataset_and_a_table_of_it_are_two_commands(started: Said, checkout: Path, tmp_path: Path) -> None:
    own = tmp_path / "own/Mouse NER"
    own.mkdir(parents=True)
    for split in ("train", "devel", "test"):
        (own / f"{split}.tsv").write_text("Mice\tB-Species\nran\tO\n\nThey\tO\nslept\tO\n\n")
    said = started("new", "dataset", str(own))
    assert said.startswith("specs/datasets/mouse-ner.yaml\n")
    assert "train: sentences 2, tokens 4, mentions 1" in said and '"Xxxx", "xxx"' in said
    assert (
        f"In workspace.yaml: local_files: {{mouse-ner: {own}}}" in said
        and "writes the bytes of these files" in said
    )
    assert "access: local (yours, not public" in said and "warning: dev and train are of files with" in said
    assert said.splitlines()[-1].endswith(
        "pubmill new table mine/table01 --dataset mouse-ner --model pubmedbert-base"
    )
    assert configuration([], None)["local_files"] == {"mouse-ner": str(own)}
    spec = yaml.safe_load((checkout / "specs/datasets/mouse-ner.yaml").read_text())
    assert spec["sources"]["dev"]["file"] == "devel.tsv"
    words = ("--dataset", "mouse-ner", "--model", "pubmedbert-base")
    said = started("new", "table", "mine/table01", *words)
    assert said.startswith("specs/tables/mine/table01.yaml\nspecs/tables/mine/table01.published.csv\n")
    assert load(checkout / "specs", "full").tables["mine/table01"].rows[0].dataset == "mouse-ner"
    assert "exists; give the new table another name" in started("new", "table", "mine/table01", *words)


def test_without_a_kind_the_kinds_are_listed(started: Said) -> None:
    said = started("new")
    assert all(f"\n  {kind} " in said for kind in ("model", "dataset", "table"))


@pytest.mark.parametrize(
    ("is_there", "train", "status", "said"),
    [
        (True, 2, 0, "as expected: 1 of 1 dataset, 3 of 3 counts"),
        (True, 3, 1, "train mentions: expected 3, found 2"),
        (False, 2, 1, "not checked: 1 dataset"),
    ],
)
def test_the_status_says_whether_all_that_was_checked_is_right(
    checkout: Path, folder: Path, is_there: bool, train: int, status: int, said: str
) -> None:
    """Where nothing could be checked, nothing is right."""
    spec = checkout / f"specs/datasets/{NAME}.yaml"
    spec.write_text(spec.read_text().replace("train: {mentions: 2}", f"train: {{mentions: {train}}}"))
    local = ["--local", f"{KEY}={folder}"] if is_there else []
    answer = CliRunner().invoke(APP, ["doctor", "data", NAME, *local, "--processes", "1"])
    assert answer.exit_code == status and said in answer.output
    assert answer.output.endswith(" seconds in 1 processes\n")
    assert (f"1 of 1: {NAME}, " in answer.output) is is_there
