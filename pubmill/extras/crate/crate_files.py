"""Pack a finished study as a Workflow Run RO-Crate: workflow, configuration, results, a list of all sources.

Profile: Workflow Run Crate 0.5 (https://w3id.org/ro/wfrun/workflow/0.5), on RO-Crate 1.1. The study's results
are copied into the crate. Sources, texts and weights are not; sources are identified by URL and hash. No
folder of the machine is named.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml
from rocrate.model import ComputationalWorkflow, ContextEntity, Person
from rocrate.rocrate import ROCrate

from pubmill.errors import PubmillError
from pubmill.extras.crate.crate_recipes import CrateRecipe
from pubmill.hardware import provenance
from pubmill.report.rendering import duration
from pubmill.storage.checksums import FOLDER_SUMS, write_folder_sums
from pubmill.storage.files import read_json, sha256, writing_folder
from pubmill.storage.result_paths import BELOW, Paths, below_sources, source_of_record
from pubmill.tables.cells import Provenance, read_table

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"
"""JSON-LD context that defines `sha256` and other terms."""
CODE_LICENCE = "https://spdx.org/licenses/Apache-2.0"
STUDY, README, CONFIG = "study.yaml", "README.md", "config.yaml"
IN_CRATE = Paths("results")
"""Paths of the results in the crate."""
NOWHERE: dict[str, object] = {"results": IN_CRATE.results, "mirror": None, "local_files": {}}
"""Neutral values in the crate for the keys of config.yaml that name folders of a machine."""
CONTENT = (
    "Tables, report, reproducibility checklist, dataset pages and proof of a study that pubmill ran, with "
    "the workflow, its specifications and the list of all source files. Sources, texts and weights are not "
    "in it; the proof has the labels of open datasets and of predictions on them."
)
TERMS_OF_USE = (
    "pubmill's code and specifications are under the Apache License 2.0. Tables, report and pages belong to "
    "those who ran the study. Source files, which are not in this crate, are under the terms that stand "
    "with each of them."
)
WORKFLOW = ("Snakefile", "LICENSE", "rules/**/*.smk", "specs/**/*.yaml", "specs/**/*.csv")
"""Files that define a study, below the checkout; the package itself is identified by its commit."""
FORMATS = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".sha256": "text/plain",
    ".tex": "application/x-tex",
    ".tsv": "text/tab-separated-values",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".zip": "application/zip",
}


def write_crate(recipe: CrateRecipe, results: Path, checkout: Path, output: Path) -> None:
    """Write the crate to the folder `output`; a `PubmillError` names the first missing file."""
    made_with = [read_table(results / BELOW.table(name, "json")).provenance for name in recipe.tables]
    with writing_folder(output) as temporary:
        _write_yaml(temporary / STUDY, recipe.configuration)
        config = yaml.safe_load((checkout / CONFIG).read_text(encoding="utf-8"))
        _write_yaml(temporary / CONFIG, config | NOWHERE)
        parts = (CONTENT, describe(recipe, made_with), how_to_verify(recipe), TERMS_OF_USE)
        readme = "\n\n".join([f"# {recipe.title}", *parts])
        (temporary / README).write_text(f"{readme}\n", encoding="utf-8")
        make_crate(recipe, results, checkout, temporary, made_with).write(temporary)
        write_folder_sums(temporary)


def how_to_verify(recipe: CrateRecipe) -> str:
    """Return the commands by which a reader verifies the crate, for its README."""
    lines = [f"sha256sum --check {FOLDER_SUMS}    # every file is as it was written"]
    for proof in (IN_CRATE.at(path) for path in recipe.results if path.endswith(".proof.zip")):
        lines += [f"unzip {proof} verify.py", f"python verify.py {proof}    # recomputes every number"]
    return "\n".join(["## How to verify it", "", "```sh", *lines, "```"])


def _write_yaml(path: Path, values: Mapping[str, Any]) -> None:
    text = yaml.safe_dump(dict(values), sort_keys=True, allow_unicode=True)
    path.write_text(text, encoding="utf-8")


def make_crate(
    recipe: CrateRecipe, results: Path, checkout: Path, written: Path, made_with: Sequence[Provenance]
) -> ROCrate:
    """Build a crate. `written`: folder of configurations, README; `made_with`: provenance of the tables."""
    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(CONTEXT)
    workflow = _add_workflow(crate, checkout, made_with)
    _add_file(crate, written / README, README, "What is in this crate")["about"] = crate.root_dataset
    defaults = "Defaults of pubmill's configuration, without folders of the machine"
    _add_file(crate, written / CONFIG, CONFIG, defaults)
    configuration = _add_file(crate, written / STUDY, STUDY, "Configuration, without folders of the machine")
    sources = [_add_source(crate, recipe, results, path) for path in sorted(recipe.sources)]
    products = [
        _add_file(crate, _existing_file(results / path), IN_CRATE.at(path), _result_name(path))
        for path in recipe.results
    ]
    begun = min((str(one["sdDatePublished"]) for one in sources), default=None)
    last = max((results / path).stat().st_mtime for path in recipe.results)
    ended = datetime.fromtimestamp(last, UTC).isoformat(timespec="seconds")
    _add_parameters(crate, workflow, configuration, sources, products)
    action = crate.add_action(
        workflow,
        identifier=f"#run-of-{recipe.study}",
        object=[configuration, *sources],
        result=_unwrap_single(products),
        properties={
            "name": f"Run of the study {recipe.study}",
            "description": describe(recipe, made_with),
            "actionStatus": "http://schema.org/CompletedActionStatus",
            "endTime": ended,
            **({"startTime": begun} if begun else {}),
        },
    )
    _describe_root(crate, recipe, action, ended)
    return crate


def describe(recipe: CrateRecipe, made_with: Sequence[Provenance]) -> str:
    """Describe the runs, their duration and their machines in sentences."""
    runs = (
        f"{name}: {one.runs} fine-tuning runs, {one.failed or 'none'} failed, {duration(one.seconds)}"
        for name, one in zip(recipe.tables, made_with, strict=True)
    )
    machines = dict.fromkeys(machine for one in made_with for machine in one.hardware)
    commits = dict.fromkeys(commit for one in made_with for commit in one.commits)
    parts = {
        "Runs": "; ".join(runs),
        "Machines": "; ".join(machines),
        "Commits of pubmill": ", ".join(commits),
    }
    return " ".join([f"At {recipe.scale_title}.", *(f"{k}: {v}." for k, v in parts.items() if v)])


def _add_workflow(crate: ROCrate, checkout: Path, made_with: Sequence[Provenance]) -> ComputationalWorkflow:
    """Add the Snakefile as the main workflow, with the files that it includes and the packages used."""
    files = sorted({path for pattern in WORKFLOW for path in checkout.glob(pattern)})
    code = crate.add(_make_entity(crate, CODE_LICENCE, "CreativeWork", name="Apache License 2.0"))
    for path in files:
        if path.name != "Snakefile":
            shown = path.relative_to(checkout).as_posix()
            _add_file(crate, path, shown, f"pubmill: {shown}")["license"] = code
    workflow = crate.add_workflow(
        checkout / "Snakefile",
        "Snakefile",
        main=True,
        lang="snakemake",
        lang_version=version("snakemake"),
        properties={
            **_file_properties(checkout / "Snakefile"),
            "encodingFormat": "text/x-python",
            "name": "pubmill",
            "description": "From PubMed citations to the result tables of biomedical language model papers",
            "version": provenance.commit() or "not recorded",
            "conformsTo": {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"},
        },
    )
    packages = [crate.add(one) for one in _package_entities(crate, made_with)]
    workflow["license"], workflow["softwareRequirements"] = code, _unwrap_single(packages)
    return workflow


def _package_entities(crate: ROCrate, made_with: Sequence[Provenance]) -> Iterator[ContextEntity]:
    """Yield every version of every package that a record names."""
    used = {(name, v) for one in made_with for name, versions in one.packages.items() for v in versions}
    for name, used_version in sorted(used):
        identifier = f"#{name}-{used_version}"
        yield _make_entity(crate, identifier, "SoftwareApplication", name=name, softwareVersion=used_version)


def _add_file(crate: ROCrate, path: Path, place: str, name: str) -> ContextEntity:
    """Add a file that is copied into the crate."""
    return crate.add_file(path, place, properties={"name": name, **_file_properties(path)})


def _file_properties(path: Path) -> dict[str, str]:
    return {
        "encodingFormat": _media_type(path.name),
        "contentSize": str(path.stat().st_size),
        "sha256": sha256(path),
    }


def _media_type(name: str) -> str:
    return FORMATS.get(Path(name).suffix, "text/plain" if "." not in name else "application/octet-stream")


def _existing_file(path: Path) -> Path:
    """Return a path; a `PubmillError` if there is no such file."""
    if not path.is_file():
        raise PubmillError(f"{path} does not exist; a crate needs a finished study, so run the study first")
    return path


def _add_source(crate: ROCrate, recipe: CrateRecipe, results: Path, noted: str) -> ContextEntity:
    """Add the description of a source file, without its content; a file that the user provided has no URL."""
    record, path = read_json(_existing_file(results / noted)), source_of_record(noted)
    properties = {
        "name": below_sources(path),
        "encodingFormat": _media_type(path),
        "contentSize": str(record["bytes"]),
        "sha256": record["sha256"],
        "sdDatePublished": record["retrieved"],
    }
    if path in recipe.conditions:
        apply = recipe.conditions[path]
        whose = f"to be applied for at {apply}" if apply else "the user's own"
        properties["description"] = f"Not public; {whose}"
    if str(record["url"]).startswith("https://"):
        entity = crate.add_file(record["url"], properties=properties)
    else:
        entity = crate.add(_make_entity(crate, f"#{quote(path)}", "CreativeWork", **properties))
    if words := recipe.licences.get(path):
        licence = f"#licence-{hashlib.sha256(words.encode()).hexdigest()[:12]}"
        new = _make_entity(crate, licence, "CreativeWork", name=words, description=words)
        entity["license"] = crate.get(licence) or crate.add(new)
    return entity


def _add_parameters(
    crate: ROCrate,
    workflow: ComputationalWorkflow,
    configuration: ContextEntity,
    sources: Sequence[ContextEntity],
    products: list[ContextEntity],
) -> None:
    """Add the workflow's formal parameters, and connect them with the inputs and outputs of this run."""
    files = [one for one in sources if one.type == "File"]
    configurations = ("input", "configuration", [configuration])
    for role, name, entities in (configurations, ("input", "source", files), ("output", "result", products)):
        if entities:
            parameter = crate.add_formal_parameter(name, "File", identifier=f"#{name}")
            workflow.append_to(role, parameter, compact=True)
            parameter["workExample"] = _unwrap_single(entities)
            for entity in entities:
                entity["exampleOfWork"] = parameter


