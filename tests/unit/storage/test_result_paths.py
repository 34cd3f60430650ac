"""Paths of results: spelled and taken apart by one module."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.storage.name_patterns import SPEC
from pubmill.storage.names_in_paths import RunPath, choice_of, names_in, run_of
from pubmill.storage.result_paths import (
    BELOW,
    ChoiceKey,
    Paths,
    RunKey,
    manifest_of,
    part_name,
    shard_name,
)

NAMES = st.from_regex(SPEC, fullmatch=True)
SEEDS = st.integers(min_value=1, max_value=99)
RESULTS = st.sampled_from(["", "results/demo", "/scratch/results/full", "runs/final"])


@given(RESULTS, st.builds(RunPath, st.builds(RunKey, NAMES, NAMES, NAMES, NAMES), SEEDS))
def test_the_path_of_a_record_names_its_run(results: str, run: RunPath) -> None:
    assert run_of(Paths(results).record(*run)) == run


@given(st.builds(ChoiceKey, NAMES, st.none() | NAMES, NAMES, NAMES))
def test_the_path_of_a_choice_names_its_search(choice: ChoiceKey) -> None:
    assert choice_of(BELOW.choice(choice)) == choice


@given(RESULTS, st.builds(RunKey, NAMES, NAMES, NAMES, NAMES), SEEDS)
def test_the_files_of_a_run_are_declared_by_its_manifests(results: str, run: RunKey, seed: int) -> None:
    paths = Paths(results)
    assert (
        manifest_of(paths.predictions(run, seed)) == manifest_of(paths.training(run, seed)) == paths.runs(run)
    )
    record = paths.record(run, seed)
    assert manifest_of(record) == manifest_of(paths.contributions(record)) == paths.records(run)
    assert manifest_of(paths.card(run.dataset)) == paths.card(run.dataset)


@given(NAMES, NAMES, NAMES, NAMES, SEEDS)
def test_paths_name_their_specs(one: str, two: str, three: str, four: str, number: int) -> None:
    assume(not {"selected", "parsed", "tokens", "on"} & {one, two, three})
    run = [("protocols", one), ("models", two), ("datasets", three)]
    expected = {
        BELOW.record(RunKey(one, two, three, four), number): run,
        BELOW.trial(RunKey(one, two, three, four), "lr=1", number, ".training.json"): run,
        BELOW.trials(RunKey(one, two, three, four), "lr=1"): run,
        BELOW.runs(RunKey(one, two, three, four)): run,
        BELOW.choice(ChoiceKey(one, two, three, four)): run,
        BELOW.choice(ChoiceKey(one, None, three, four)): [("protocols", one), ("datasets", three)],
        BELOW.block(BELOW.corpus(one), two, three): [("corpora", one)],
        BELOW.block(BELOW.words(one, two), two, three): [("corpora", one)],
        BELOW.block(BELOW.parsed(), one, two): [],
        BELOW.fit(one, two): [("vocabs", one), ("datasets", two)],
        BELOW.tokens(one, two, "ids.bin"): [("corpora", one), ("vocabs", two)],
        BELOW.checkpoint(one, number, "state.json"): [("pretraining", one)],
        BELOW.model(one, "config.json"): [("models", one)],
        BELOW.card(one): [("datasets", one)],
        BELOW.page(one, "html"): [("datasets", one)],
        BELOW.sentence_documents(one): [("datasets", one)],
        BELOW.dataset_floors(one): [("datasets", one)],
        Paths(study="a").table("b-c/table06", "html"): [("tables", "b-c/table06")],
        Paths(study="a+bert").comparisons("gu2020/table06", "json"): [("tables", "gu2020/table06")],
    }
    assert {path: list(names_in(path)) for path in expected} == expected


@given(RESULTS, st.sampled_from(["tables/a/gu2020-table06.html", "models/bert/config.json"]))
def test_a_path_below_the_results_is_found_again(results: str, below: str) -> None:
    assert Paths(results).below(Paths(results).at(below)) == below


@pytest.mark.parametrize(
    "path",
    [
        "seed-1.json",
        "runs/p/m/d/s/final/seed-x.json",
        "runs/p/m/d/s/final/1.json",
        "p/m/d/s/trials/seed-1.json",
    ],
)
def test_other_paths_are_no_records(path: str) -> None:
    with pytest.raises(PubmillError, match=f"{re.escape(path)}: expected the path of a record"):
        run_of(path)


@pytest.mark.parametrize(
    "path", ["selected.json", "runs/p/m/d/s/chosen.json", "tables/a/b/c/d/selected.json"]
)
def test_other_paths_are_no_choices(path: str) -> None:
    with pytest.raises(PubmillError, match="expected the path of a choice"):
        choice_of(path)


def test_blocks_lie_beside_what_their_jobs_make() -> None:
    paths = Paths("results/demo")
    folder = paths.corpus("pubmed")
    assert paths.block(folder, "pubmed", "a+9") == "results/demo/corpora/pubmed/blocks/pubmed/a+9.json"
    assert (part_name(7), part_name(7, "json")) == ("part-0007.parquet", "part-0007.json")


@pytest.mark.parametrize(
    ("file", "shard"),
    [
        ("pubmed26n0001.xml.gz", "pubmed26n0001"), ("PMC00000xxxx.tar.gz", "PMC00000xxxx"),
        ("a.b.txt", "a.b"), ("notes.jsonl.gz", "notes"), ("NOTEEVENTS.csv", "NOTEEVENTS"), ("a.gz", "a"),
    ],
)  # fmt: skip
def test_a_shard_is_called_as_its_file(file: str, shard: str) -> None:
    assert shard_name(file) == shard


def test_copies_of_sources_lie_by_host_and_path() -> None:
    paths = Paths(Path("results/full"))
    url = "https://ftp.example.org/pubmed/a.xml.gz"
    assert paths.source_of_url(url) == "results/full/sources/ftp.example.org/pubmed/a.xml.gz"
    assert paths.source_record(paths.source_of_url(url)).endswith("a.xml.gz.source.json")


def test_a_log_lies_as_what_its_job_writes() -> None:
    paths = Paths("results/demo")
    run = RunKey("blurb", "bert", "bc2gm", "standard")
    assert (
        paths.log(paths.final(run, 1)) == "results/demo/logs/runs/blurb/bert/bc2gm/standard/final/seed-1.log"
    )
    assert paths.log("parse/pubmed/a") == "results/demo/logs/parse/pubmed/a.log"


FOLDERS = "runs|corpora|vocabs|pretraining|models|datasets|tables|pages|reports|sources|logs"
SPELLED = re.compile(
    rf"(?<!specs/)(?<![\w-])({FOLDERS})/|/final|selected\.json|/seed-|/part-"
    r"|(?<![\w-])results\}?/\{"
    r"|\.(predictions\.jsonl\.gz|training\.json|items\.npz|source\.json)"
)
"""What only `Paths` may spell: folders of the results, and endings of the files of runs and sources."""
PUBLISHED = ".published.csv"
"""Ending of files of the specs, whose folder is called as one of the results."""


def spelled(text: str) -> bool:
    """Whether a string spells a path of the results; a text with blanks is prose, or a shell command."""
    return " " not in text and not text.endswith(PUBLISHED) and SPELLED.search(text) is not None


def strings(code: str) -> list[str]:
    """The strings of Python code but for docstrings, with the last name of each field of f-strings."""
    tree = ast.parse(code)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    inside = {id(value) for node in joined for value in node.values}
    whole = [
        str(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose | inside
    ]
    return [*whole, *("".join(map(shown, node.values)) for node in joined)]


def shown(part: ast.expr) -> str:
    """The text of a part of an f-string; of the field `{self.results}`, `{results}`."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    *_, name = ["", *re.findall(r"\w+", ast.unparse(part.value))]
    return f"{{{name}}}"


