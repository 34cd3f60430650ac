"""Paths of results: spelled and taken apart by one module."""

import re
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.storage.name_patterns import SPEC
from pubmill.storage.result_paths import (
    RELATIVE,
    ChoiceKey,
    Paths,
    RunKey,
    RunPath,
    choice_of,
    manifest_of,
    names_in,
    part_name,
    run_of,
    shard_name,
)

NAMES = st.from_regex(SPEC, fullmatch=True)
SEEDS = st.integers(min_value=1, max_value=99)
RUNS = st.builds(RunKey, NAMES, NAMES, NAMES, NAMES)
RESULTS = st.sampled_from(["", "results/demo", "/scratch/results/full", "runs/final"])


@settings(max_examples=30)
@given(RESULTS, RUNS, SEEDS, st.builds(ChoiceKey, NAMES, st.none() | NAMES, NAMES, NAMES))
def test_paths_name_their_run_or_choice_and_manifest(
    results: str, run: RunKey, seed: int, choice: ChoiceKey
) -> None:
    paths = Paths(results)
    record, predictions = paths.record(run, seed), paths.predictions(run, seed)
    assert run_of(record) == RunPath(run, seed) and choice_of(RELATIVE.choice(choice)) == choice
    assert manifest_of(predictions) == manifest_of(paths.training(run, seed)) == paths.runs(run)
    assert manifest_of(record) == manifest_of(paths.contributions(record)) == paths.records(run)
    assert manifest_of(paths.card(run.dataset)) == paths.card(run.dataset)


@settings(max_examples=30)
@given(NAMES, NAMES, NAMES, NAMES, SEEDS)
def test_paths_name_their_specs(one: str, two: str, three: str, four: str, number: int) -> None:
    assume(not {"selected", "parsed", "tokens", "on"} & {one, two, three})
    run = [("protocols", one), ("models", two), ("datasets", three)]
    expected = {
        RELATIVE.record(RunKey(one, two, three, four), number): run,
        RELATIVE.trials(RunKey(one, two, three, four), "lr=1"): run,
        RELATIVE.runs(RunKey(one, two, three, four)): run,
        RELATIVE.choice(ChoiceKey(one, two, three, four)): run,
        RELATIVE.choice(ChoiceKey(one, None, three, four)): [("protocols", one), ("datasets", three)],
        RELATIVE.block(RELATIVE.corpus(one), two, three): [("corpora", one)],
        RELATIVE.block(RELATIVE.words(one, two), two, three): [("corpora", one)],
        RELATIVE.block(RELATIVE.parsed(), one, two): [],
        Paths(study=two).fit(one): [("vocabs", one)],
        RELATIVE.tokens(one, two, "ids.bin"): [("corpora", one), ("vocabs", two)],
        RELATIVE.checkpoint(one, number, "state.json"): [("pretraining", one)],
        RELATIVE.model(one, "config.json"): [("models", one)],
        RELATIVE.card(one): [("datasets", one)],
        RELATIVE.sentence_documents(one): [("datasets", one)],
        Paths(study="a").table("b-c/table06", "html"): [("tables", "b-c/table06")],
        Paths(study="a+bert").comparisons("gu2020/table06", "json"): [("tables", "gu2020/table06")],
    }
    assert {path: list(names_in(path)) for path in expected} == expected


def test_other_paths_are_no_records_and_no_choices() -> None:
    below = "runs/p/m/d/s/final"
    for path in ("seed-1.json", f"{below}/seed-x.json", f"{below}/1.json", "p/m/d/s/trials/seed-1.json"):
        with pytest.raises(PubmillError, match=f"{re.escape(path)}: expected the path of a record"):
            run_of(path)
    for path in ("selected.json", "runs/p/m/d/s/chosen.json", "tables/a/b/c/d/selected.json"):
        with pytest.raises(PubmillError, match="expected the path of a choice"):
            choice_of(path)


def test_blocks_copies_of_sources_and_logs_lie_where_their_names_say() -> None:
    paths = Paths("results/demo")
    folder = paths.corpus("pubmed")
    assert paths.block(folder, "pubmed", "a+9") == "results/demo/corpora/pubmed/blocks/pubmed/a+9.json"
    assert (part_name(7), part_name(7, "json")) == ("part-0007.parquet", "part-0007.json")
    full = Paths(Path("results/full"))
    url = "https://ftp.example.org/pubmed/a.xml.gz"
    assert full.source_of_url(url) == "results/full/sources/ftp.example.org/pubmed/a.xml.gz"
    assert full.source_record(full.source_of_url(url)).endswith("a.xml.gz.source.json")
    run = RunKey("blurb", "bert", "bc2gm", "standard")
    assert paths.log(paths.final(run, 1)) == f"results/demo/logs/runs/{'/'.join(run)}/final/seed-1.log"
    assert paths.log("parse/pubmed/a") == "results/demo/logs/parse/pubmed/a.log"


@pytest.mark.parametrize(("file", "shard"), [
    ("pubmed26n0001.xml.gz", "pubmed26n0001"), ("PMC00000xxxx.tar.gz", "PMC00000xxxx"), ("a.b.txt", "a.b"),
    ("notes.jsonl.gz", "notes"), ("NOTEEVENTS.csv", "NOTEEVENTS"), ("a.gz", "a"),
])  # fmt: skip
def test_a_shard_is_called_as_its_file(file: str, shard: str) -> None:
    assert shard_name(file) == shard


FOLDERS = "runs|corpora|vocabs|pretraining|models|datasets|tables|pages|reports|sources|logs"
SPELLED = re.compile(
    rf"(?<!specs/)(?<![\w-])({FOLDERS})/|/final|selected\.json|/seed-|/part-"
    r"|(?<![\w-])results\}?/\{"
    r"|\.(predictions\.jsonl\.gz|training\.json|items\.npz|source\.json)"
)
"""What only `Paths` may spell: folders of the results, and endings of the files of runs and sources."""
PUBLISHED = ".published.csv"
"""Ending of files of the specs, whose folder is called as one of the results."""


def spelled(code: str) -> list[str]:
    """Return the strings of code, but for docstrings, that spell a path of the results; a text with blanks is
    prose, or a shell command."""
    texts = re.findall(r'"([^"\n]*)"', re.sub(r'"""(?:.|\n)*?"""', "", code))
    return [one for one in texts if " " not in one and not one.endswith(PUBLISHED) and SPELLED.search(one)]


OWN = {"pubmill/storage/result_paths.py"}
"""The module that spells paths."""
OTHERS = {
    "pubmill/inspection/explain/table_statements.py", "pubmill/cli/studies.py",
    "pubmill/stages/pretrainings.py", "pubmill/cli/new_command.py",
    "pubmill/specs/cell_sources.py",
}  # fmt: skip
"""Modules that name specs, or parts of paths."""


def test_only_one_module_spells_paths_of_results(root: Path) -> None:
    """`test_rules` compares shell commands with `Paths`; extras have paths of their own."""
    folders = ("pubmill/**/*.py", "scripts/*.py", "rules/**/*.smk", "Snakefile")
    files = {path.relative_to(root).as_posix(): path for one in folders for path in root.glob(one)}
    found = {name: spelled(path.read_text(encoding="utf-8")) for name, path in files.items()}
    wrong = {name for name, texts in found.items() if texts and not name.startswith("pubmill/extras/")}
    assert wrong - OTHERS == OWN
