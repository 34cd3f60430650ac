"""Every command that documents, comments, programs and messages print, to be run as it stands."""

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = "snakemake|python3?|torchrun|pre-commit"
COMMAND = re.compile(rf"(?:[A-Z_]+=\S+ )*\.venv/bin/(?:{PROGRAMS}) .+|(?:make|docker|apptainer) \S.*")
LANGUAGES = {"sh", "yaml", "python", "mermaid"}
"""Those of fenced blocks; commands are in those of `sh` alone."""
WORDERS = {"commands.snakemake", "commands.script", "commands.local_files"}
"""The functions that word a command, the only ones that may."""
BARE = re.compile(rf"(?<![\w/.-])(?:{PROGRAMS}) +(?:-|[\w.{{}}-]*/|results)|`scripts/\w+\.py +\S")
"""A command without `.venv/bin/`, which works in no shell but one that has activated the environment."""


@dataclass(frozen=True)
class Printed:
    """A command and where it stands."""

    text: str
    where: str

    @property
    def words(self) -> list[str]:
        """As a shell reads it, comment left out."""
        return shlex.split(self.text, comments=True)


def documents(root: Path) -> list[Path]:
    """Pages that a reader finds commands in."""
    return [
        root / "README.md",
        root / "CONTRIBUTING.md",
        *sorted(root.glob("docs/*.md")),
        root / "benchmarks/README.md",
    ]


def commented(root: Path) -> list[Path]:
    """Files whose comments have commands."""
    folders = ("studies", "profiles", "specs")
    found = [path for folder in folders for path in sorted((root / folder).rglob("*.yaml"))]
    return [*found, root / "config.yaml", root / "Dockerfile"]


def programs(root: Path) -> list[Path]:
    """Programs whose first docstring shows how they are called."""
    return sorted(path for folder in ("scripts", "benchmarks") for path in (root / folder).glob("*.py"))


def in_document(path: Path) -> Iterator[Printed]:
    """Each line of each fenced `sh` block, and each span of code that is a command."""
    prose: list[str] = []
    language = None
    lines = iter(enumerate(path.read_text().splitlines(), 1))
    for number, line in lines:
        if line.startswith("```"):
            language = None if language else line.removeprefix("```")
            assert language is None or language in LANGUAGES, (
                f"{path.name}:{number}: of which language is it?"
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
    """Commands of comments: from `.venv/bin/` on, over the lines that a backslash joins."""
    comments = "\n".join(re.findall(r"#(.*)", path.read_text())).replace("\\\n", "")
    for line in comments.splitlines():
        for found in re.findall(r"(?<!`)(?:\.venv/bin/|docker |apptainer ).*", line):
            yield Printed(" ".join(found.split()), str(path.name))


def in_program(path: Path) -> Iterator[Printed]:
    """The usages of a program's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    text = re.sub(r"\\?\n {5,}(?=\S)", " ", text)  # a usage goes on in lines that are further in
    for line in re.findall(r"^(?:Command:)? *(\.venv/bin/.*)", text, re.M):
        yield Printed(line, path.name)


def bare(path: Path) -> list[str]:
    """Commands that don't begin with `.venv/bin/`; what wrote a file, or makes an image, is no advice."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    return [line for line in lines if BARE.search(line) and not re.search("ritten by|^(?:RUN|&&) ", line)]


def literals(path: Path) -> Iterator[str]:
    """Texts of a module that are no docstrings: what it may print."""
    tree = ast.parse(path.read_text())
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


def advised(path: Path) -> Iterator[str]:
    """The functions of a module that word a command."""
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in WORDERS:
                    yield f"{path.stem}.{function.name}"