OTHERS = {
    "pubmill/inspection/explain/table_statements.py", "pubmill/extras/audit/printed_values_of_runs.py",
    "pubmill/inspection/converted_datasets.py", "pubmill/cli/studies.py", "pubmill/stages/pretrainings.py",
    "pubmill/cli/new_command.py", "pubmill/specs/cell_sources.py",
}  # fmt: skip
"""Modules that name specs, or parts of paths."""


def test_only_one_module_spells_paths_of_results(root: Path) -> None:
    """Another takes them apart, and says in a message how they look."""
    own = root / "pubmill/storage/result_paths.py"
    reader = root / "pubmill/storage/names_in_paths.py"
    files = [*(root / "pubmill").rglob("*.py"), *(root / "scripts").glob("*.py")]
    found = {
        path.relative_to(root).as_posix(): texts
        for path in files
        if path not in (own, reader)
        and path.relative_to(root).as_posix() not in OTHERS
        and "extras" not in path.relative_to(root).parts  # which have paths of their own
        and (texts := list(filter(spelled, strings(path.read_text(encoding="utf-8")))))
    }
    assert found == {}
    assert any(map(spelled, strings(own.read_text(encoding="utf-8"))))


def test_rules_spell_no_paths_of_results(root: Path) -> None:
    """Outside of shell commands, which `test_rules` compares with `Paths`."""
    files = [root / "Snakefile", *(root / "rules").rglob("*.smk")]
    literals = {path.name: re.findall(r'"([^"\n]*)"', path.read_text(encoding="utf-8")) for path in files}
    assert {name: found for name, texts in literals.items() if (found := list(filter(spelled, texts)))} == {}


@pytest.mark.parametrize(
    "code",
    [
        'path = f"runs/{protocol}/{model}"',
        'path = results / "tables/gu2020"',
        'path = f"{folder}/final/seed-{seed}.json"',
        'path = f"{record}.source.json"',
        'path = f"{name}.predictions.jsonl.gz"',
        'path = f"{self.results}/corpora/{corpus}"',
        'path = f"results/{self.recipe.scale}/{BELOW.report(study)}"',
        "path = f\"{config['results']}/{scale}\"",
    ],
)
def test_a_path_spelled_by_hand_is_found(code: str) -> None:
    assert list(filter(spelled, strings(code)))


@pytest.mark.parametrize(
    "code",
    ['"""Files in runs/PROTOCOL."""', 'path = f"specs/models/{m}.yaml"', 'f"tables/{name}.published.csv"'],
)
def test_docstrings_and_specs_are_no_paths_of_results(code: str) -> None:
    assert not list(filter(spelled, strings(code)))
