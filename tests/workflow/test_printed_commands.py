"""Every command that pubmill prints works as it stands, in a fresh clone with its `.venv`.

Verbs parse their arguments. Those that build a graph, and Snakemake itself, run with `-n`; a program shows
its options. What is tried in another way, or not at all, is in the tables here with the reason.
"""

import ast
import gzip
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from pubmill.cli.app import APP
from pubmill.recipes.reading import as_json
from tests import printed
from tests.conftest import ROOT
from tests.printed import Printed
from tests.unit.pretraining.toy_pretraining import RECIPE
from tests.workflow.conftest import Project, copy_of, ended

PLACEHOLDERS = {
    "/path/to/folder/of/jsonl.gz": "own/abstracts",
    "/path/to/folder": "own/abstracts",
    "/path/to/mirror": "tests/world/mirror",
    "/data/mirror": "tests/world/mirror",
    "/data/mednli": "own/mednli",
    "./my-bert": "pubmedbert-base",
    "/path/to/all-MiniLM-L6-v2": "own/minilm",
    "./my-corpus": "own/my-corpus",
    "~/my-cluster": "profiles/slurm",  # of which it is a copy
    "STUDY": "gu2020",
    "TABLE": "gu2020/table06",
    "FOLDER": "folder",
    " ...": "",
}
"""Placeholder in a printed command -> its value in the clone."""

NOT_TRIED = {
    r"docker |podman |apptainer ": "there is no container engine",
    r".* explain \S+ --compare ": "needs a finished table; tests/unit/cli runs it",
    r".* --sdm conda": "there is no conda",
    r".* --model \./my-minilm ": "needs weights from the network, which the command before it fetches",
    r".* --sdm apptainer": "tests/workflow/test_containers.py runs it with a stand-in",
    r"\.venv/bin/python -m tests\.stages": "tests/unit/test_stages.py runs it",
    r"\.venv/bin/python -m tests\.mutations": "tests/unit/test_mutations.py runs its parts; it takes an hour",
    r"\.venv/bin/python -m http\.server": "serves until it is stopped",
    r"\.venv/bin/python -m tests\.schemas": "tests/unit/test_docs.py compares what it writes",
    r"\.venv/bin/python -m tests\.attack": "tests/unit/test_attacks.py runs it",
    r"\.venv/bin/python -m pytest .* -k mine$": "tests a dataset that the reader adds",
    r".* --profile profiles/cluster-generic": "its plugin is not among the locked packages",
    r"\.venv/bin/torchrun .* scripts/pretrain\.py \.\.\.$": "its arguments are left out",
    r"\.venv/bin/pubmill --install-completion": "changes the user's shell",
    r"\.venv/bin/pubmill open": "needs a finished study and a browser; tests/unit/cli runs it",
    r"\.venv/bin/python benchmarks/pmc.py$": "its usage is compared",
}
SHELL = r"make |cp |printf |\.venv/bin/pre-commit |\.venv/bin/python -m pytest"
"""Commands for the shell: `make` with -n, pytest with --collect-only."""
LONG = r"pubmill (plan|mirror) \w+$|corpora/shin2020/|full/tables/|run gu2020 (?!results)|--model \S+( -n)?$"
"""Commands that build the graph of a whole study or table, or of a PubMed corpus: run by the long test."""
ALIKE = r" --profile \S+| --set-resources \S+| -n\b| --quiet( progress)?"
"""Of commands that differ only in these, one is run."""
PLANS = ("run", "table", "demo", "explain", "list")
"""Verbs that are run whole, with `-n` where they would run jobs."""
TYPED = "import sys\nfrom pubmill.cli import main\nsys.argv[0] = 'pubmill'\nmain()\n"


def documented() -> list[Printed]:
    found = [one for path in printed.documents(ROOT) for one in printed.in_document(path)]
    found += [one for path in printed.commented(ROOT) for one in printed.in_comments(path)]
    return list({shlex.join(one.words): one for one in found}.values())


def usages() -> dict[str, str]:
    """Return the programs of `scripts/` and their usages; of several usages, the one with most options."""
    found: dict[str, str] = {}
    for path in (path for path in printed.programs(ROOT) if path.parent.name != "benchmarks"):
        for one in printed.in_program(path):
            if "torchrun" not in one.text:
                name = str(path.relative_to(ROOT))
                found[name] = max(found.get(name, one.text), one.text, key=lambda text: text.count(" --"))
    return found


def filled(text: str) -> str:
    for old, new in PLACEHOLDERS.items():
        text = text.replace(old, new)
    return text


def words_of(text: str) -> str:
    return shlex.join(shlex.split(filled(text), comments=True))


@cache
def verbs() -> Any:
    return typer.main.get_command(APP)


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    found: Any = verbs()
    while words and words[0] in getattr(found, "commands", {}):
        found, words = found.commands[words[0]], words[1:]
    return found, words


