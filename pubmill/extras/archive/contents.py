"""What is in an archive: its members, and those that are written from all others, README and RO-Crate.

Profile: Workflow Run Crate 0.5 (https://w3id.org/ro/wfrun/workflow/0.5), on RO-Crate 1.1.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rocrate.model import ContextEntity, Person
from rocrate.rocrate import ROCrate

from pubmill.extras.archive.archive_recipes import ArchiveRecipe, Statement
from pubmill.recipes.writing import as_values
from pubmill.storage.checksums import FOLDER_SUMS
from pubmill.storage.privacy import PUBLIC
from pubmill.storage.result_paths import BELOW, below_sources

STATEMENT, README, METADATA = "archive.json", "README.md", "ro-crate-metadata.json"
WRITTEN = (STATEMENT, README, METADATA)
"""Members that are written when an archive is packed, beside the list of all."""
RESULTS, SPECS = "results", "specs"
WORKFLOW = ("Snakefile", "rules/**/*.smk", "specs/**/*.yaml")
"""Files that define a study, below the checkout; the package itself is identified by its commit."""
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"
"""JSON-LD context that defines `sha256` and other terms."""
CODE_LICENCE = "https://spdx.org/licenses/Apache-2.0"
TERMS_OF_USE = (
    "pubmill's code and specifications are under the Apache License 2.0. Tables and records belong to those "
    "who ran the study. Examples and predictions are under the licences of their datasets."
)
FORMATS = {".json": "application/json", ".md": "text/markdown", ".csv": "text/csv", "": "text/plain"}


def workflow_files(checkout: Path, published: Iterable[str]) -> dict[str, Path]:
    """Return member -> file of the workflow, the specs, and the published values of these tables."""
    files = [path for pattern in WORKFLOW for path in checkout.glob(pattern)]
    files += [checkout / f"{SPECS}/tables/{table}.published.csv" for table in published]
    return {path.relative_to(checkout).as_posix(): path for path in files}


def result_files(recipe: ArchiveRecipe, closed: Iterable[str]) -> list[str]:
    """Return the results that an archive holds, below the results folder of the scale."""
    below = [*recipe.files, *recipe.records, *map(BELOW.contributions, recipe.records)]
    for path in open_records(recipe, closed):
        below += [recipe.records[path], *run_files(path)]
    return list(dict.fromkeys(below))


def run_files(record: str) -> list[str]:
    """Return the predictions and the training report behind a record."""
    stem = record.removesuffix(".json")
    return [f"{stem}.predictions.jsonl.gz", f"{stem}.training.json"]


def open_records(recipe: ArchiveRecipe, closed: Iterable[str]) -> list[str]:
    """Return the records whose predictions an archive holds."""
    return [path for path, examples in recipe.records.items() if examples and path not in set(closed)]


def member(recipe: ArchiveRecipe, below: str) -> str:
    """Return the member that holds a result."""
    return f"{RESULTS}/{recipe.scale}/{below}"


def sums(digests: Mapping[str, str]) -> str:
    """Return the list of all members' digests, in the form of `sha256sum`."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()) if name != FOLDER_SUMS)


def readme(statement: Statement) -> str:
    """Return the text that says what is in an archive."""
    recipe = statement.recipe
    lines = [
        f"# {recipe.title}",
        "",
        f"The study {recipe.study} at {recipe.scale_title}, packed by pubmill {statement.version} (commit "
        f"{statement.commit or 'not recorded'}). Results are in `{RESULTS}/`, what they follow from in "
        f"`{SPECS}/` and `{STATEMENT}`.",
        "",
        "```sh",
        f"sha256sum --check {FOLDER_SUMS}       # every file is as it was packed",
        "pubmill verify ARCHIVE.zip         # scores the predictions again, and makes all tables again",
        "```",
        "",
        TERMS_OF_USE,
        "",
        "| dataset | in the archive | licence |",
        "|---|---|---|",
    ]
    for name, terms in recipe.datasets.items():
        is_open = terms.access == PUBLIC
        held = "examples, predictions, records" if is_open else f"records and contributions ({terms.access})"
        where = f"; apply at {terms.apply}" if terms.apply else ""
        lines.append(f"| {name} | {held} | {terms.licence}{where} |".replace("\n", " "))
    for path, access in statement.closed.items():
        lines.append(f"\n{path} is without predictions, which are derived from data that are {access}.")
    return "\n".join([*lines, ""])


