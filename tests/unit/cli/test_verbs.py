"""Verbs: the command that each starts, and what it says about words that it does not know."""

import tomllib
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Said

SNAKEMAKE = "-m snakemake --logger=pubmill"
LOCAL = "--profile profiles/local"
GU = "--configfile studies/gu2020.yaml"


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("demo", f"{SNAKEMAKE} {LOCAL}"),
        ("demo -n", f"{SNAKEMAKE} {LOCAL} -n"),
        ("run demo", f"{SNAKEMAKE} {LOCAL}"),
        ("run gu2020", f"{SNAKEMAKE} {LOCAL} {GU}"),
        ("run studies/gu2020.yaml -n -j4", f"{SNAKEMAKE} {LOCAL} {GU} -n -j4"),
        (
            "run gu2020 table06 gu2020/table12 -n",
            f"{SNAKEMAKE} results/full/tables/gu2020/table06.html results/full/tables/gu2020/table12.html "
            f"{LOCAL} {GU} -n",
        ),
        (
            "run gu2020 table06 --profile profiles/slurm --config mirror=/data results=there",
            f"{SNAKEMAKE} there/full/tables/gu2020/table06.html {GU} --config mirror=/data results=there "
            f"--profile profiles/slurm",
        ),
        ("run gu2020 --configfile mine.yaml", f"{SNAKEMAKE} {LOCAL} {GU} mine.yaml"),
        ("plan gu2020 --config mirror=/data", "scripts/plan.py gu2020 --config mirror=/data"),
        ("mirror small --fetch there", "scripts/mirror.py small --fetch there"),
        ("doctor", "scripts/doctor.py"),
        ("audit", "scripts/audit.py page"),
        (
            "audit value 87.56 --metric accuracy --n 140 --runs 10",
            "scripts/audit.py value 87.56 --metric accuracy --n 140 --runs 10",
        ),
        (
            "audit scorers seed-1.predictions.jsonl.gz --dataset bc2gm",
            "scripts/scorers.py seed-1.predictions.jsonl.gz --dataset bc2gm",
        ),
        ("audit floors --dataset pubmedqa", "scripts/floors.py --dataset pubmedqa"),
        ("doctor gu2020 --offline", f"scripts/doctor.py {GU} --offline"),
        ("explain gu2020/table06 BC2GM PubMedBERT", "scripts/explain.py gu2020/table06 BC2GM PubMedBERT"),
        ("explain gu2020/table06", "scripts/explain.py gu2020/table06"),
        (
            "explain gu2020/table06 BC2GM PubMedBERT --study gu2020 --json",
            f"scripts/explain.py gu2020/table06 BC2GM PubMedBERT {GU} --json",
        ),
        ("export chemprot@blurb there", "scripts/export.py chemprot@blurb there"),
        ("inputs bc2gm there --local", "scripts/inputs.py bc2gm there --local"),
        (
            "score mine.conll --dataset bc2gm --form conll",
            "scripts/score_submission.py mine.conll --dataset bc2gm --form conll",
        ),
        ("score folder --output there", "scripts/score_submission.py folder --output there"),
        (
            "predict kept notes.txt out.jsonl --format text",
            "scripts/predict.py --model kept --input notes.txt --output out.jsonl --format text",
        ),
        (
            "predict kept a.txt b.txt out --type Gene",
            "scripts/predict.py --model kept --input a.txt b.txt --output out --type Gene",
        ),
        (
            "predict kept - - --format text",
            "scripts/predict.py --model kept --input - --output - --format text",
        ),
        ("explain table06 BC2GM BERT --study gu2020", f"scripts/explain.py gu2020/table06 BC2GM BERT {GU}"),
        ("track gu2020 --mlflow sqlite:///runs.db", f"scripts/track.py {GU} --mlflow sqlite:///runs.db"),
        ("tex gu2020 --output paper", f"scripts/tex.py {GU} --output paper"),
        ("check paper.tex --study gu2020 --json", f"scripts/check.py paper.tex {GU} --json"),
        ("check paper.tex", "scripts/check.py paper.tex"),
        ("diff 66b032f HEAD --study small", "scripts/diff.py 66b032f HEAD --study small"),
        (
            "compare table06 pubmedbert-base no-pretraining --study small",
            "scripts/compare.py --table results/small/tables/gu2020/table06.json --results results/small "
            "--columns pubmedbert-base no-pretraining",
        ),
    ],
)
def test_a_verb_starts_a_command_and_prints_it(
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
        (
            "table gu2020/table06 --model pubmedbert",
            "there is no model 'pubmedbert'; the nearest: pubmedbert",
        ),
        ("table gu2020/table06 --model x --scale tiny", "there is no scale 'tiny'; the nearest: "),
        ("predict kept notes.txt --format text", "after kept, name the text to annotate, then the file"),
        ("audit scorer x", "there is no form of audit 'scorer'; the nearest: scorers"),
        ("open", "results/demo/reports/demo.html does not exist yet. Make it: .venv/bin/snakemake"),
    ],
)
def test_an_unknown_word_is_reported_with_the_nearest(started: Said, words: str, message: str) -> None:
    assert started(*words.split()).startswith(f"error: {message}")


def test_a_table_number_of_two_papers_needs_the_paper(started: Said, checkout: Path) -> None:
    (checkout / "two.yaml").write_text("study: two\ntables: [gu2020/table02, lewis2020/table02]\n")
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
    page = checkout / "results/full/tables/gu2020/table06.html"
    page.parent.mkdir(parents=True)
    page.touch()
    assert started("open", "gu2020", "table06").strip() == "results/full/tables/gu2020/table06.html"
    assert opened == [page.resolve().as_uri()]
    unfinished = started("open", "gu2020")
    assert "results/full/reports/gu2020.html does not exist yet. Make it: " in unfinished
    assert "so far: gu2020/table06. Open one: .venv/bin/pubmill open gu2020 gu2020/table06" in unfinished


def test_the_help_lists_every_verb_in_a_whole_line_and_where_further_options_are(started: Said) -> None:
    lines = [line for line in started("--help").splitlines() if line.startswith("  ")]
    assert len(lines) > 20 and not [line for line in lines if line.endswith("...")]
    assert "Further options: .venv/bin/python scripts/score_submission.py --help" in started(
        "score", "--help"
    )
    assert "Further options: .venv/bin/snakemake --help" in started("run", "--help")


def test_the_command_is_installed(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"pubmill": "pubmill.cli:main"}
