"""Find damaged results: compare each finished file with its digest, in the file itself or in another file."""

import gzip
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.installation import root
from pubmill.metrics.contributions import read_items
from pubmill.specs.study import study_of_scale
from pubmill.storage.blocks import MADE_FROM
from pubmill.storage.checksums import FOLDER_SUMS, PREDICTIONS_SEAL, SUMS, listed_sums, place_fault
from pubmill.storage.files import SEAL, read_json, sha256
from pubmill.storage.model_folders import TOKENIZER_FILES
from pubmill.storage.parquet import parquet_fault, shard_fault
from pubmill.storage.result_paths import (
    BLOCKS,
    CARD,
    PREDICTIONS,
    RELATIVE,
    RUNS,
    SOURCE_RECORD,
    STATE,
    TRAINING,
    manifest_of,
    source_of_record,
)


@dataclass(frozen=True)
class CheckedFile:
    """Result of checking one file. `fault`: what is wrong; None if the file agrees with its digest, "" if it
    has no digest. `target`: the path to request from Snakemake to build the file again."""

    path: Path
    fault: str | None
    target: Path


def examine(results: Path) -> list[CheckedFile]:
    """Check all finished results below a folder; hidden files are not finished and are skipped."""
    found = {path: path.relative_to(results).parts for path in sorted(results.rglob("*")) if path.is_file()}
    files = [path for path, parts in found.items() if not any(part.startswith(".") for part in parts)]
    with ThreadPoolExecutor() as pool:
        checked = [finding for findings in pool.map(_check_file, files) for finding in findings]
    # Of several findings on a file the last is kept: a fault, else agreement, else a lack of checksums.
    checked.sort(key=lambda finding: (finding.fault != "", bool(finding.fault)))
    found_once = {finding.path: finding for finding in checked}
    # File of a block -> the manifest to request for it, the newest of several.
    in_blocks: dict[Path, Path] = {}
    manifests = [path for path in files if path.parent.parent.name == BLOCKS and path.suffix == ".json"]
    for manifest in sorted(manifests, key=lambda path: path.stat().st_mtime_ns):
        with suppress(PubmillError):  # damaged, which is a finding of its own
            named = read_json(manifest).get(MADE_FROM, {})
            in_blocks |= {Path(os.path.normpath(manifest.parent / name)): manifest for name in named}
    for path in in_blocks.keys() - found_once.keys():
        found_once[path] = CheckedFile(path, None if path.is_file() else "it is missing", path)
    findings = [
        replace(one, target=in_blocks.get(one.path) or (_declared(one.target) if one.fault else one.target))
        for one in found_once.values()
    ]
    return sorted(findings, key=lambda finding: finding.path)


def _declared(path: Path) -> Path:
    """Return the file to request for a file of a run: the manifest that its job declares."""
    parts = path.parts
    for place in (number for number, part in enumerate(parts) if part == "runs"):
        run = Path(*parts[: place + 5])
        match parts[place + 5 :]:
            case ("final", _):
                return Path(manifest_of(str(path)))
            case ("models", _, *_):
                return run / "final" / RUNS
            case ("trials", point, _):
                manifests = sorted((run / "trials").glob("*.json"))
                listing = (one for one in manifests if f'"{point}/' in one.read_text(encoding="utf-8"))
                return next(listing, run / "trials" / f"{point}.json")
    return path


def report(findings: Sequence[CheckedFile]) -> Iterator[str]:
    """Yield the lines that list the damaged files and the command that builds them again."""
    damaged = [finding for finding in findings if finding.fault]
    bare = sum(finding.fault == "" for finding in findings)
    yield from (f"damaged: {finding.path}: {finding.fault}" for finding in damaged)
    yield (
        f"{len(findings):,} files: {len(findings) - bare - len(damaged):,} agree with their checksums, "
        f"{len(damaged):,} are damaged, {bare:,} have no checksum"
    )
    if damaged:
        yield "Build the damaged files again, with the configuration that they were built with:"
        study_of = cache(partial(study_of_scale, folder=root() / "studies", path=""))
        by_study: dict[str, list[str]] = {}  # a study of the scale; without such a study, the demo
        for target in sorted({str(finding.target) for finding in damaged}):
            studies = [file for part in Path(target).parts for file in study_of(part)]
            by_study.setdefault("".join(studies[:1]), []).append(target)
        for study, files in by_study.items():
            configuration = commands.configuration_options([study] if study else [])
            yield f"  {commands.run_files(*files, configuration=configuration, options=['--force'])}"


