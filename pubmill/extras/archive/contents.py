"""Content of an archive: its members, and those that follow from its statement, README and RO-Crate 1.1."""

import json
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

from rocrate.model import ContextEntity, Person
from rocrate.rocrate import ROCrate

from pubmill.extras.archive.archive_recipes import ArchiveRecipe, ArchiveStatement
from pubmill.recipes.reading import as_values
from pubmill.storage.checksums import FOLDER_SUMS
from pubmill.storage.result_paths import RELATIVE, run_of

STATEMENT, README, METADATA = "archive.json", "README.md", "ro-crate-metadata.json"
WRITTEN = (STATEMENT, README, METADATA)
"""Members that are written when an archive is packed, beside the list of all."""
WORKFLOW = ("Snakefile", "rules/**/*.smk", "specs/**/*.yaml")
"""Files that define a study, below the checkout; the package itself is identified by its commit."""
CONTENT = "Predictions, records and tables of a study ({}), with the specifications that they follow from"
TERMS_OF_USE = (
    "pubmill's code and specifications are under the Apache License 2.0. Tables and records belong to those "
    "who ran the study. Examples and predictions are under the licences of their datasets."
)


def workflow_files(checkout: Path, published: Iterable[str]) -> dict[str, Path]:
    """Return member -> file of the workflow, the specs, and the published values of these tables."""
    files = [path for pattern in WORKFLOW for path in checkout.glob(pattern)]
    files += [checkout / f"specs/tables/{table}.published.csv" for table in published]
    return {path.relative_to(checkout).as_posix(): path for path in files}


def result_files(recipe: ArchiveRecipe, closed: Container[str]) -> list[str]:
    """Return the results that an archive holds, below the results folder of the scale."""
    below = [*recipe.files, *recipe.records, *map(RELATIVE.contributions, recipe.records)]
    for path in (path for path, examples in recipe.records.items() if examples and path not in closed):
        below += behind(recipe, path).values()
    return list(dict.fromkeys(below))


def behind(recipe: ArchiveRecipe, record: str) -> dict[str, str]:
    """Return what a record is made from: `predictions`, `examples` and `training`."""
    run, examples = run_of(record), recipe.records[record]
    return {
        "predictions": RELATIVE.predictions(*run),
        "examples": examples,
        "training": RELATIVE.training(*run),
    }


def member(recipe: ArchiveRecipe, below: str) -> str:
    """Return the member that holds a result."""
    return f"results/{recipe.scale}/{below}"


def sums(digests: Mapping[str, str]) -> str:
    """Return the list of all members' digests, in the form of `sha256sum`."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()) if name != FOLDER_SUMS)


def written(stated: ArchiveStatement) -> dict[str, str]:
    """Return the members that follow from a statement: name -> text."""
    values = {STATEMENT: as_values(stated), METADATA: _crate(stated).metadata.generate()}
    texts = {name: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for name, value in values.items()}
    return {README: _readme(stated), **texts}


def _readme(stated: ArchiveStatement) -> str:
    recipe, commit = stated.recipe, stated.commit or "not recorded"
    closed = [f"- {path}: without predictions, of data that are {one}" for path, one in stated.closed.items()]
    content = CONTENT.format(recipe.scale_title)
    lines = [
        f"# {recipe.title}\n",
        f"{content}. The configuration is in `{STATEMENT}`; it was packed by pubmill, commit {commit}.\n",
        "`sha256sum --check SHA256SUMS` compares files with their hashes; `pubmill verify` makes records and",
        f"tables again from the predictions, and compares them.\n\n{TERMS_OF_USE}\n",
        *(f"- {dataset}: {terms}" for dataset, terms in recipe.terms.items()),
    ]
    return "\n".join([*lines, *closed, ""])


def _crate(stated: ArchiveStatement) -> ROCrate:
    """Return the RO-Crate: the workflow, the study as its input, tables and records as results of its run."""
    recipe, crate = stated.recipe, ROCrate(version="1.1")
    crate.name, crate.datePublished = f"{recipe.title} (pubmill study {recipe.study})", stated.finished
    crate.description = CONTENT.format(recipe.scale_title)
    terms = {"@type": "CreativeWork", "name": "Terms of this archive", "description": TERMS_OF_USE}
    crate.license = crate.add(ContextEntity(crate, "#terms", terms))
    about = {"name": "pubmill", "version": stated.commit or "not recorded", "encodingFormat": "text/plain"}
    workflow = crate.add_workflow(dest_path="Snakefile", main=True, lang="snakemake", properties=about)
    files = {
        name: crate.add_file(dest_path=name, properties={"name": what, "encodingFormat": form})
        for name, what, form in (
            (STATEMENT, "Configuration and statement", "application/json"),
            (README, "What is in the archive", "text/markdown"),
            (FOLDER_SUMS, "SHA-256 of every file", "text/plain"),
        )
    }
    names = ("rules", "specs", "results")
    folders = [crate.add_dataset(dest_path=f"{one}/", properties={"name": one}) for one in names]
    run = crate.add_action(
        workflow,
        identifier=f"#run-of-{recipe.study}",
        object=[files[STATEMENT], *folders[:2]],
        result=folders[2:],
        properties={"name": f"Run of the study {recipe.study}", "endTime": stated.finished},
    )
    if author := recipe.configuration.get("author"):
        person = crate.add(Person(crate, author["orcid"], properties={"name": author["name"]}))
        run["agent"] = crate.root_dataset["author"] = person
    return crate