def _unwrap_single(entities: list[ContextEntity]) -> ContextEntity | list[ContextEntity]:
    """Return a list of one as its entity, as RO-Crate requires."""
    return entities[0] if len(entities) == 1 else entities


def _describe_root(crate: ROCrate, recipe: CrateRecipe, action: ContextEntity, ended: str) -> None:
    """Describe the crate as a whole: its content, terms and profiles."""
    root = crate.root_dataset
    crate.name, crate.datePublished = f"{recipe.title} (pubmill study {recipe.study})", ended
    crate.description = f"{CONTENT} At {recipe.scale_title}."
    terms = {"name": "Terms of this crate", "description": TERMS_OF_USE}
    crate.license = crate.add(_make_entity(crate, "#terms", "CreativeWork", **terms))
    for identifier, (name, number) in PROFILES.items():
        profile = _make_entity(crate, identifier, "CreativeWork", name=name, version=number)
        root.append_to("conformsTo", crate.add(profile))
    root["mentions"] = action
    if recipe.author:
        person = crate.add(Person(crate, recipe.author.orcid, properties={"name": recipe.author.name}))
        action["agent"] = root["author"] = person


def _result_name(path: str) -> str:
    """Return the name of a result, from its path."""
    kind, _, rest = path.partition("/")
    names: Mapping[str, str] = {"tables": "Table", "reports": "Report", "pages": "Page"}
    return f"{names.get(kind, kind)} {rest}"


def _make_entity(crate: ROCrate, identifier: str, kind: str, **properties: Any) -> ContextEntity:
    return ContextEntity(crate, identifier, properties={"@type": kind, **properties})