def _check_file(path: Path) -> list[CheckedFile]:
    """Return the findings of one file: on itself, and on the files whose digests it lists."""
    target = path
    if path.name == FOLDER_SUMS:
        is_named = path.parent.parent.name in ("models", "vocabs")
        target = path.with_name(TOKENIZER_FILES[0]) if is_named else path.parent
    elif path.suffix == SUMS and path.with_suffix(".html").is_file():
        target = path.with_suffix(".html")
    try:
        if path.suffix == ".json":
            return [*_check_json(path)]
        if path.name == FOLDER_SUMS or path.suffix == SUMS:
            fault = place_fault(path) if path.name == FOLDER_SUMS else None
            listed = listed_sums(path).items()
            files = (
                _compared(file, sha, path, file if path.suffix == SUMS else target) for file, sha in listed
            )
            return [CheckedFile(path, fault, target), *files]
        return [CheckedFile(path, _file_fault(path), target)]
    except (PubmillError, OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        fault = str(error).removeprefix(f"{path}").lstrip(": ").removeprefix("is damaged: ")
        return [CheckedFile(path, fault, target)]


def _compared(file: Path, digest: str, listing: Path, target: Path) -> CheckedFile:
    """Return the finding of a file whose digest another file lists."""
    if not file.is_file():
        return CheckedFile(file, "it is missing", target)
    same = sha256(file) == digest
    return CheckedFile(file, None if same else f"its SHA-256 differs from that in {listing.name}", target)


def _file_fault(path: Path) -> str | None:
    if path.suffix == ".parquet":
        fault = parquet_fault(path, path.stat().st_mtime_ns, path.stat().st_size)
        return fault or shard_fault(path) or fault  # "" is a file without a checksum
    if path.suffix == ".gz":
        if not path.stat().st_size:
            return "it is empty"
        with gzip.open(path) as content:  # to its end, where its checksum is stored
            while content.read(2**20):
                pass
    elif path.suffix == ".npz":
        read_items(path)
    else:
        return ""
    return None


def _check_json(path: Path) -> Iterator[CheckedFile]:
    value = read_json(path)
    has_seal = isinstance(value, dict) and SEAL in json.loads(path.read_text(encoding="utf-8"))
    misplaced = _place_fault(path, value) if isinstance(value, dict) else None
    yield CheckedFile(path, misplaced or (None if has_seal else ""), path)
    for file, digest in _listed_digests(path, value).items():
        of_one_file = path.name.endswith((SOURCE_RECORD, TRAINING, CARD))
        yield _compared(file, digest, path, file if of_one_file else path)


def _place_fault(path: Path, value: Mapping[str, Any]) -> str | None:
    """Return how the path of a JSON file differs from what it says of itself; None if it does not."""
    _, below, place = path.as_posix().rpartition(f"/{RELATIVE.sources()}/")
    named: dict[str, object] = {}
    match path.parts:
        case (*_, "datasets", dataset, name) if name == CARD:
            named = {"dataset": dataset}
        case (*_, name) if below and name.endswith(SOURCE_RECORD) and value.get("origin") != "local":
            named = {"url": f"https://{source_of_record(place)}"} if "shard" not in value else {}
        case (*_, step, name) if name == STATE:
            named = {"step": int(step.removeprefix("step-"))} if re.fullmatch(r"step-\d+", step) else {}
        case (*_, "tables", _, name) if re.fullmatch(r"\w+-[\w-]+\.json", name):
            paper, _, table = name.removesuffix(".json").partition("-")
            named = {"paper": paper, "table": table}
        case (*_, "runs", protocol, model, dataset, setting, "final", name) if name.endswith(TRAINING):
            named = {"model": model}
        case (*_, "runs", protocol, model, dataset, setting, "final", _):
            named = {"protocol": protocol, "model": model, "dataset": dataset, "setting": setting}
    if (seed := re.fullmatch(r"seed-(\d+)(\.training)?\.json", path.name)) and "seed" in value:
        named["seed"] = int(seed[1])
    wrong = [f"{key} {value[key]!r}" for key, right in named.items() if value.get(key, right) != right]
    return f"it says that it is of {', '.join(wrong)}, which its path contradicts" if wrong else None


def _listed_digests(path: Path, value: Any) -> dict[Path, str]:
    """The SHA-256 that a JSON file lists: of a source, predictions, examples, packed tokens, checkpoint."""
    record = value if isinstance(value, dict) else {}
    if path.name.endswith(SOURCE_RECORD):
        named = {source_of_record(path.name): record.get("sha256")}
    elif path.name.endswith(TRAINING):
        named = {path.name.removesuffix(TRAINING) + PREDICTIONS: record.get(PREDICTIONS_SEAL)}
    elif path.name == CARD and isinstance(record.get("examples_sha256"), dict):
        named = {f"{split}.jsonl.gz": digest for split, digest in record["examples_sha256"].items()}
    else:
        named = record["files"] if isinstance(record.get("files"), dict) else {}
    return {
        path.parent / name: digest
        for name, digest in named.items()
        if isinstance(digest, str) and re.fullmatch("[0-9a-f]{64}", digest)
    }
