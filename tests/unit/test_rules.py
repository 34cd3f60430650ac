"""Checks of the rules' text: fields of shell commands are quoted, and text of specs stays text."""

import re
from pathlib import Path

import pytest

from pubmill.storage.result_paths import RELATIVE
from tests.rule_commands import commands

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
