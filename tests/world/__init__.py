"""The miniature world: an invented language, a small PubMed and datasets written in it.

`write_world(folder)` (or `python -m tests.world FOLDER`) writes a mirror: what stands at
`FOLDER/HOST/PATH` is what `https://HOST/PATH` would give, and `FOLDER/local/KEY` are the licensed files
that users bring themselves. Nothing in it is real.
"""

import json
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

from pubmill.specs import DatasetSpec, File
from tests.dataset_specs import spec_of
from tests.world import answers, citations, clinical, datasets, documents, medline, punkt, relations, tokens
from tests.world.citations import Citation
from tests.world.lexicon import Lexicon, make_lexicon
from tests.world.part import Part

VERSION = 4
"""Counts up whenever the content changes; a folder of another version is written anew."""

PARTS = (datasets.part, tokens.part, relations.part, documents.part, answers.part, clinical.part)
"""What makes the files of the datasets, one function for each family of formats."""

_SEED = 20260101
_MARKER = "world.json"


def _pubmed(lexicon: Lexicon) -> dict[str, list[Citation]]:
    return citations.make_citations(lexicon, _SEED + 1)


def dataset_parts() -> Part:
    """The files of all datasets, and what must be counted in each."""
    lexicon = make_lexicon(_SEED)
    whole = Part({}, {})
    for number, make in enumerate(PARTS):
        whole = whole.joined(make(lexicon, _SEED + 2 + 1000 * number))
    return whole


def _marked(folder: Path) -> Any:
    marker = folder / _MARKER
    return json.loads(marker.read_text()) if marker.is_file() else None


def write_world(folder: Path) -> bool:
    """Write the mirror unless this version of it is there; True if it was written."""
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
    """Counts of the PubMed files, and the hash of Punkt's archive."""
    return {
        "pubmed": citations.facts(_pubmed(make_lexicon(_SEED))),
        "punkt": {"sha256": sha256(punkt.punkt_zip()).hexdigest()},
    }


def overlay() -> dict[str, Any]:
    """What the demo's scale lays over the specs of datasets: this world's hashes and counts.

    The published forms' hashes are those of the real files, so here there are none.
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
    """The digests that the spec pins, of this world's files."""
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