def metadata(statement: Statement, files: Mapping[str, Path]) -> dict[str, Any]:
    """Return the RO-Crate's metadata. `files`: members that stand alone in it; the folders of results, specs
    and rules are entities as a whole, whose hashes are in SHA256SUMS."""
    recipe, crate = statement.recipe, ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(CONTEXT)
    code = crate.add(_entity(crate, CODE_LICENCE, "CreativeWork", name="Apache License 2.0"))
    workflow = crate.add_workflow(
        dest_path="Snakefile",
        main=True,
        lang="snakemake",
        properties={
            **_described(files["Snakefile"], "pubmill"),
            "description": "From PubMed citations to the result tables of biomedical language model papers",
            "version": statement.commit or statement.version,
            "conformsTo": {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"},
        },
    )
    workflow["license"] = code
    for folder, name in (("rules", "Rules of the workflow"), (SPECS, "Specifications, published values")):
        crate.add_dataset(dest_path=f"{folder}/", properties={"name": name})["license"] = code
    about = crate.add_file(dest_path=README, properties={"name": "What is in the archive"})
    about["about"] = crate.root_dataset
    stated = crate.add_file(dest_path=STATEMENT, properties={"name": "Configuration and statement"})
    tables = [
        crate.add_file(dest_path=name, properties=_described(files[name], name.rpartition("/tables/")[2]))
        for name in (member(recipe, path) for path in recipe.files)
    ]
    runs = crate.add_dataset(dest_path=f"{RESULTS}/", properties={"name": "Records, predictions, examples"})
    sources = [_add_source(crate, statement, path) for path in statement.sources]
    inputs, outputs = [one for one in sources if one.type == "File"], [runs, *tables]
    for role, name, entities in (
        ("input", "configuration", [stated]),
        ("input", "source", inputs),
        ("output", "result", outputs),
    ):
        if entities:
            parameter = crate.add_formal_parameter(name, "File", identifier=f"#{name}")
            workflow.append_to(role, parameter, compact=True)
            parameter["workExample"] = entities if len(entities) > 1 else entities[0]
            for entity in entities:
                entity["exampleOfWork"] = parameter
    action = crate.add_action(
        workflow,
        identifier=f"#run-of-{recipe.study}",
        object=[stated, *sources],
        result=outputs,
        properties={
            "name": f"Run of the study {recipe.study}",
            "actionStatus": "http://schema.org/CompletedActionStatus",
            "endTime": statement.finished,
        },
    )
    _describe_root(crate, statement, action)
    return dict(json.loads(json.dumps(crate.metadata.generate())))


def _describe_root(crate: ROCrate, statement: Statement, action: ContextEntity) -> None:
    recipe, root = statement.recipe, crate.root_dataset
    crate.name, crate.datePublished = f"{recipe.title} (pubmill study {recipe.study})", statement.finished
    crate.description = (
        f"Predictions, records and tables of a study at {recipe.scale_title}, with what they follow from."
    )
    words = {"name": "Terms of this archive", "description": TERMS_OF_USE}
    crate.license = crate.add(_entity(crate, "#terms", "CreativeWork", **words))
    for identifier, (name, number) in PROFILES.items():
        profile = crate.add(_entity(crate, identifier, "CreativeWork", name=name, version=number))
        root.append_to("conformsTo", profile)
    root["mentions"] = action
    if author := recipe.configuration.get("author"):
        person = crate.add(Person(crate, author["orcid"], properties={"name": author["name"]}))
        action["agent"] = root["author"] = person


def _add_source(crate: ROCrate, statement: Statement, path: str) -> ContextEntity:
    """Add the description of a source file, without its content; a file that the user provided has no URL."""
    source = statement.sources[path]
    about = {
        "name": below_sources(path),
        "contentSize": str(source.size),
        "sha256": source.sha256,
        "sdDatePublished": source.retrieved,
    }
    if source.url.startswith("https://"):
        entity = crate.add_file(source.url, properties=about)
    else:
        entity = crate.add(_entity(crate, f"#{quote(path)}", "CreativeWork", **about))
    if words := source.licence:
        licence = f"#licence-{hashlib.sha256(words.encode()).hexdigest()[:12]}"
        new = _entity(crate, licence, "CreativeWork", name=words, description=words)
        entity["license"] = crate.get(licence) or crate.add(new)
    return entity


def _described(path: Path, name: str) -> dict[str, str]:
    content = path.read_bytes()
    form = {"encodingFormat": FORMATS[path.suffix]} if path.suffix in FORMATS else {}
    digest = hashlib.sha256(content).hexdigest()
    return {"name": name, "contentSize": str(len(content)), "sha256": digest, **form}


def _entity(crate: ROCrate, identifier: str, kind: str, **properties: Any) -> ContextEntity:
    return ContextEntity(crate, identifier, properties={"@type": kind, **properties})


def written(statement: Statement, files: Mapping[str, Path]) -> dict[str, str]:
    """Return the members that are written from a statement and the other files: name -> text."""
    as_text = {STATEMENT: as_values(statement), METADATA: metadata(statement, files)}
    texts = {name: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for name, value in as_text.items()}
    return {README: readme(statement), **texts}
