"""Report requested targets that no rule can make, before Snakemake builds its graph. Otherwise Snakemake
reports a `MissingRuleException`, or the `KeyError` of a function that looks up a name."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from snakemake.io import strip_wildcard_constraints

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.wording import SHOWN, nearest, unknown
from pubmill.specs import scales
from pubmill.specs.study import study_of_scale
from pubmill.stages import Graph
from pubmill.stages.pipelines import OFF_THE_SHELF
from pubmill.storage.names_in_paths import names_in
from pubmill.storage.result_paths import paths_of_scale

KINDS = {"corpora": "corpus", "vocabs": "vocabulary", "pretraining": "recipe of pretraining"}
"""Kinds of specs whose word is not the folder's name without its `s`."""


def check_requested(workflow: Any, graph: Graph, studies: Path) -> None:
    """Check the rules and files that a command requests, once all rules are known."""
    dag = workflow.dag
    patterns = {
        rule.name: [strip_wildcard_constraints(str(path)) for path in rule.output] for rule in workflow.rules
    }
    many = [rule.name for rule in dag.targetrules if rule.has_wildcards()]
    lost = [str(file) for file in dag.targetfiles if not dag.output_index.match_producers(file)]
    check_asked([str(file) for file in dag.targetfiles], lost, many, patterns, graph, studies)


def check_asked(
    files: Iterable[str],
    lost: Iterable[str],
    many: Iterable[str],
    patterns: Mapping[str, list[str]],
    graph: Graph,
    studies: Path,
) -> None:
    """Raise a `PubmillError` for requested targets that no rule can make, or for all files that requested
    datasets lack. `files`: all requested files; `lost`: those that no rule makes; `many`: requested rules
    with wildcards in their outputs; `patterns`: rule -> its outputs, with the names of wildcards in
    braces."""
    wrong = [
        f"rule {rule} makes many files; request one of them by its path: {patterns[rule][0]}"
        for rule in sorted(many)
    ]
    wrong += [text for file in sorted(files) for text in _unknown_names(file, graph)]
    if not wrong:
        wrong = [_lost_target_message(file, patterns, graph, studies) for file in sorted(lost)]
    if wrong:
        raise PubmillError("\n".join(wrong))
    named = [one for file in sorted(files) for one in _names_in(file, graph)]
    graph.access.check(*dict.fromkeys(name for kind, name in named if kind == "datasets"))


def _names_in(file: str, graph: Graph) -> Iterator[tuple[str, str]]:
    """Kinds and names in a path of the results."""
    yield from names_in(graph.paths.below(file)) if file.startswith(graph.paths.at("")) else ()


def _unknown_names(file: str, graph: Graph) -> Iterator[str]:
    """Names in a path of the results that no spec has."""
    further: dict[str, Iterable[str]] = {"tables": graph.specs.fact_tables, "protocols": [OFF_THE_SHELF]}
    for kind, name in _names_in(file, graph):
        known = [*getattr(graph.specs, kind), *further.get(kind, ())]
        if name not in known:
            yield f"{file}: {unknown(KINDS.get(kind, kind.removesuffix('s')), name, known)}"


def _lost_target_message(file: str, patterns: Mapping[str, list[str]], graph: Graph, studies: Path) -> str:
    """Return a message on a target that no rule makes: the wrong scale or study, or a wrong name."""
    study = graph.study
    for scale in scales(studies.parent / "specs"):
        if file.startswith(paths_of_scale(scale, study.results).at("")):
            files = study_of_scale(scale, studies, file)
            command = commands.run_files(file, configuration=commands.configuration_options(files))
            if scale != study.scale:
                return (
                    f"{file}: the configuration has scale {study.scale}, but the path has scale {scale}. "
                    f"Run: {command}"
                )
            own = [Path(one).stem for one in files]
            match PurePosixPath(graph.paths.below(file)).parts:
                case ("tables", owner, _) if owner != study.study and owner in own:
                    return (
                        f"{file}: the configuration has study {study.study}, but this is a table of study "
                        f"{owner}. Run: {command}"
                    )
    meant = {path: [path] for paths in patterns.values() for path in paths}
    if not file.startswith(f"{study.results}/"):
        meant |= {rule: [rule] for rule in patterns} | _files_by_name(graph)
    shown = dict.fromkeys(path for name in nearest(file, meant)[:SHOWN] for path in meant[name])
    listed = "\n  ".join(list(shown)[:SHOWN])
    return f"{file}: no rule has this name, and no rule makes this file. The nearest:\n  {listed}"


def _files_by_name(graph: Graph) -> dict[str, list[str]]:
    """Names of tables, models and datasets, and the files that a user means by them."""
    specs, paths = graph.specs, graph.paths
    meant = {name: [paths.model(name, "config.json")] for name in specs.models}
    meant |= {name: [paths.card(name)] for name in specs.datasets}
    for table in graph.study.tables:
        for name in (table, PurePosixPath(table).name):
            meant.setdefault(name, []).append(paths.table(table, "html"))
    return meant