def parse(words: list[str]) -> None:
    found, rest = command_of(words)
    assert found is not verbs() or rest == ["--help"], f"there is no verb {rest[0]}"
    if rest != ["--help"]:
        found.make_context(" ".join(words), rest)


def options_of(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text))


def is_snakemake(text: str) -> bool:
    return ".venv/bin/snakemake" in text


def verb_of(text: str) -> list[str] | None:
    words = shlex.split(filled(text), comments=True)
    place = next((i for i, word in enumerate(words) if not re.match("[A-Z_]+=", word)), 0)
    return words[place + 1 :] if words[place].endswith("/pubmill") else None


def dry_run(text: str, python: str, long: bool = False) -> list[str]:
    verb, words = verb_of(text), shlex.split(filled(text), comments=True)
    if verb is not None:
        more = ["-n"] if verb[0] in ("run", "table", "demo") and "-n" not in verb else []
        return [python, "typed.py", *verb, *more]
    words = words[1 + next(i for i, word in enumerate(words) if word.endswith("/snakemake")) :]
    named = [word for word in words if word.startswith("studies/")]
    scale = re.search(r"(?m)^scale: (\w+)", (ROOT / (named or ["config.yaml"])[-1]).read_text())
    assert scale
    one = [] if long or "results/" in "".join(words[:2]) else [f"results/{scale[1]}/datasets/bc2gm/card.json"]
    return [python, "-m", "snakemake", *one, "-n", *words]


