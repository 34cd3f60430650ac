"""SHA-256 of finished files: lists in the form of `sha256sum`, seals of predictions, identity of models.

Whoever reads a finished folder or file first calls the check of its kind: it compares the content with the
SHA-256 that were written with it, and the place with the name that it states.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.storage.files import (
    REMAKE,
    kept_sha256,
    read_json,
    sealed,
    sha256,
    write_json,
    write_jsonl_gz,
    writing,
)
from pubmill.storage.privacy import label_of_process
from pubmill.storage.result_paths import CARD, PREDICTIONS, RELATIVE, TRAINING

FOLDER_SUMS = "SHA256SUMS"
"""The list of a folder's files, which is written last."""
SUMS = ".sha256"
"""Ending of the list of the files with a common stem."""
PREDICTIONS_SEAL = "predictions_sha256"
"""Key of a training report: SHA-256 of the predictions beside it; absent in reports of earlier versions."""
REPORT = "training.json"
"""In a task model's folder: how the model was trained."""
HASHED = {".safetensors", ".json", ".txt", ".model"}
"""Suffixes of weights, configurations and tokenizers (SentencePiece's is .model)."""
_LINE = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<name>.+)")


def write_folder_sums(folder: Path, name: str = "") -> None:
    """List all files of a folder, which may still have its temporary name, in its `SHA256SUMS`. `name`: of a
    model or vocabulary, for a comment in the first line, which `sha256sum --check` skips."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != FOLDER_SUMS)
    comment = f"# {name}\n" if name else ""
    (folder / FOLDER_SUMS).write_text(comment + _lines(files, folder), encoding="utf-8")


def write_formats(stem: Path, shown: Any, renderers: Mapping[str, Callable[[Any], str]]) -> list[Path]:
    """Write what is `shown` in all formats (ending -> function that renders it), then their SHA-256 to
    `STEM.sha256`; return their paths, without that of the digests."""
    paths = [stem.with_name(f"{stem.name}.{name}") for name in renderers]
    for path, render in zip(paths, renderers.values(), strict=True):
        with writing(path) as temporary:
            temporary.write_text(render(shown), encoding="utf-8")
    with writing(stem.with_name(f"{stem.name}{SUMS}")) as temporary:
        temporary.write_text(_lines(paths, stem.parent), encoding="utf-8")
    return paths


def _lines(files: Iterable[Path], folder: Path) -> str:
    return "".join(f"{sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in files)


def listed_sums(path: Path) -> dict[Path, str]:
    """Return file -> SHA-256 of a list; a `PubmillError` names a malformed or empty one."""
    try:
        text = path.read_text(encoding="utf-8").splitlines()
        lines = [_LINE.fullmatch(line) for line in text if not line.startswith("#")]
    except UnicodeDecodeError:
        lines = []
    if not lines or not all(lines):
        raise PubmillError(f"{path} is not a list of SHA-256 in the form of sha256sum. {REMAKE}")
    return {path.parent / line["name"]: line["digest"] for line in lines if line}


def exchange_fault(folder: Path, kind: str, stated: object) -> str | None:
    """Return the fault of a folder below the results (`models/NAME`, of kind `models`) that states another
    name, as after two folders were exchanged; None if there is none, or if it is a copy elsewhere."""
    if folder.absolute().parent.name != kind or stated in (None, folder.absolute().name):
        return None
    return f"it states that it is {stated!r}, expected {folder.absolute().name!r}"


def place_fault(listing: Path) -> str | None:
    """Return the fault of a model's or vocabulary's folder whose `SHA256SUMS` states another name (those of
    earlier versions state none); None if there is none."""
    first = listing.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    stated = first.removeprefix("# ") if first.startswith("# ") else None
    faults = (exchange_fault(listing.parent, kind, stated) for kind in ("models", "vocabs"))
    return next(filter(None, faults), None)


def check_folder(folder: Path) -> None:
    """Raise a `PubmillError` if the weights, configuration or tokenizer of a model or vocabulary differ from
    its `SHA256SUMS`, or if its folder is that of another one. A folder of the user's own has no such list."""
    listing = folder / FOLDER_SUMS
    if not listing.is_file():
        return
    if fault := place_fault(listing):
        raise PubmillError(f"{folder} is in a wrong place: {fault}. {remake(folder)}")
    for path, digest in listed_sums(listing).items():
        if path.suffix in HASHED and path.name != REPORT and path.parent == folder:
            _check_digest(path, digest, listing, folder)


