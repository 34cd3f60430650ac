"""Report requested targets that no rule can make, before Snakemake builds its graph.

Otherwise Snakemake reports a `MissingRuleException`, or the `KeyError` of a function that looks up a name.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from snakemake.io import strip_wildcard_constraints

from pubmill.errors import PubmillError, plainly
from pubmill.graph import Targets
from pubmill.graph.models import OFF_THE_SHELF
from pubmill.messages import commands
from pubmill.messages.nearest_names import SHOWN, nearest, unknown
from pubmill.specs import Specs, scales
from pubmill.specs.study import study_of_scale

BY_FOLDER = ("corpora", "vocabs", "pretraining", "models", "datasets")
"""Folders of the results whose own folders are named as specs are."""
OTHER_FOLDERS = ("parsed", "selected")
"""Folders beside them that are no spec's."""


def check_before_graph(workflow: Any, targets: Targets, studies: Path) -> None:
    """Make Snakemake check the requested rules and files once all rules are known.

    The targets of the command line reach the workflow only after its Snakefile is read, so the check is
    placed before the method that builds the graph; Snakemake's version is pinned.
    """
    build = workflow._build_dag

    def check_and_build() -> None:
        dag = workflow.dag
        check = plainly(partial(check_asked, targets=targets, studies=studies))
        patterns = {
            rule.name: [strip_wildcard_constraints(str(path)) for path in rule.output]
            for rule in workflow.rules
        }
        many = [rule.name for rule in dag.targetrules if rule.has_wildcards()]
        lost = [str(file) for file in dag.targetfiles if not dag.output_index.match_producers(file)]
        check([str(file) for file in dag.targetfiles], lost, many, patterns)
        build()

    workflow._build_dag = check_and_build


def check_asked(
    files: Iterable[str],
    lost: Iterable[str],
    many: Iterable[str],
    patterns: Mapping[str, list[str]],
    targets: Targets,
    studies: Path,
) -> None:
    """Raise a `PubmillError` for requested targets that no rule can make.

    `files`: all requested files; `lost`: those that no rule makes; `many`: requested rules with wildcards in
    their outputs; `patterns`: rule -> its outputs, with the names of wildcards in braces.
    """
    wrong = [_of_one_name(rule, patterns[rule]) for rule in sorted(many)]
    wrong += [text for file in sorted(files) for text in _strangers(file, targets)]
    if not wrong:
        wrong = [_why_lost(file, patterns, targets, studies) for file in sorted(lost)]
    if wrong:
        raise PubmillError("\n".join(wrong))


def _of_one_name(rule: str, outputs: list[str]) -> str:
    return f"rule {rule} makes many files; request one of them by its path: {outputs[0]}"


def _strangers(file: str, targets: Targets) -> Iterator[str]:
    """Names in a path of the results that no spec has."""
    for kind, name, known in _names_in(file.removeprefix(f"{targets.results}/"), targets.specs):
        if file.startswith(f"{targets.results}/") and name not in (*known, *OTHER_FOLDERS):
            yield f"{file}: {unknown(kind, name, known)}"


def _names_in(path: str, specs: Specs) -> Iterator[tuple[str, str, Iterable[str]]]:
    """What of a path below the results is a name: its kind, the name, and all names of that kind."""
    parts = PurePosixPath(path).parts
    match parts:
        case ("tables", paper, table):
            yield "table", f"{paper}/{table.split('.')[0]}", [*specs.tables, *specs.fact_tables]
        case ("pages", "datasets", page):
            yield "dataset", page.rpartition(".")[0], specs.datasets
        case ("runs", protocol, model, dataset, *_):
            yield "protocol", protocol, [*specs.protocols, OFF_THE_SHELF]
            yield "model", model, specs.models
            yield "dataset", dataset, specs.datasets
        case ("vocabs", _, "on", page):
            yield "vocabulary", parts[1], specs.vocabs
            yield "dataset", page.removesuffix(".json"), specs.datasets
        case (folder, name, _, *_) if folder in BY_FOLDER:
            kind = {"corpora": "corpus", "vocabs": "vocabulary", "pretraining": "recipe of pretraining"}
            yield kind.get(folder, folder.removesuffix("s")), name, getattr(specs, folder)


def _why_lost(file: str, patterns: Mapping[str, list[str]], targets: Targets, studies: Path) -> str:
    """Return a message on a target that no rule makes: the wrong scale, or a wrong name."""
    study = targets.study
    for scale in scales(studies.parent / "specs"):
        if scale != study.scale and file.startswith(f"{study.results}/{scale}/"):
            options = commands.configuration_options(study_of_scale(scale, studies, file))
            command = commands.snakemake(file, configuration=options)
            return (
                f"{file}: the configuration has scale {study.scale}, but the path has scale {scale}. "
                f"Run: {command}"
            )
    meant = {path: [path] for paths in patterns.values() for path in paths}
    if not file.startswith(f"{study.results}/"):
        meant |= {rule: [rule] for rule in patterns} | _by_name(targets)
    shown = dict.fromkeys(path for name in nearest(file, meant)[:SHOWN] for path in meant[name])
    listed = "\n  ".join(list(shown)[:SHOWN])
    return f"{file}: no rule has this name, and no rule makes this file. The nearest:\n  {listed}"


def _by_name(targets: Targets) -> dict[str, list[str]]:
    """Names of tables, models and datasets, and the files that a user means by them."""
    specs, results = targets.specs, targets.results
    meant = {name: [f"{results}/models/{name}/config.json"] for name in specs.models}
    meant |= {name: [f"{results}/datasets/{name}/card.json"] for name in specs.datasets}
    for table in targets.study.tables:
        for name in (table, PurePosixPath(table).name):
            meant.setdefault(name, []).append(f"{results}/tables/{table}.html")
    return meant
