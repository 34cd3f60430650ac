"""The miniature world: an invented language, a small PubMed and datasets written in it.

`write_world(folder)` (or `python -m tests.world FOLDER`) writes a mirror: `FOLDER/HOST/PATH` has the content
of `https://HOST/PATH`, and `FOLDER/local/KEY` has licensed files as users supply them. All of it is invented.
"""

import json
from functools import cache
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

import yaml

from pubmill.specs import DatasetSpec, File
from tests.dataset_specs import SPECS, spec_of
from tests.world import (
    annotated,
    answers,
    chemprot,
    citations,
    clinical,
    datasets,
    ddi,
    documents,
    medline,
    punkt,
    tokens,
)
from tests.world.lexicon import make_lexicon
from tests.world.part import Files

VERSION = 7
"""Increased whenever the content changes; a folder with another version is written again."""
OVERLAY = SPECS.parent / "scales/demo-datasets.yaml"
"""The demo's changes to dataset specs: hashes of this world's files, and the counts of each dataset."""

_PARTS = {
    datasets: 2, tokens: 1002, chemprot: 2002, ddi: 2102, documents: 3002, answers: 4002, clinical: 5002,
    annotated: 6002,
}  # fmt: skip
"""Modules that make the files of datasets, one for each family of formats, with what is added to the seed."""
_SEED = 20260101
_MARKER = "world.json"


@cache
def dataset_files() -> Files:
    """Return the files of all datasets."""
    lexicon, files = make_lexicon(_SEED), Files()
    for module, more in _PARTS.items():
        files |= module.part(lexicon, _SEED + more)
    return files


def dataset_names() -> list[str]:
    """Return the names of the datasets that the world has."""
    return list(_overlay())


def _overlay() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(OVERLAY.read_text(encoding="utf-8"))["datasets"]
    return found


def write_world(folder: Path) -> bool:
    """Write the mirror unless it exists in this version; return whether it was written."""
    marker, version = folder / _MARKER, {"version": VERSION}
    if marker.is_file() and json.loads(marker.read_text()) == version:
        return False
    marker.unlink(missing_ok=True)
    medline.write_medline(folder, citations.make_citations(make_lexicon(_SEED), _SEED + 1))
    for path, data in {**dataset_files(), punkt.PATH: punkt.punkt_zip()}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    marker.write_text(json.dumps(version) + "\n")
    return True


def overlay() -> dict[str, Any]:
    """Return the demo's changes to dataset specs: this world's hashes, and the counts as they are there.

    The hashes of published forms are those of the real files, so they are removed.
    """
    files = dataset_files()
    return {"datasets": {name: _laid_over(spec_of(name), files, of) for name, of in _overlay().items()}}


def _laid_over(spec: DatasetSpec, files: Files, known: dict[str, Any]) -> dict[str, Any]:
    written: dict[str, Any] = {"sources": _pins(spec, files), "expect": known.get("expect")}
    if spec.published and any(file.sha256 for file in spec.published.files.values()):
        written["published"] = {"files": {split: {"sha256": None} for split in spec.published.files}}
    return {key: value for key, value in written.items() if value}


def _pins(spec: DatasetSpec, files: Files) -> dict[str, dict[str, str]]:
    """Return this world's values for the digests that the spec pins."""
    pins = {}
    for role, source in spec.sources.items():
        if isinstance(source, File) and not source.unchecked:
            content = files[source.url.removeprefix("https://")]
            pins[role] = (
                {"sha256": sha256(content).hexdigest()}
                if source.sha256
                else {"git_blob": sha1(b"blob %d\0" % len(content) + content).hexdigest()}
            )
    return pins
