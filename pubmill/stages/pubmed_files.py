"""Names of the files of a PubMed source."""

import re

from pubmill.errors import PubmillError
from pubmill.specs import PubmedSource

_RANGE = re.compile(r"^(\d\d)n(\d{4,})(?:-(\d\d)n(\d{4,}))?$")


def pubmed_files(source: PubmedSource) -> list[str]:
    """Return relative paths of a PubMed source's files in NCBI's order: baseline, then updates, by number."""
    paths = []
    for folder in ("baseline", "updatefiles"):
        for written in source.files.get(folder, ()):
            matched = _RANGE.match(written)
            last = matched and (matched[3] or matched[1], int(matched[4] or matched[2]))
            if not matched or not last or last < (matched[1], int(matched[2])) or last[0] != matched[1]:
                raise PubmillError(
                    f"source {source.name}: {folder}: {written!r} is no range of PubMed files; "
                    f"write 26n0001 or 26n0001-26n1334 (one year)"
                )
            numbers = range(int(matched[2]), last[1] + 1)
            paths += [f"{folder}/pubmed{matched[1]}n{number:04d}.xml.gz" for number in numbers]
    return paths
