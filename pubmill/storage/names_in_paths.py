"""The runs, choices and specs that paths of results name; `result_paths` spells these paths."""

from collections.abc import Iterator
from pathlib import PurePath, PurePosixPath
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.storage.result_paths import RECORD, ChoiceKey, RunKey


class RunPath(NamedTuple):
    """The run that the path of a record names."""

    run: RunKey
    seed: int


def run_of(path: str | PurePath) -> RunPath:
    """Parse the path of a record; raise a `PubmillError` for any other path."""
    match PurePosixPath(path).parts:
        case (*_, protocol, model, dataset, setting, "final", name):
            seed = name.removeprefix("seed-").removesuffix(RECORD)
            if name == f"seed-{seed}{RECORD}" and seed.isdecimal():
                return RunPath(RunKey(protocol, model, dataset, setting), int(seed))
    raise PubmillError(
        f"{path}: expected the path of a record, PROTOCOL/MODEL/DATASET/SETTING/final/seed-N.json"
    )


def choice_of(below: str) -> ChoiceKey:
    """Parse the path of a choice below the results; raise a `PubmillError` for any other path."""
    match PurePosixPath(below).parts:
        case ("runs", protocol, "selected", dataset, name) if name.endswith(".json"):
            return ChoiceKey(protocol, None, dataset, name.removesuffix(".json"))
        case ("runs", protocol, model, dataset, setting, "selected.json"):
            return ChoiceKey(protocol, model, dataset, setting)
    raise PubmillError(f"{below}: expected the path of a choice of hyper-parameters")


def table_of(file: str) -> str:
    """Return the table that the name of a file is of: `PAPER/tableNN`."""
    paper, _, ending = file.rpartition("-")
    return f"{paper}/{ending.partition('.')[0]}"


def names_in(below: str) -> Iterator[tuple[str, str]]:
    """Return the kinds and names of the specs that a path below the results names. A kind is the folder of
    its specs: `models`, `corpora`."""
    match PurePosixPath(below).parts:
        case ("tables", _, file) if "-" in file:
            yield "tables", table_of(file)
        case ("floors" | "sentence-documents", file):
            yield "datasets", file.removesuffix(".json").removesuffix(".jsonl.gz")
        case ("pages", "datasets", page):
            yield "datasets", page.rpartition(".")[0]
        case ("runs", protocol, "selected", dataset, *_):
            yield from (("protocols", protocol), ("datasets", dataset))
        case ("runs", protocol, model, dataset, *_):
            yield from (("protocols", protocol), ("models", model), ("datasets", dataset))
        case ("vocabs", vocab, "on", page):
            yield from (("vocabs", vocab), ("datasets", page.removesuffix(".json")))
        case ("pretraining", "tokens", corpus, vocab, *_):
            yield from (("corpora", corpus), ("vocabs", vocab))
        case ("corpora", "parsed", *_):
            return
        case (("corpora" | "vocabs" | "pretraining" | "models" | "datasets") as kind, name, _, *_):
            yield kind, name
