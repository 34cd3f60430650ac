"""Modules: names that occur once, encodings, loaders, lengths. Rules: quoted fields, public Snakemake."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pubmill.storage.result_paths import RELATIVE
from tests.conftest import ROOT
from tests.rule_commands import commands

Trees = dict[str, ast.Module]
FOLDERS = ("pubmill", "scripts", "profiles", "benchmarks", "snakemake_logger_plugin_pubmill")


@pytest.fixture(scope="module")
def trees() -> Trees:
    """The syntax tree of each module, by its path below the checkout."""
    paths = [ROOT / "setup.py", *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
    parsed = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    return {path.relative_to(ROOT).as_posix(): tree for path, tree in parsed.items()}


@pytest.fixture(scope="module")
def modules(trees: Trees) -> list[Path]:
    """The package's modules, without the programs of extras."""
    return [path for path in map(Path, trees) if path.parts[0] == "pubmill" and "programs" not in path.parts]


def repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def test_a_module_name_occurs_once(modules: list[Path]) -> None:
    """But for jobs, which have the names of stages."""
    named = [path for path in modules if path.stem != "__init__" and path.parent.name != "jobs"]
    assert named and repeated(path.stem for path in named) == []


def test_a_class_name_occurs_once(modules: list[Path], trees: Trees) -> None:
    nodes = (node for path in modules for node in ast.walk(trees[path.as_posix()]))
    assert repeated(node.name for node in nodes if isinstance(node, ast.ClassDef)) == []


def calls(tree: ast.Module, *names: str) -> Iterator[tuple[ast.Call, str]]:
    """Yield each call of a method with one of these names, and the name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node, node.func.attr


def test_every_text_file_has_an_encoding(trees: Trees) -> None:
    """ruff's rule sees only calls on what it knows to be a path; here every call of these names counts."""
    places = {"read_text": 0, "write_text": 1}
    assert [
        f"{path}:{node.lineno}"
        for path, tree in trees.items()
        for node, name in calls(tree, *places)
        if len(node.args) <= places[name] and all(one.arg != "encoding" for one in node.keywords)
    ] == []


LOADING: dict[str, set[bool]] = {
    "pubmill/finetuning/encoders.py": set(), "pubmill/finetuning/task_models.py": set(),
    "pubmill/pretraining/architectures.py": {True}, "pubmill/pretraining/export.py": set(),
    "pubmill/storage/encoder_checks.py": set(), "pubmill/storage/model_folder_checks.py": set(),
    "pubmill/pretraining/learners.py": {True},
}  # fmt: skip
"""Modules that call transformers' loaders, and whether they always read weights as safetensors;
`model_folder_checks` also reads a pickle, of which it takes tensors only."""


def test_loaders_of_models_stay_on_this_machine_and_run_no_code(trees: Trees) -> None:
    """No model folder makes transformers run its code, unpickle its weights or ask the network for a file."""
    formats: dict[str, set[Any]] = {}
    for path, tree in trees.items():
        for node, name in calls(tree, "from_pretrained", "from_config") if path[:8] == "pubmill/" else ():
            given: dict[Any, Any] = {one.arg: getattr(one.value, "value", None) for one in node.keywords}
            assert given["trust_remote_code"] is False, path
            assert name == "from_config" or given["local_files_only"] is True, path
            assert given.get("use_safetensors", True) or given["weights_only"] is True, path
            formats.setdefault(path, set()).update({given.get("use_safetensors")} - {None})
    assert formats == LOADING


MOST_LINES = {
    "pubmill/**/*.py": 500, "scripts/**/*.py": 500, "benchmarks/**/*.py": 500,
    "snakemake_logger_plugin_pubmill/**/*.py": 500, "tests/**/*.py": 500, "rules/**/*.smk": 150,
}  # fmt: skip


def test_no_file_is_longer_than_allowed(root: Path) -> None:
    for pattern, most in MOST_LINES.items():
        lines = {path: len(path.read_bytes().splitlines()) for path in root.glob(pattern)}
        assert lines and [path for path, count in lines.items() if count > most] == [], pattern


_PARAMS = re.compile(r"^    params:\n((?:        .*\n)+)", re.MULTILINE)


def unquoted(command: str) -> list[str]:
    """Return the fields of a shell command that a hostile name could turn into commands: the unquoted
    ones but for the launcher of a training, which numbers alone decide."""
    fields = re.findall(r"(?<!\{)\{([^{}]+)\}(?!\})", command)
    return [field for field in fields if not field.endswith(":q") and field != "params.launcher"]


def test_every_field_of_every_shell_command_is_quoted(root: Path) -> None:
    rules = sum(path.read_text().count("    shell:") for path in (root / "rules").rglob("*.smk"))
    assert len(commands()) == rules > 25
    assert {text: fields for text in commands() if (fields := unquoted(text))} == {}


def test_unquoted_fields_are_found() -> None:
    assert unquoted('"a {wildcards.x} {input:q} {params.y:d} {{z}}"') == ["wildcards.x", "params.y:d"]


def test_recipes_are_given_by_functions(root: Path) -> None:
    """Snakemake treats braces in a parameter's text as wildcards, unless a function returns the text."""
    texts = [path.read_text() for path in sorted((root / "rules").rglob("*.smk"))]
    params = "".join(params for text in texts for params in _PARAMS.findall(text))
    assert params.count("as_json(") + params.count(".params,") > 20
    assert [line for line in params.splitlines() if "as_json(" in line and "lambda w:" not in line] == []


@pytest.mark.parametrize("word", ["shell=True", "os.system", "subprocess.getoutput"])
def test_the_package_starts_no_shell(root: Path, word: str) -> None:
    files = [*(root / "pubmill").rglob("*.py"), *(root / "scripts").glob("*.py")]
    assert [path.name for path in files if word in path.read_text()] == []


def test_folders_in_shell_commands_are_those_of_paths() -> None:
    """Commands spell them, which saves each rule a parameter."""
    folders = set(re.findall(r"\{params\.places\.results:q\}/([^ ]+)", " ".join(commands())))
    known = {
        RELATIVE.dataset("{dataset}"), RELATIVE.vocab("{vocab}"), RELATIVE.tokens("{corpus}", "{vocab}"),
        RELATIVE.checkpoint("{recipe}", "{step}"), RELATIVE.model("{model}"),
        RELATIVE.dataset("").rstrip("/"),
    }  # fmt: skip
    assert {re.sub(r"\{wildcards\.(\w+):q\}", r"{\1}", folder) for folder in folders} == known


OURS = ("pubmill", "rules", "scripts", "tests", "profiles", "benchmarks", "snakemake_logger_plugin_pubmill")
PRIVATE = re.compile(r"\b(workflow|dag|job|scheduler|persistence|rule|snakemake)\._[a-z]")
IMPORTED = re.compile(r"^\s*(?:from|import) (snakemake[\w.]*)", re.MULTILINE)
PUBLIC = re.compile(r"snakemake\.(api|utils|exceptions)|snakemake_interface_\w+(\.\w+)*")


def test_nothing_private_of_snakemake_is_used(root: Path) -> None:
    files = [root / "Snakefile", *(path for name in OURS for path in (root / name).rglob("*"))]
    texts = {
        path: path.read_text() for path in files if path.suffix in (".py", ".smk") or path.stem == "Snakefile"
    }
    assert len(texts) > 500
    assert not {str(path): found[0] for path, text in texts.items() if (found := PRIVATE.search(text))}
    names = {name for text in texts.values() for name in IMPORTED.findall(text)}
    assert not {name for name in names if not PUBLIC.fullmatch(name) and "plugin_pubmill" not in name}
