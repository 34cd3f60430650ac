"""The miniature world: an invented language, a small PubMed and datasets written in it.

`write_world(folder)` (or `python -m tests.world FOLDER`) writes a mirror: `FOLDER/HOST/PATH` has the content
of `https://HOST/PATH`, and `FOLDER/local/KEY` has licensed files as users supply them. All of it is invented.
"""

import json
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

from pubmill.specs import DatasetSpec, File
from tests.dataset_specs import spec_of
from tests.world import (
    annotated,
    answers,
    citations,
    clinical,
    datasets,
    documents,
    medline,
    punkt,
    relations,
    tokens,
)
from tests.world.citations import Citation
from tests.world.lexicon import Lexicon, make_lexicon
from tests.world.part import Part

VERSION = 7
"""Increased whenever the content changes; a folder with another version is written again."""

PARTS = (
    datasets.part,
    tokens.part,
    relations.part,
    documents.part,
    answers.part,
    clinical.part,
    annotated.part,
)
"""Functions that make the files of datasets, one for each family of formats."""

_SEED = 20260101
_MARKER = "world.json"


def _pubmed(lexicon: Lexicon) -> dict[str, list[Citation]]:
    return citations.make_citations(lexicon, _SEED + 1)


def dataset_parts() -> Part:
    """Return the files of all datasets, and the expected counts of each."""
    lexicon = make_lexicon(_SEED)
    whole = Part({}, {})
    for number, make in enumerate(PARTS):
        whole = whole.joined(make(lexicon, _SEED + 2 + 1000 * number))
    return whole


def _marked(folder: Path) -> Any:
    marker = folder / _MARKER
    return json.loads(marker.read_text()) if marker.is_file() else None


def write_world(folder: Path) -> bool:
    """Write the mirror unless it exists in this version; return whether it was written."""
    if _marked(folder) == {"version": VERSION}:
        return False
    (folder / _MARKER).unlink(missing_ok=True)
    medline.write_medline(folder, _pubmed(make_lexicon(_SEED)))
    for path, data in {**dataset_parts().files, punkt.PATH: punkt.punkt_zip()}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / _MARKER).write_text(json.dumps({"version": VERSION}) + "\n")
    return True


def facts() -> dict[str, Any]:
    """Return the counts of the PubMed files, and the hash of Punkt's archive."""
    return {
        "pubmed": citations.facts(_pubmed(make_lexicon(_SEED))),
        "punkt": {"sha256": sha256(punkt.punkt_zip()).hexdigest()},
    }


def overlay() -> dict[str, Any]:
    """Return the demo's changes to dataset specs: hashes and counts of this world.

    The hashes of published forms are those of the real files, so they are removed.
    """
    whole = dataset_parts()
    return {"datasets": {name: _laid_over(name, whole, expect) for name, expect in whole.expect.items()}}


def _laid_over(name: str, whole: Part, expect: dict[str, dict[str, int]]) -> dict[str, Any]:
    spec = spec_of(name)
    written: dict[str, Any] = {"sources": _pins(spec, whole.files), "expect": expect}
    if spec.published and any(file.sha256 for file in spec.published.files.values()):
        written["published"] = {"files": {split: {"sha256": None} for split in spec.published.files}}
    return {key: value for key, value in written.items() if value}


def _pins(spec: DatasetSpec, files: dict[str, bytes]) -> dict[str, dict[str, str]]:
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
