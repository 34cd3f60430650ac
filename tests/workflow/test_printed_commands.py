"""Every command that pubmill prints works as it stands, in a fresh clone with its `.venv`.

`-n` is added for Snakemake; a program of `scripts/` is run where that takes a second, else it reads its
arguments.
What is tried in another way, or not at all, is in the tables here with the reason.
"""

import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pubmill.recipes.writing import as_json
from tests import printed
from tests.conftest import ROOT
from tests.printed import Printed
from tests.unit.pretraining.toy_pretraining import RECIPE
from tests.workflow.advised_commands import ADVICE
from tests.workflow.conftest import Project, copy_of

PLACEHOLDERS = {
    "/path/to/folder/of/jsonl.gz": "own/abstracts",
    "/path/to/folder": "own/abstracts",
    "/path/to/mirror": "tests/world/mirror",
    "/data/mirror": "tests/world/mirror",
    "/data/mednli": "own/mednli",
    "./my-bert": "pubmedbert-base",
    "./my-corpus": "own/my-corpus",
    "~/my-cluster": "profiles/slurm",  # of which it is a copy
    "TABLE ROW COLUMN": "gu2020/table06 bc2gm pubmedbert-base",
    "STUDY": "gu2020",
    "FOLDER": "folder",
    " ...": "",
}
"""Placeholder in a printed command -> its value in the clone."""

NOT_TRIED = {
    r"docker |podman |apptainer ": "there is no container engine",
    r".* --sdm conda": "there is no conda",
    r".* --sdm apptainer": "tests/workflow/test_containers.py runs it with a stand-in",
    r".* --allowed-rules table": "needs the records of a finished study; a row of measurements",
    r"\.venv/bin/python -m tests\.stages": "tests/unit/test_stages.py runs it",
    r"\.venv/bin/python -m tests\.mutations": "tests/unit/test_mutations.py runs its parts; it takes an hour",
    r"\.venv/bin/python -m http\.server": "serves until it is stopped",
    r"\.venv/bin/python -m tests\.schemas": "tests/unit/specs/test_schemas.py compares what it writes",
    r"\.venv/bin/python -m tests\.attack": "tests/unit/test_attacks.py runs it",
    r"\.venv/bin/python -m pytest .* -k mine$": "tests a dataset that the reader adds",
    r".* --profile profiles/cluster-generic": "its plugin is not among the locked packages",
    r"\.venv/bin/torchrun .* scripts/pretrain\.py \.\.\.$": "its arguments are left out",
    r"\.venv/bin/pubmill --install-completion": "changes the user's shell",
    r"\.venv/bin/pubmill open": "needs a finished study and a browser; tests/unit/cli runs it",
    r"\.venv/bin/python benchmarks/pmc.py$": "its usage is compared",
    r"\.venv/bin/python benchmarks/planning.py$": "takes minutes; test_planning_page.py makes one row",
}
SHELL = r"make |cp |printf |\.venv/bin/pre-commit |\.venv/bin/python -m pytest"
"""Commands for the shell: `make` with -n, pytest with --collect-only."""
WHOLE = r"pubmill sources pubmed --mirror"
"""Programs that finish within a second. Others need the network, restricted data, or minutes."""
LONG = r"pubmill (plan|mirror) \w+$|corpora/shin2020/|full/tables/|run gu2020 (?!results)|--model \S+( -n)?$"
"""Commands that build the graph of a whole study or table, or of a PubMed corpus: run by the long test."""


def documented() -> list[Printed]:
    """Return the commands of documents and comments, each once."""
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
    """Return the command with placeholders replaced by values of the clone."""
    for old, new in PLACEHOLDERS.items():
        text = text.replace(old, new)
    return text


def words_of(text: str) -> str:
    """Return the command with these values, as a shell splits it, without comments."""
    return shlex.join(shlex.split(filled(text), comments=True))


def is_snakemake(text: str) -> bool:
    return ".venv/bin/snakemake" in text


def is_command(text: str) -> bool:
    return bool(re.match(r"([A-Z_]+=\S+ )*\.venv/bin/pubmill", text))


def is_program(text: str) -> bool:
    return bool(re.search(r"\.venv/bin/python (?:scripts|pubmill/extras/\w+/programs)/", text))


def task(text: str, *, long: bool = False) -> dict[str, object]:
    """Return how to run a command in the clone."""
    words = shlex.split(filled(text), comments=True)
    if is_command(text):
        verb = words[words.index(".venv/bin/pubmill") + 1]
        runs = verb in ("run", "table", "demo")
        words += ["-n"] if runs and "-n" not in words else []
        return {
            "way": "whole" if long or runs or verb in ("explain", "list", "--help") else "parse",
            "words": words,
        }
    if is_snakemake(text):
        place = 1 + next(i for i, word in enumerate(words) if word.endswith("/snakemake"))
        has_target = any("results/" in word for word in words[place : place + 2])
        one = [] if has_target or long else [f"results/{scale(words)}/datasets/bc2gm/card.json"]
        return {"way": "whole", "words": [*words[:place], *one, "-n", *words[place:]]}
    return {"way": "whole" if long or re.search(WHOLE, shlex.join(words)) else "parse", "words": words}