def check_examples(path: Path) -> None:
    """Raise a `PubmillError` if a split of a dataset differs from the SHA-256 in the card.json beside it, or
    if its folder is that of another dataset. A file of the user's own has no card."""
    card = path.with_name(CARD)
    if not card.is_file():
        return
    known: Any = read_json(card)
    if not isinstance(known, dict):
        raise PubmillError(f"{card}: expected an object with the dataset's facts. {remake(path.parent)}")
    if fault := exchange_fault(path.parent, "datasets", known.get("dataset")):
        raise PubmillError(f"{path.parent} is in a wrong place: {fault}. {remake(path.parent)}")
    digest = known.get("examples_sha256", {}).get(path.name.removesuffix(".jsonl.gz"))
    if digest and path.is_file():
        _check_digest(path, digest, card, path.parent)


def check_source(path: Path) -> None:
    """Raise a `PubmillError` if a source file below the results has changed since its download, or is not the
    file of its URL. A file without a record is the user's own."""
    record = Path(RELATIVE.source_record(str(path)))
    if not record.is_file():
        return
    known = read_json(record)
    _, below, place = path.as_posix().rpartition(f"/{RELATIVE.sources()}/")
    url, fault = known.get("url", ""), ""
    if below and not url.startswith("file:") and url.partition("://")[2] != place:
        fault = f"{record.name} is that of {url}"
    elif (digest := known.get("sha256")) and (found := kept_sha256(path)) != digest:
        fault = f"its SHA-256 is {found:.12}, expected {digest:.12} as in {record.name}"
    if fault:
        raise PubmillError(f"{path} is not the file that was downloaded: {fault}. {remake(path)}")


def check_listed(path: Path) -> None:
    """Raise a `PubmillError` if a file that `write_formats` wrote differs from the list beside it."""
    listing = path.with_name(path.name.removesuffix(path.suffix) + SUMS)
    digest = listed_sums(listing).get(path) if listing.is_file() else None
    if digest:
        _check_digest(path, digest, listing, path)


def _check_digest(path: Path, expected: str, listing: Path, made: Path) -> None:
    """Compare a file with its SHA-256 in a list. `made`: what is to be deleted to make the file again."""
    found = kept_sha256(path) if path.is_file() else "no such file"
    if found != expected:
        raise PubmillError(
            f"{path} has changed since it was written, or is another file: its SHA-256 is {found:.12}, "
            f"expected {expected:.12} as in {listing.name}. {remake(made)}"
        )


def remake(path: Path) -> str:
    """Return the advice to make a damaged file or folder again."""
    return REMAKE.replace("Delete it", f"Delete {path}")


def write_predictions(path: Path, rows: Iterable[Mapping[str, object]], report: Mapping[str, object]) -> None:
    """Write a run's predictions, then beside them its report (training.json) with their SHA-256."""
    write_jsonl_gz(path, rows)
    notes = {**report, **label_of_process(), PREDICTIONS_SEAL: sha256(path)}
    write_json(_report_path(path), sealed(notes))


def _report_path(predictions: Path) -> Path:
    return predictions.with_name(predictions.name.removesuffix(PREDICTIONS) + TRAINING)


def report_of(predictions: Path) -> dict[str, object]:
    """Return the report beside a run's predictions; empty if there is none."""
    path = _report_path(predictions)
    return dict(read_json(path)) if path.is_file() else {}


def is_as_written(predictions: Path, report: Mapping[str, object]) -> bool | None:
    """Return whether predictions are those that their run wrote; None if its report has no seal of them."""
    seal = report.get(PREDICTIONS_SEAL)
    return None if seal is None else sha256(predictions) == seal


def check_predictions(predictions: Path, report: Mapping[str, object]) -> None:
    """Raise a `PubmillError` if predictions have changed since their run wrote them."""
    if is_as_written(predictions, report) is False:
        raise PubmillError(
            f"{predictions} has changed since its run wrote it: its SHA-256 is not {PREDICTIONS_SEAL} of the "
            "run's training report. Put the file back, or make it again with the command that "
            f"`{commands.pubmill('doctor', 'fsck')}` prints. `pubmill score` scores predictions of other "
            "systems"
        )


def hashed_files(folder: Path) -> list[Path]:
    """Return the files that determine what a model computes, by name. The training report of a task model is
    left out, because it contains the duration of the training."""
    return [path for path in sorted(folder.iterdir()) if path.suffix in HASHED and path.name != REPORT]


def is_whole(folder: Path) -> bool:
    """Return whether a folder has the files, with their contents, that its `SHA256SUMS` lists."""
    sums = folder / FOLDER_SUMS
    listed = listed_sums(sums) if sums.is_file() else {}
    return bool(listed) and all(file.is_file() and sha256(file) == sha for file, sha in listed.items())


def folder_sha256(folder: Path, digest: Callable[[Path], str] = kept_sha256) -> str | None:
    """Return one hash over the names and contents of a model folder's weights, configuration and tokenizer.
    None if the folder has none of these files: a run that diverged keeps only its training report."""
    paths, whole = hashed_files(folder), hashlib.sha256()
    for path in paths:
        whole.update(f"{path.name} {digest(path)}\n".encode())
    return whole.hexdigest() if paths else None
