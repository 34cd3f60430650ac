"""Licensed text with a word planted in it, copied without its modes between programs: its label follows."""

import contextlib
import gzip
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

from pubmill.storage import privacy
from pubmill.storage.files import write_json, write_jsonl_gz, writing_folder
from pubmill.storage.parquet import access_of_parts, parquet_writer
from pubmill.storage.privacy import PUBLIC, access_of, keep_private, label_of_process, write_label_beside
from tests.attack import attack
from tests.unit.programs import start
from tests.world.dice import Dice
from tests.world.part import CANARY

TEXTS = [f"{CANARY} heart failure of the left side", "the heart of the matter", "failure is the other side"]
VOCAB = {"kind": "wordpiece", "size": 80, "lowercase": True}


def class_of(path: Path) -> str:
    """The class of a file or folder, as the programs that read it see it."""
    files = [path] if path.is_file() else list(path.iterdir())
    return privacy.strictest([access_of(path), access_of_parts(p for p in files if p.suffix == ".parquet")])


@contextlib.contextmanager
def process() -> Iterator[None]:
    """A process of its own, as far as labels and modes are concerned."""
    before = os.umask(0o022)
    with patch.dict(privacy._PROCESS, {"access": PUBLIC}), contextlib.redirect_stdout(io.StringIO()):
        try:
            yield
        finally:
            os.umask(before)


def program(name: str, **options: object) -> None:
    given = ((f"--{key}", *(value if isinstance(value, list) else [value])) for key, value in options.items())
    with process():
        start(name, *(word for words in given for word in words))


def corpus(folder: Path) -> Path:
    folder.mkdir()
    table = pa.table({"id": ["1", "2", "3"], "text": TEXTS})
    for number, licensed in enumerate((True, False)):
        with parquet_writer(folder / f"part-000{number}.parquet", table.schema, licensed) as writer:
            writer.write_table(table if licensed else table.slice(1))
    return folder


def dataset(folder: Path) -> Path:
    with process(), writing_folder(folder) as temporary:
        write_jsonl_gz(temporary / "test.jsonl.gz", [{"id": "1", "text": TEXTS[0]}], private=True)
        write_json(temporary / "card.json", {"access": "credentialed"})
    return folder


def words(source: Path, folder: Path) -> Path:
    recipe = '{"splitting": "bert-uncased"}'
    parts = sorted(source.glob("*.parquet"))
    program("count_words", recipe=recipe, parts=parts, folder=folder, output=folder / "blocks/1.json")
    return folder


def vocab(source: Path, folder: Path) -> Path:
    program("train_vocab", recipe=json.dumps(VOCAB), words=source, parts=2, output=folder)
    return folder


def derived(source: Path, folder: Path) -> Path:
    """A folder of any kind that a program makes of what it reads."""
    with process():
        keep_private([source])
        with writing_folder(folder) as temporary:
            (temporary / "weights").write_text(_content(source))
    return folder


def predictions(source: Path, folder: Path) -> Path:
    with process():
        keep_private([source])
        path = folder / "seed-1.predictions.jsonl.gz"
        write_jsonl_gz(path, [{"id": "1", "text": _content(source)}])
        write_json(folder / "seed-1.training.json", {"failed": None} | label_of_process())
    return path


def annotated(source: Path, folder: Path) -> Path:
    """New text with what a model predicts of it, in a form without a place for a label."""
    with process():
        keep_private([source])
        write_label_beside(folder / "new.txt")
        (folder / "new.txt").write_text(_content(source))
    return folder / "new.txt"


def _content(source: Path) -> str:
    files = [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file())
    data = [path.read_bytes() for path in files]
    texts = [gzip.decompress(one) if one.startswith(b"\x1f\x8b") else one for one in data]
    return b" ".join(texts).decode("utf-8", "replace")


Step = Callable[[Path, Path], Path]
ANY: tuple[Step, ...] = (derived, predictions, annotated)
CHAINS: tuple[tuple[Callable[[Path], Path], tuple[Step, ...]], ...] = (
    (corpus, (words, vocab)),
    (dataset, ()),
)


def copied(dice: Dice, source: Path, folder: Path) -> Path:
    """Copy what a program made elsewhere, as people do, with modes that say nothing."""
    folder.mkdir()
    target = folder / source.name
    if source.is_dir():
        shutil.copytree(source, target, copy_function=shutil.copyfile)
    else:
        for path in source.parent.iterdir():
            if path.name.startswith(source.name) or dice.chance(0.5):
                shutil.copyfile(path, folder / path.name)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else dice.pick((0o644, 0o666, 0o600, 0o755)))
    return target


@attack("labels", cases=500)
def chain(dice: Dice, folder: Path) -> str:
    """Licensed data, and all that is made of them, copied with other modes between programs: every output has
    the label, and its owner alone may read it."""
    start, steps = dice.pick(CHAINS)
    at = start(folder / "start")
    for number, step in enumerate(
        (*steps[: dice.below(3)], *(dice.pick(ANY) for _ in range(dice.between(1, 3))))
    ):
        if step in ANY and at.is_dir() and list(at.glob("*.parquet")):
            break  # no program but those above reads these
        read = copied(dice, at, folder / f"copy-{number}")
        at = step(read, folder / f"made-{number}")
        made = [path for path in (at if at.is_dir() else at.parent).rglob("*") if path.is_file()]
        public = [path.name for path in made if class_of(path if path.suffix == ".parquet" else at) == PUBLIC]
        if public:
            return f"{step.__name__} of {read.name}: without a label: {public}"
        if wide := [path.name for path in made if path.stat().st_mode & 0o077]:
            return f"{step.__name__} of {read.name}: others may read {wide}"
    return ""


@attack("no-labels", cases=200)
def open_data(dice: Dice, folder: Path) -> str:
    """Copies of public data, processed by the same programs: nothing gets a label."""
    with process(), writing_folder(folder / "start") as temporary:
        (temporary / "text").write_text("public")
    step = dice.pick(ANY)
    at = step(copied(dice, folder / "start", folder / "copy"), folder / "made")
    labels = [path.name for path in at.parent.rglob("*") if path.name.endswith(privacy.LABEL)]
    return f"labelled: {labels}" if labels or access_of(at) != PUBLIC else ""
