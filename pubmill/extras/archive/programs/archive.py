"""Pack the archive of a finished study: its predictions, records and tables, and what they follow from.

    .venv/bin/python pubmill/extras/archive/programs/archive.py --recipe JSON --results results/demo \\
        --output results/demo/reports/demo.archive.zip

Inputs: the results that the recipe names, below --results; the checkout's Snakefile, rules and specs.
Output: a zip that is an RO-Crate. `pubmill verify` makes its numbers again.
"""

import hashlib
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pubmill.errors import PubmillError, run
from pubmill.extras.archive import contents
from pubmill.extras.archive.archive_recipes import ArchiveRecipe, ArchiveStatement
from pubmill.hardware import provenance
from pubmill.job import program
from pubmill.messages.installation import DATA
from pubmill.storage.checksums import FOLDER_SUMS
from pubmill.storage.files import sha256, writing
from pubmill.storage.privacy import PUBLIC, access_of, strictest


def main(
    recipe: ArchiveRecipe,
    results: Annotated[Path, "results folder of the study's scale"],
    output: Annotated[Path, "zip to write"],
    specs: Annotated[Path, "folder of the specs, beside the Snakefile and the rules"] = DATA / "specs",
) -> None:
    behind = {path: contents.behind(recipe, path).values() for path in recipe.records if recipe.records[path]}
    classes = {path: strictest(access_of(results / file) for file in files) for path, files in behind.items()}
    closed = {path: access for path, access in classes.items() if access != PUBLIC}
    below = {contents.member(recipe, path): results / path for path in contents.result_files(recipe, closed)}
    files = contents.workflow_files(specs.parent, recipe.published) | below
    if missing := [path for path in files.values() if not path.is_file()]:
        raise PubmillError(f"{missing[0]} does not exist; run the study first")
    last = datetime.fromtimestamp(max(path.stat().st_mtime for path in below.values()), UTC)
    finished = last.isoformat(timespec="seconds")
    stated = ArchiveStatement(recipe=recipe, commit=provenance.commit(), finished=finished, closed=closed)
    texts = {name: text.encode() for name, text in contents.written(stated).items()}
    digests = {name: sha256(path) for name, path in files.items()}
    digests |= {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
    texts[FOLDER_SUMS] = contents.sums(digests).encode()
    with writing(output) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name in sorted([*files, *texts]):
            about = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # equal content makes equal bytes
            about.external_attr = 0o644 << 16
            content = texts[name] if name in texts else files[name].read_bytes()
            archive.writestr(about, content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    run(program(main))
