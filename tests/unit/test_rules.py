"""Checks of the rules' text: fields of shell commands are quoted, and text of specs stays text."""

import re
from pathlib import Path

import pytest

from pubmill.storage.result_paths import RELATIVE

_SHELL = re.compile(r'^ +shell:\n((?: +f?"(?:[^"\\]|\\.)*"\n)+)', re.MULTILINE)
_PARAMS = re.compile(r"^    params:\n((?:        .*\n)+)", re.MULTILINE)


def found(root: Path, pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return file and text of every match in the rules."""
    return [
        (path.name, text)
        for path in sorted((root / "rules").rglob("*.smk"))
        for text in pattern.findall(path.read_text())
    ]


def unquoted(command: str) -> list[str]:
    """Return the fields of a shell command that a hostile name could turn into commands: the unquoted
    ones but for the launcher of a training, which numbers alone decide."""
    fields = re.findall(r"(?<!\{)\{([^{}]+)\}(?!\})", command)
    return [field for field in fields if not field.endswith(":q") and field != "params.launcher"]


def test_every_field_of_every_shell_command_is_quoted(root: Path) -> None:
    commands = found(root, _SHELL)
    rules = sum(path.read_text().count("    shell:") for path in (root / "rules").rglob("*.smk"))
    assert len(commands) == rules > 25
    assert {name: fields for name, text in commands if (fields := unquoted(text))} == {}


def test_unquoted_fields_are_found() -> None:
    assert unquoted('"a {wildcards.x} {input:q} {params.y:d} {{z}}"') == ["wildcards.x", "params.y:d"]


def test_recipes_are_given_by_functions(root: Path) -> None:
    """Snakemake treats braces in a parameter's text as wildcards, unless a function returns the text."""
    params = "".join(text for _, text in found(root, _PARAMS))
    assert params.count("as_json(") + params.count(".params,") > 20
    assert [line for line in params.splitlines() if "as_json(" in line and "lambda w:" not in line] == []


@pytest.mark.parametrize("word", ["shell=True", "os.system", "subprocess.getoutput"])
def test_the_package_starts_no_shell(root: Path, word: str) -> None:
    files = [*(root / "pubmill").rglob("*.py"), *(root / "scripts").glob("*.py")]
    assert [path.name for path in files if word in path.read_text()] == []


def test_folders_in_shell_commands_are_those_of_paths(root: Path) -> None:
    """Commands spell them, which saves each rule a parameter."""
    commands = "".join(text for _, text in found(root, _SHELL))
    folders = set(re.findall(r'\{params\.places\.results:q\}/([^ "]+)', commands))
    known = {
        RELATIVE.dataset("{dataset}"), RELATIVE.vocab("{vocab}"), RELATIVE.tokens("{corpus}", "{vocab}"),
        RELATIVE.checkpoint("{recipe}", "{step}"), RELATIVE.model("{model}"),
        RELATIVE.dataset("").rstrip("/"),
    }  # fmt: skip
    assert {re.sub(r"\{wildcards\.(\w+):q\}", r"{\1}", folder) for folder in folders} == known
