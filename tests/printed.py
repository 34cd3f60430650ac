"""Collect every command in documents, comments, programs and messages, so that tests can run it."""

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = "snakemake|python3?|torchrun|pre-commit"
COMMAND = re.compile(rf"(?:[A-Z_]+=\S+ )*\.venv/bin/(?:{PROGRAMS}|pubmill) .+|(?:make|docker|apptainer) \S.*")
LANGUAGES = {"sh", "yaml", "python", "text"}
"""Languages of fenced blocks; only `sh` blocks have commands."""
BARE = re.compile(rf"(?<![\w/.-])(?:{PROGRAMS}) +(?:-|[\w.{{}}-]*/|results)|`scripts/\w+\.py +\S")
"""A command without `.venv/bin/`, which works only in a shell with the environment activated."""


@dataclass(frozen=True)
class Printed:
    text: str
    where: str

    @property
    def words(self) -> list[str]:
        """Words of the command as a shell splits it, without comments."""
        return shlex.split(self.text, comments=True)


def documents(root: Path) -> list[Path]:
    """Return the pages that contain commands for readers."""
    return [
        root / "README.md",
        root / "CONTRIBUTING.md",
        *sorted(path for path in root.glob("docs/*.md") if path.name != "fidelity.md"),  # built
        *sorted(root.glob("docs/adding/*.md")),
        root / "benchmarks/README.md",
    ]


def commented(root: Path) -> list[Path]:
    """Return the files whose comments contain commands."""
    folders = ("studies", "profiles", "specs")
    found = [path for folder in folders for path in sorted((root / folder).rglob("*.yaml"))]
    return [*found, root / "config.yaml", root / "Dockerfile"]


def programs(root: Path) -> list[Path]:
    """Return the programs whose module docstring shows their usage."""
    folders = ("scripts", "benchmarks", "pubmill/extras/*/programs")
    return sorted(path for folder in folders for path in root.glob(f"{folder}/*.py"))


def in_document(path: Path) -> Iterator[Printed]:
    """Yield each line of each fenced `sh` block, and each code span that is a command."""
    prose: list[str] = []
    language = None
    lines = iter(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        if line.startswith("```"):
            language = None if language else line.removeprefix("```")
            assert language is None or language in LANGUAGES, (
                f"{path.name}:{number}: unknown language of a fenced block"
            )
        elif language is None:
            prose.append(line)
        elif language == "sh" and line.strip() and not line.startswith("#"):
            whole = line
            while whole.endswith("\\"):
                whole = whole.removesuffix("\\") + next(lines)[1].strip()
            yield Printed(whole, f"{path.name}:{number}")
    assert language is None, f"{path.name}: a fenced block has no end"
    for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", "\n".join(prose)):
        text = " ".join(span.split())
        if COMMAND.fullmatch(text):
            yield Printed(text, path.name)


def in_comments(path: Path) -> Iterator[Printed]:
    """Yield the commands in comments, from `.venv/bin/` on; a backslash joins lines."""
    comments = "\n".join(re.findall(r"#(.*)", path.read_text(encoding="utf-8"))).replace("\\\n", "")
    for line in comments.splitlines():
        for found in re.findall(r"(?<!`)(?:\.venv/bin/|docker |apptainer ).*", line):
            yield Printed(" ".join(found.split()), str(path.name))


def in_program(path: Path) -> Iterator[Printed]:
    """Yield the usages in a program's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    text = re.sub(r"\\?\n {5,}(?=\S)", " ", text)  # more deeply indented lines continue a usage
    for line in re.findall(r"^(?:Command:)? *(\.venv/bin/.*)", text, re.M):
        yield Printed(line, path.name)


def bare(path: Path) -> list[str]:
    """Return commands without `.venv/bin/`, except those that say what wrote a file or build an image."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if BARE.search(line) and not re.search("ritten by|^(?:RUN|&&) ", line)]


def literals(path: Path) -> Iterator[str]:
    """Yield the string literals of a module that are not docstrings: text that it may print."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and its text. `file`: the file that it shows, by the comment in the first
    line; the text then begins below it."""

    language: str
    text: str
    file: str | None = None


def blocks(path: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S):
        first, _, rest = text.partition("\n")
        named = re.fullmatch(r"# ([\w./@-]+\.(?:yaml|tsv|jsonl))", first)
        yield Block(language, rest, named[1]) if named else Block(language, text)


def write_files(path: Path, folder: Path) -> None:
    """Write the files that a page shows below a folder; a later one of the same name replaces the former."""
    for block in blocks(path):
        if block.file:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text)
