"""Hostile names and texts: in the fields of shell commands, in places of specs, among a user's files."""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from pubmill.errors import PubmillError
from pubmill.recipes.reading import as_json
from pubmill.specs import Specs, load
from pubmill.specs.study import Study
from pubmill.stages import checked_graph
from tests.attack import attack
from tests.rule_commands import commands
from tests.world.dice import Dice

ROOT = Path(__file__).resolve().parents[2]
MARK = "PWNED"
RUN = f"touch {MARK}"
PIECES = (
    *(f";{RUN};", f"$({RUN})", f"`{RUN}`", f"| {RUN}", f"\n{RUN}\n", f"';{RUN} #", f'";{RUN} #', ">" + MARK),
    *r"{id} {wildcards} {0} {{ } %s ${HOME} ~ * ? .. ../ / \ - --to".split(),
    *(" ", "\t", "\x1b[2J", "\x7f", "\u202e", "é", "a" * 120, "a", "B", "7", "@", "=", ",", "."),
)
HARMLESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9 ._+@/:-]*")
"""What is harmless unquoted and in patterns, written independently of `pubmill.storage.name_patterns`."""
_BASH = 'python() { printf "%s\\0" "$@" > arguments; }\ntee() { cat > /dev/null; }\n'
"""Programs are not run; what they would be given is written down."""


def hostile(dice: Dice) -> str:
    return "".join(dice.pick(PIECES) for _ in range(dice.between(1, 4)))


class _Values(SimpleNamespace):
    """Wildcards, params or files whose every value is hostile."""

    def __init__(self, value: str) -> None:
        super().__init__()
        self.value = value

    def __getattr__(self, name: str) -> str:
        return self.value

    def __getitem__(self, place: int) -> str:
        return self.value

    def __format__(self, spec: str) -> str:
        from snakemake.utils import QuotedFormatter

        return str(QuotedFormatter().format_field(self.value, spec))


@attack("shell-fields", cases=3_000, quick=20)
def in_a_command(dice: Dice, folder: Path) -> str:
    """Hostile text in every field of every rule's shell command: bash runs nothing of it, and programs get it
    as it is."""
    from snakemake.utils import format as formatted

    command, value = dice.pick(commands()), hostile(dice).replace("\0", "")
    fields: dict[str, object] = {
        name: _Values(value) for name in ("wildcards", "params", "input", "output", "resources")
    }
    vars(fields["params"])["launcher"] = "python"  # numbers alone decide it
    vars(fields["params"])["places"] = _Values(value)
    text = formatted(command, **fields, log="the log")
    done = subprocess.run(["bash", "-c", _BASH + text], cwd=folder, capture_output=True, check=False)
    made = sorted(path.name for path in folder.iterdir())
    if not set(made) <= {"arguments", "the log"} or "arguments" not in made:
        return f"{text!r} made {made}: {done.stderr!r}"
    words = (folder / "arguments").read_bytes().decode().split("\0")
    used = value in command or any(word.find(value) >= 0 for word in words) or not _uses(command)
    return "" if used else f"{text!r} gave the program {words}"


def _uses(command: str) -> bool:
    return any(f"{{{name}" in command for name in ("wildcards", "params", "input", "output"))


@cache
def _lines() -> tuple[tuple[str, int], ...]:
    """The lines of specs with a name or a text that one can replace: `key: word`."""
    keys = "name|label|citation|licence|paper|protocol|setting|local|url|corpus|vocab|model|dataset|include"
    found = []
    for path in sorted((ROOT / "specs").rglob("*.yaml")):
        if path.parent.name != "scales":
            for number, line in enumerate(path.read_text().splitlines()):
                if re.match(rf" *(- )?({keys}): [^|>&{{\[]+$", line):
                    found.append((str(path.relative_to(ROOT)), number))
    return tuple(found)


@attack("spec-names", cases=150, quick=2)
def in_a_spec(dice: Dice, folder: Path) -> str:
    """Hostile names and texts in places of specs, and as names of their files and folders: the specs are
    refused, or only text holds them."""
    shutil.copytree(ROOT / "specs", folder / "specs")
    value = hostile(dice)
    if dice.chance(0.7):
        file, number = dice.pick(_lines())
        lines = (folder / file).read_text().splitlines()
        lines[number] = f"{lines[number].partition(':')[0]}: {json.dumps(value)}"
        (folder / file).write_text("\n".join(lines) + "\n")
    else:
        source = folder / dice.pick(_lines())[0]
        name = value.replace("/", "").replace("\0", "")[:100] or "x"
        target = source.parent / f"{name}.yaml" if dice.chance(0.5) else source.parent / name / source.name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(source, target)
    try:
        specs = load(folder / "specs", "demo")
    except PubmillError:
        return ""
    kinds = ("tables", "fact_tables", "models", "datasets", "corpora", "vocabs", "protocols")
    names = [name for kind in kinds for name in getattr(specs, kind)]
    names += [row.dataset for table in specs.tables.values() for row in table.rows]
    odd = [name for name in names if not HARMLESS.fullmatch(name)]
    return f"taken: {odd}" if odd else ""


@attack("file-names", cases=2_000, quick=20)
def among_files(dice: Dice, folder: Path) -> str:
    """Files of the user's own with hostile names: they are refused by a message that names them, or
    harmless."""
    name = hostile(dice).replace("/", "").replace("\0", "")[:120] + dice.pick((".jsonl.gz", "x.jsonl.gz"))
    (folder / name).touch()
    config = {
        "study": "x", "title": hostile(dice), "scale": "small", "tables": [],
        "local_files": {"abstracts": str(folder)},
    }  # fmt: skip
    try:
        shard = checked_graph(Study.model_validate(config), _specs()).corpora.shards("pubmed-abstracts")[-1]
    except PubmillError as error:
        return "" if repr(name)[1:5] in str(error) or ascii(name)[1:5] in str(error) else f"{name!r}: {error}"
    as_json(shard)
    return "" if HARMLESS.fullmatch(shard.name) and HARMLESS.fullmatch(shard.file) else f"taken: {shard}"


@cache
def _specs() -> Specs:
    return load(ROOT / "specs", "small")