def scale(words: list[str]) -> str:
    """Return the scale of a command's study."""
    named = [word for word in words if word.startswith("studies/")]
    found = re.search(r"(?m)^scale: (\w+)", (ROOT / (named or ["config.yaml"])[-1]).read_text())
    assert found
    return found[1]


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
    (folder / "own/abstracts").mkdir()
    with gzip.open(folder / "own/abstracts/a.jsonl.gz", "wt") as lines:
        lines.write('{"title": "A title", "abstract": "An abstract"}\n')
    return folder


def try_all(folder: Path, tasks: dict[str, dict[str, object]]) -> dict[str, str]:
    """Run the commands; return those that failed, with their output."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.as_typed", str(folder)],
        cwd=ROOT, input=json.dumps(tasks), capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers: dict[str, tuple[int, str]] = json.loads(done.stdout)
    assert answers.keys() == tasks.keys()
    return {name: said for name, (status, said) in answers.items() if status or "Traceback" in said}


def untried(text: str) -> bool:
    return any(re.match(pattern, text) for pattern in NOT_TRIED)


@pytest.mark.long
def test_every_command_of_documents_and_comments_works(clone: Path) -> None:
    tasks = {
        one.text: task(one.text)
        for one in documented()
        if not untried(one.text) and not re.match(SHELL, one.text)
        if is_program(one.text) or not re.search(LONG, words_of(one.text))
    }
    assert len(tasks) > 25
    assert try_all(clone, tasks) == {}


@pytest.mark.parametrize(
    "text", [one.text for one in documented() if re.match(SHELL, one.text) and not untried(one.text)]
)
def test_every_other_command_works_in_a_shell(clone: Path, tmp_path: Path, text: str) -> None:
    added = {"make": " -n", "pytest": " --collect-only -q"}
    words = shlex.split(text, comments=True)
    more = next((option for name, option in added.items() if name in words), "")
    done = subprocess.run(
        ["bash", "-c", text.partition("  #")[0] + more],
        cwd=clone, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_not_tried_is_still_printed() -> None:
    texts = [one.text for one in documented()]
    assert [pattern for pattern in NOT_TRIED if not any(re.match(pattern, text) for text in texts)] == []
    everywhere = " ".join(texts)
    assert [name for name in PLACEHOLDERS if name.strip() not in everywhere] == []


@pytest.mark.long
def test_the_usage_of_every_program_is_right(clone: Path) -> None:
    shown = usages()
    programs = [path for path in printed.programs(ROOT) if path.parent.name != "benchmarks"]
    assert {path.name for path in programs} == {Path(name).name for name in shown}
    tasks: dict[str, dict[str, object]] = {
        name: {"way": "usage", "words": shlex.split(text)} for name, text in shown.items()
    }
    assert try_all(clone, tasks) == {}


def test_no_command_is_printed_in_another_form() -> None:
    for path in [*printed.documents(ROOT), *printed.commented(ROOT), *(ROOT / "scripts").glob("*.py")]:
        assert printed.bare(path) == [], path
    for path in [*(ROOT / "pubmill").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]:
        if path.name != "commands.py":
            said = [text for text in printed.literals(path) if printed.BARE.search(text) or ".venv/" in text]
            assert said == [], path
    templates = (ROOT / "pubmill/report/templates").iterdir()
    assert [path.name for path in templates if printed.bare(path) or ".venv/" in path.read_text()] == []


@pytest.mark.long
def test_every_command_that_is_advised_works(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = [*(ROOT / "pubmill").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]
    assert {name for path in modules for name in printed.advised(path)} == ADVICE.keys()
    monkeypatch.chdir(tmp_path)
    tasks: dict[str, dict[str, object]] = {}
    for name, say in ADVICE.items():
        found = re.findall(r"\.venv/bin/[^`();\n]+", said := say())
        assert found, said
        tasks |= {f"{name}: {text}": task(text) for text in found if not untried(text)}
    assert try_all(clone, tasks) == {}


@pytest.mark.long
@pytest.mark.weekly
def test_commands_for_whole_studies_work(clone: Path) -> None:
    """Build their graphs; of those that differ only in profile, resources or -n, only one."""
    alike = r" --profile \S+| --set-resources \S+| -n\b| --quiet progress"
    whole = {
        re.sub(alike, "", words_of(one.text)): one.text
        for one in documented()
        if not untried(one.text) and (is_snakemake(one.text) or re.search(LONG, words_of(one.text)))
    }
    wanted = {
        name: task(text, long=True) for name, text in whole.items() if "gu2020" in name or "small" in name
    }
    assert len(wanted) > 4
    assert try_all(clone, wanted) == {}


@pytest.mark.long
@pytest.mark.weekly
def test_the_task_models_of_the_page_are_made_whole(finished: Project, tmp_path: Path) -> None:
    """Keep and use a model as docs/task-models.md describes, on a dataset of the finished project."""
    project = copy_of(finished, tmp_path / "copy")
    (project.folder / ".venv").symlink_to(sys.prefix)
    for one in printed.in_document(ROOT / "docs/task-models.md"):
        text = one.text.replace("ncbi-disease", "bc5-chem")
        done = subprocess.run(
            ["bash", "-c", text], cwd=project.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "1\t" in (project.folder / "annotated.pubtator").read_text()
        or "1|t|" in (project.folder / "annotated.pubtator").read_text()
    )
