"""`pubmill update`."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pubmill.cli import studies
from pubmill.cli.checkout import checkout, find_modules, provide_mirror, show
from pubmill.cli.dry_runs import DRY, writes_nothing_if_dry
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages import commands

if TYPE_CHECKING:
    from pubmill.inspection.pubmed_updates import SourceUpdate
    from pubmill.stages import Graph

STATE = Path(".snakemake/pubmill-update.json")
"""What an update began with, until it has reported what changed; also if it is killed."""


@writes_nothing_if_dry
def update(context: typer.Context, study: studies.StudyName) -> None:
    """Fetch new files of PubMed, and run what depends on them.

    Prints how many documents are new, reappeared, revised, retracted or deleted.

    The specs of the study's corpora name the new files afterwards. Parts of a corpus in which no document
    changed stay as they are. With -n, only the new files are listed.

    TABLES follow the study, or files of the results, then options of Snakemake, as in run.
    """
    find_modules(checkout())
    words = studies.sort_words(context.args)
    files = studies.study_files(study)
    config = studies.configuration([*files, *words.configfiles], words.settings)
    provide_mirror(config["mirror"])
    targets = [studies.target_of_study(name, config) for name in words.names]
    settings = [*files, *words.configfiles]
    dry = bool(DRY.intersection(words.options))
    before = _begin(config, settings, dry)
    if dry:
        return
    graph = _graph(config, settings)
    corpora = _corpora(graph)
    arguments = studies.snakemake_words([], files, words)
    _divide(graph, corpora, "latest", arguments)
    _report(graph, before)
    copies = [name for name in corpora if graph.specs.corpora[name].duplicates]
    _divide(graph, copies, "duplicates", arguments)
    STATE.unlink(missing_ok=True)
    _run(targets, arguments)


def _begin(config: dict[str, Any], files: Sequence[str], dry: bool) -> dict[str, dict[str, int]]:
    """Write the specs with the new files, unless `dry`; return the shards of each corpus before it."""
    from pubmill.inspection.pubmed_updates import check_updated, updated_specs
    from pubmill.storage.files import read_json, write_json

    state = read_json(STATE) if STATE.is_file() else {"before": {}, "specs": {}}
    if not dry:
        _write_specs(state["specs"])  # an update was killed while it wrote them
    graph = _graph(config, files)
    updates = _updates(graph, config["mirror"])
    if dry:
        return {}
    before = {corpus: _shards(graph, corpus) for corpus in _corpora(graph)}
    before |= state["before"]
    changed = own_files(updated_specs(graph.study.scale, _corpora(graph), studies.specs_folder(), updates))
    old = {path: Path(path).read_text(encoding="utf-8") for path in changed}
    write_json(STATE, {"before": before, "specs": changed})
    _write_specs(changed)
    try:
        check_updated(_graph(config, files).specs, _corpora(graph), updates)
    except PubmillError:
        _write_specs(old)
        STATE.unlink()
        raise
    write_json(STATE, {"before": before, "specs": {}})
    for path in changed:
        print(f"{path} names the new files")
    return before


def _updates(graph: "Graph", mirror: str | None) -> "dict[str, SourceUpdate]":
    """Return the updates of the PubMed sources of a study that have new files, and print them."""
    from pubmill.inspection.pubmed_updates import pubmed_sources, source_update

    updates = {}
    for name, source in {one.name: one for _, one in pubmed_sources(graph.specs, _corpora(graph))}.items():
        update = source_update(source, mirror)
        number = len(update.added)
        span = f": {update.added[0]}" + (f" to {update.added[-1]}" if number > 1 else "") if number else ""
        print(f"{name}: {number} new {'file' if number == 1 else 'files'}{span}", flush=True)
        if update.added:
            updates[name] = update
    return updates


def _corpora(graph: "Graph") -> list[str]:
    """Return the corpora that the models and vocabularies of a study are made from."""
    from pubmill.specs import LearntVocabSpec

    specs = graph.specs
    recipes = [specs.pretraining[name] for name in graph.scope.pretrainings()]
    learnt = [specs.vocabs[recipe.vocab] for recipe in recipes]
    named = {recipe.corpus for recipe in recipes}
    return sorted(named | {vocab.corpus for vocab in learnt if isinstance(vocab, LearntVocabSpec)})


def _graph(config: dict[str, Any], files: Sequence[str]) -> "Graph":
    from pubmill.specs.study import check_study
    from pubmill.stages import Graph

    return Graph(*check_study(config, studies.specs_folder(), list(files)))


def _shards(graph: "Graph", corpus: str) -> dict[str, int]:
    """Return the parsed shards of a corpus, with the ranks of their sources."""
    ranks = {source.name: rank for rank, source in enumerate(graph.specs.corpora[corpus].sources)}
    shards = graph.corpora.shards(corpus)
    return {graph.paths.parsed_shard(shard.source, shard.name): ranks[shard.source] for shard in shards}


def own_files(texts: Mapping[Path, str]) -> dict[str, str]:
    """Return the texts by the files of this folder that specs are, or that they link to in a workspace.

    Raise a `PubmillError` for a spec of the installed package.
    """
    here, files = Path.cwd().resolve(), dict[str, str]()
    for path, text in texts.items():
        if not path.resolve().is_relative_to(here):
            raise PubmillError(
                f"{path} is pubmill's own and names the files of the corpus; copy it to "
                f"{Path(*path.parts[-3:])} here, where an update may change it, and run this again"
            )
        files[str(path.resolve().relative_to(here))] = text
    return files


def _write_specs(texts: Mapping[str, str]) -> None:
    from pubmill.storage.files import writing

    for name, text in texts.items():
        with writing(Path(name)) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _report(graph: "Graph", before: Mapping[str, Mapping[str, int]]) -> None:
    """Print which documents of each corpus changed; nothing of a corpus that was not made before."""
    from pubmill.corpus.document_versions import changes

    for corpus, shards in before.items():
        old = {Path(path): rank for path, rank in shards.items()}
        new = {Path(path): rank for path, rank in _shards(graph, corpus).items()}
        if old != new and all(map(Path.is_file, old)):
            print(f"{corpus}:", flush=True)
            for change in changes(old, new, Path(graph.paths.corpus(corpus, "changes"))):
                print(f"  {change.documents} {change.kind}: {', '.join(change.ids)} ...", flush=True)


def _divide(graph: "Graph", corpora: Sequence[str], table: str, arguments: Sequence[str]) -> None:
    """Bring a table of some corpora, its blocks and then its parts to the new files.

    Each is a run of Snakemake, because a graph only sees at its beginning which files stayed the same.
    """
    if corpora:
        _run([path for name in corpora for path in graph.paths.blocks(name, table)], arguments)
        _run([path for name in corpora for path in graph.selection.divided(name, table)], arguments)


def _run(targets: Sequence[str], arguments: Sequence[str]) -> None:
    """Run Snakemake for some files; without any, for the whole study. Its failure ends the update."""
    shown = [*targets[:1], *(["..."] if targets[1:] else []), *arguments]
    show(commands.run(commands.program("snakemake"), *shown))
    words = [*targets, *arguments]
    done = subprocess.run([sys.executable, "-m", "snakemake", "--logger=pubmill", *words], check=False)
    if done.returncode:
        sys.exit(done.returncode)


VERB = Verb("Run", update, passes_on=True)