@pytest.fixture(scope="module")
def clone(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the checkout with its uncommitted changes, as after `make setup` and `make world`."""
    folder = tmp_path_factory.mktemp("clone") / "pubmill"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    changed = subprocess.run(
        ["git", "diff", "--name-only", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in changed.stdout.split():
        (folder / name).unlink(missing_ok=True)
        if (ROOT / name).is_file():
            shutil.copy2(ROOT / name, folder / name)
    protocol = folder / "specs/protocols/blurb.yaml"  # with the new setting of docs/finetuning.md
    [line] = re.findall(r"^  crf[+].*$", (ROOT / "docs/finetuning.md").read_text(), re.M)
    protocol.write_text(protocol.read_text().replace("\n  standard: {}\n", f"\n  standard: {{}}\n{line}\n"))
    printed.write_files(ROOT / "docs/tutorial.md", folder)
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "tests/world/mirror").symlink_to(world)
    for name in ("mli_train_v1.jsonl", "mli_dev_v1.jsonl", "mli_test_v1.jsonl"):
        (folder / "own/mednli").mkdir(parents=True, exist_ok=True)
        (folder / "own/mednli" / name).touch()
    (folder / "recipe.json").write_text(as_json(RECIPE))  # docs/pretraining.md
    (folder / "own/my-corpus").mkdir()
    for split in ("train", "test"):
        (folder / f"own/my-corpus/{split}.tsv").write_text("Mice\tB-Species\nran\tO\n\n")
    (folder / "own/minilm").mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / "own/minilm" / name).write_text("{}")
    (folder / "own/abstracts").mkdir()
    with gzip.open(folder / "own/abstracts/a.jsonl.gz", "wt") as lines:
        lines.write('{"title": "A title", "abstract": "An abstract"}\n')
    (folder / "typed.py").write_text(TYPED)
    return folder


def try_all(folder: Path, commands: dict[str, list[str]]) -> dict[str, str]:
    def ran(words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)

    with ThreadPoolExecutor(2) as threads:
        done = dict(zip(commands, threads.map(ran, commands.values()), strict=True))
    said = {name: one.stdout + one.stderr for name, one in done.items()}
    return {name: said[name] for name, one in done.items() if one.returncode or "Traceback" in said[name]}


def untried(text: str) -> bool:
    return any(re.match(pattern, text) for pattern in NOT_TRIED)


def verbs_of_documents() -> list[str]:
    return [one.text for one in documented() if verb_of(one.text) is not None and not untried(one.text)]


@pytest.mark.parametrize("text", verbs_of_documents())
def test_every_verb_of_documents_parses_its_arguments(
    clone: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone)
    parse(verb_of(text) or [])


def advised() -> Iterator[tuple[str, list[str]]]:
    """Yield the place and the literal words of each call in the package that formats a command."""
    for path in sorted((ROOT / "pubmill").rglob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "commands.pubmill(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "commands.pubmill":
                texts = [one for one in ast.walk(node) if isinstance(one, ast.Constant)]
                texts.sort(key=lambda one: (one.lineno, one.col_offset))
                words = [word for one in texts if isinstance(one.value, str) for word in one.value.split()]
                if words:  # else it repeats what the user typed
                    yield f"{path.stem}:{node.lineno}", words


def test_commands_in_messages_have_a_verb_and_its_options() -> None:
    tried = list(advised())
    assert len(tried) > 20
    for place, words in tried:
        found, rest = command_of(words)
        assert found is not verbs(), (place, words)
        known = {option for one in found.params for option in one.opts}
        wrong = {word for word in rest if word.startswith("-")} - known
        assert not wrong or found.context_settings.get("ignore_unknown_options"), (place, wrong)


def plans() -> dict[str, str]:
    """Return the commands that plan jobs or make tables of text; of those that differ only in profile,
    resources or -n, one."""
    return {
        re.sub(ALIKE, "", words_of(one.text)): one.text
        for one in documented()
        if not untried(one.text) and not re.search(LONG, words_of(one.text))
        if is_snakemake(one.text) or (verb_of(one.text) or [""])[0] in PLANS
    }


@pytest.mark.long
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.weekly)])
def test_the_plans_of_documents_and_comments_work(clone: Path, python: str, every: bool) -> None:
    """One command with each verb and set of options, with and without a result to make; or all."""
    found = plans()
    alike = {
        ((verb_of(text) or [""])[0], "results/" in text, *sorted(options_of(text))): name
        for name, text in found.items()
    }
    tried = set(found) if every else set(alike.values())
    assert len(tried) > (20 if every else 8)
    wanted = {name: dry_run(found[name], python) for name in tried}
    if every:  # and the graphs of whole studies
        texts = [one.text for one in documented() if not untried(one.text)]
        whole = {
            name: dry_run(text, python, long=True)
            for text in texts
            if is_snakemake(text) or re.search(LONG, words_of(text))
            if "gu2020" in (name := re.sub(ALIKE, "", words_of(text))) or "small" in name
        }
        assert len(whole) > 4
        wanted |= {f"{name}, whole": words for name, words in whole.items()}
    assert try_all(clone, wanted) == {}


@pytest.mark.long
def test_programs_have_the_options_that_are_shown(clone: Path, python: str) -> None:
    """Those of their own usages, which name all that are required, and those of documents."""
    shown = [(name, text, True) for name, text in usages().items()]
    programs = [path for path in printed.programs(ROOT) if path.parent.name != "benchmarks"]
    assert {path.name for path in programs} == {Path(name).name for name, _, _ in shown}
    for text in (one.text for one in documented() if not untried(one.text)):
        if not re.match(SHELL, text) and (
            named := re.search(r"(?:scripts|benchmarks|pubmill)/\S+\.py", text)
        ):
            shown.append((named[0], text, False))

    @cache
    def helped(*words: str) -> str:
        return ended([python, *words, "--help"], clone)

    for name, text, is_usage in shown:
        words = text.partition(name)[2].split("#")[0].split()
        verb = words[:1] if name.startswith("benchmarks/") and words and words[0].isalpha() else []
        known, options = helped(name, *verb), options_of(" ".join(words))
        assert options <= options_of(known), name
        usage = re.sub(r"\[(?:[^][]|\[[^][]*\])*\]", "", known.partition("\n\n")[0])
        assert not is_usage or options_of(usage) <= options, name


@pytest.mark.parametrize(
    "text", [one.text for one in documented() if re.match(SHELL, one.text) and not untried(one.text)]
)
def test_every_other_command_works_in_a_shell(clone: Path, tmp_path: Path, text: str) -> None:
    added = {"make": " -n", "pytest": " --collect-only -q"}
    words = shlex.split(text, comments=True)
    more = next((option for name, option in added.items() if name in words), "")
    command = ["bash", "-c", text.partition("  #")[0] + more]
    ended(command, clone, PATH="/usr/bin:/bin", HOME=str(tmp_path))


def test_what_is_not_tried_is_still_printed() -> None:
    texts = [one.text for one in documented()]
    assert [pattern for pattern in NOT_TRIED if not any(re.match(pattern, text) for text in texts)] == []
    everywhere = " ".join(texts)
    assert [name for name in PLACEHOLDERS if name.strip() not in everywhere] == []


def test_no_command_is_printed_in_another_form() -> None:
    for path in [*printed.documents(ROOT), *printed.commented(ROOT), *(ROOT / "scripts").glob("*.py")]:
        assert printed.bare(path) == [], path
    for path in [*(ROOT / "pubmill").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]:
        if path.name not in ("commands.py", "slurm.py"):  # the second begins the shell text of rules
            said = [text for text in printed.literals(path) if printed.BARE.search(text) or ".venv/" in text]
            assert said == [], path
    templates = (ROOT / "pubmill/report/templates").iterdir()
    assert [path.name for path in templates if printed.bare(path) or ".venv/" in path.read_text()] == []


@pytest.mark.long
@pytest.mark.weekly
def test_the_task_models_of_the_page_are_made_whole(finished: Project, tmp_path: Path) -> None:
    """Keep and use a model as docs/task-models.md describes, on a dataset of the finished project."""
    project = copy_of(finished, tmp_path / "copy")
    (project.folder / ".venv").symlink_to(sys.prefix)
    for one in printed.in_document(ROOT / "docs/task-models.md"):
        ended(["bash", "-c", one.text.replace("ncbi-disease", "bc5-chem")], project.folder)
    assert re.search(r"(?m)^1(\t|\|t\|)", (project.folder / "annotated.pubtator").read_text())
