"""Pack the archive of a finished study."""

import hashlib
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pubmill
from pubmill.errors import PubmillError
from pubmill.extras.archive.archive_recipes import ArchiveRecipe, Source, Statement
from pubmill.extras.archive.contents import (
    member,
    open_records,
    result_files,
    run_files,
    sums,
    workflow_files,
    written,
)
from pubmill.hardware import provenance
from pubmill.storage.checksums import FOLDER_SUMS
from pubmill.storage.files import read_json, sha256, writing
from pubmill.storage.privacy import PUBLIC, access_of, strictest
from pubmill.storage.result_paths import source_of_record

DATED = (1980, 1, 1, 0, 0, 0)
"""The time of all members, so that equal members make equal archives."""


def pack(recipe: ArchiveRecipe, results: Path, checkout: Path, output: Path) -> Statement:
    """Write the archive and return its statement; a `PubmillError` names the first missing file.

    `results`: the results folder of the study's scale; `checkout`: the folder with workflow and specs.
    """
    closed = _closed(recipe, results)
    below = {member(recipe, path): results / path for path in result_files(recipe, closed)}
    files = workflow_files(checkout, recipe.published) | below
    if missing := [path for path in files.values() if not path.is_file()]:
        raise PubmillError(f"{missing[0]} does not exist; run the study first")
    last = max(path.stat().st_mtime for path in below.values())
    statement = Statement(
        recipe=recipe,
        version=pubmill.__version__,
        commit=provenance.commit(checkout) or provenance.commit(),
        finished=datetime.fromtimestamp(last, UTC).isoformat(timespec="seconds"),
        closed=closed,
        sources={
            source_of_record(path): _source(results / path, words) for path, words in recipe.sources.items()
        },
    )
    texts = written(statement, files)
    digests = {name: sha256(path) for name, path in files.items()}
    digests |= {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    texts[FOLDER_SUMS] = sums(digests)
    with writing(output) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted([*files, *texts]):
            content = texts[name].encode() if name in texts else files[name].read_bytes()
            about = zipfile.ZipInfo(name, DATED)
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(about, content)
    return statement


def _closed(recipe: ArchiveRecipe, results: Path) -> dict[str, str]:
    """Return the records on public data whose files are labelled as derived from data that are not."""
    classes = {
        path: strictest(access_of(results / file) for file in (recipe.records[path], *run_files(path)))
        for path in open_records(recipe, ())
    }
    return {path: access for path, access in classes.items() if access != PUBLIC}


def _source(record: Path, licence: str) -> Source:
    noted = read_json(record)
    url = str(noted["url"])
    return Source(
        url=url if url.startswith("https://") else "",
        size=noted["bytes"],
        sha256=noted["sha256"],
        retrieved=noted["retrieved"],
        licence=licence,
    )
