"""Origin of data and weights, down to source files, as far as the results folder records it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.recipes.models import LocalWeights, PretrainedWeights, RandomWeights
from pubmill.recipes.writing import as_values
from pubmill.report.study_report import read_pretraining, read_sources
from pubmill.stages import Graph
from pubmill.storage.files import read_json
from pubmill.storage.result_paths import BELOW, DIAGNOSIS, STATE, STATISTICS, Paths
from pubmill.tables.aggregation import machine
from pubmill.tables.cells import read_as
from pubmill.tables.comparisons import Comparisons, ModelPair, RowComparisons

Account = dict[str, Any]
"""Name -> a value, a list, or another account; missing items have a note as their value."""
NOT_THERE = "not there"
OF_RECORDS = "matches the records"
COMPARE_ANEW = "make the comparisons again"
SAME = 1e-6
"""Points: differences closer than this are equal except for rounding."""
SOURCE = ("url", "sha256", "bytes", "origin", "retrieved")


def dataset_account(graph: Graph, dataset: str) -> Account:
    """A dataset: terms, counts and hashes of its examples, each source file."""
    spec, path = graph.specs.datasets[dataset], Path(graph.paths.card(dataset))
    card = read_json(path) if path.is_file() else {}
    inputs = graph.datasets.inputs(dataset).items()
    return {
        "dataset": dataset,
        "access": spec.access,
        "licence": spec.licence,
        "converter": spec.converter,
        "counts": card.get("counts", NOT_THERE),
        "examples sha256": card.get("examples_sha256", NOT_THERE),
        "sources": {role: _source_account(Path(graph.paths.source_record(file))) for role, file in inputs},
    }


def _source_account(record: Path) -> Any:
    if not record.is_file():
        return NOT_THERE
    content = read_json(record)
    return {key: content.get(key) for key in SOURCE}


def comparison_account(
    graph: Graph, table: str, row: str, column: str, scores: Mapping[str, float]
) -> Account | None:
    """Return the comparison of a cell with the best one of its row, or of the best one with all others; None
    if the cell is not compared. `scores`: column -> current points of all complete cells of the row."""
    file = BELOW.comparisons(table, "json")
    path = Path(graph.paths.at(file))
    if not path.is_file():
        return {"file": file, "compared": "not yet"}
    stored = read_as(Comparisons, path)
    of = next((one for one in stored.rows if one.row == row), None)
    pairs = [pair for pair in of.pairs if column in (of.best, pair.other)] if of else []
    if of is None or not pairs:
        due = column in scores and len(scores) > 1
        return {"file": file, "compared": f"not with these runs yet; {COMPARE_ANEW}"} if due else None
    same = _is_current(of, scores)
    return {
        "file": file,
        OF_RECORDS: same or f"no: the scores of its row have changed; {COMPARE_ANEW}",
        "best": stored.column_labels[of.best],
        "best minus": {stored.column_labels[pair.other]: _pair_account(pair) for pair in pairs},
        "drawn": f"{of.units} {of.unit}s, {stored.resamplings} times",
        "method": stored.method,
    }


def _is_current(compared: RowComparisons, scores: Mapping[str, float]) -> bool:
    """Return whether exactly these models were compared, with the differences that they have now."""
    if {compared.best, *(pair.other for pair in compared.pairs)} != scores.keys():
        return False
    best = scores[compared.best]
    return all(abs(best - scores[pair.other] - pair.difference) < SAME for pair in compared.pairs)


def _pair_account(pair: ModelPair) -> Account:
    return {
        "difference": pair.difference,
        "interval": pair.interval or "not defined",
        "bootstrap p": pair.bootstrap_p,
        "adjusted bootstrap p": pair.bootstrap_adjusted,
        "randomisation p": pair.randomisation_p,
        "adjusted randomisation p": pair.randomisation_adjusted,
    }


def weights_account(graph: Graph, model: str) -> Account:
    """Describe a model's weights: the release, or the recipe, corpus and vocabulary behind them."""
    weights = graph.models.weights(model)
    account = {"model": model, **as_values(weights), **graph.models.pin(model)}
    if isinstance(weights, LocalWeights):
        account["folder"] = graph.folders.find(weights.local) or NOT_THERE
    if isinstance(weights, PretrainedWeights):
        account |= _recipe_account(graph, weights.recipe, weights.step)
    elif isinstance(weights, RandomWeights):
        spec = graph.specs.pretraining[weights.recipe]
        account |= {"architecture": as_values(spec.recipe.architecture)}
        account |= {"vocabulary": _vocabulary_account(graph, spec.vocab)}
    return account


def _recipe_account(graph: Graph, recipe: str, step: int) -> Account:
    """Describe a pretraining up to a checkpoint: initial weights, corpus, vocabulary and teacher."""
    spec = graph.specs.pretraining[recipe]
    account: Account = {
        "checkpoint": BELOW.checkpoint(recipe, step),
        "training": _training_account(graph, recipe, step),
        "values": _checkpoint_recipe(graph, recipe, step),
        "corpus": _corpus_account(graph, spec.corpus),
        "vocabulary": _vocabulary_account(graph, spec.vocab),
    }
    if spec.start and spec.start.model:
        account["began with"] = weights_account(graph, spec.start.model)
    elif spec.start and spec.start.recipe and spec.start.step:
        account["began with"] = _recipe_account(graph, spec.start.recipe, spec.start.step)
    if spec.teacher:
        account["teacher"] = weights_account(graph, spec.teacher)
    return account


def _checkpoint_recipe(graph: Graph, recipe: str, step: int) -> Any:
    """Return the recipe stored in a checkpoint; if the checkpoint is missing, the current recipe."""
    state = Path(graph.paths.checkpoint(recipe, step, STATE))
    return read_json(state).get("recipe") if state.is_file() else as_values(graph.pretrainings.recipe(recipe))


def _training_account(graph: Graph, recipe: str, step: int) -> Any:
    """Tokens, loss, time and machine of the checkpoint, from its own state and log."""
    folder = Path(graph.paths.checkpoint(recipe, step))
    if not (folder / STATE).is_file():
        return NOT_THERE
    run, state = read_pretraining(recipe, [folder]), read_json(folder / STATE)
    return {
        "step": run.steps,
        "tokens": run.tokens,
        "loss": run.last["loss"],
        "seconds": run.seconds,
        "machine": machine(state["hardware"]),
        **{key: state.get(key) for key in ("commit", "python", "packages")},
    }


def _corpus_account(graph: Graph, corpus: str) -> Account:
    """Counts of a corpus, and its source files by folder."""
    statistics = Path(graph.paths.corpus(corpus, STATISTICS))
    figures = read_json(statistics) if statistics.is_file() else {}
    kept = ("documents", "words", "bytes", "parsed", "rejected")
    counts = {key: figures[key] for key in kept if key in figures} or NOT_THERE
    account = {"corpus": corpus, "counts": counts}
    try:
        files = [shard.file for shard in graph.corpora.shards(corpus)]
    except PubmillError as error:
        return {**account, "sources": f"not known: {error}"}
    return {**account, "sources": source_folders(Path(graph.results), files)}


def source_folders(results: Path, files: Iterable[str]) -> Any:
    """Source files by folder; a folder of many files has one digest for all."""
    records = [BELOW.source_record(Paths(results).below(file)) for file in files]
    there = [record for record in records if (results / record).is_file()]
    folders: Account = {
        one.name: {
            "files": one.count,
            "bytes": one.bytes,
            "retrieved": one.retrieved,
            "origin": ", ".join(one.origins),
            "sha256 of the list": one.sha256,
            **{str(file["name"]): {key: file[key] for key in SOURCE} for file in one.files},
        }
        for one in read_sources(results, there)
    }
    lacking = len(records) - len(there)
    return folders | ({NOT_THERE: f"{lacking} of {len(records)} files"} if lacking else {})


def _vocabulary_account(graph: Graph, vocab: str) -> Account:
    """Return what a vocabulary's diagnosis reports."""
    path = Path(graph.paths.vocab(vocab, DIAGNOSIS))
    diagnosis: Mapping[str, Any] = read_json(path) if path.is_file() else {}
    kept = ("size", "documents", "words", "subwords_per_word")
    spec = graph.specs.vocabs[vocab].model_dump(include={"kind", "corpus", "model"}, exclude_none=True)
    facts = {key: diagnosis[key] for key in kept if key in diagnosis}
    return {"vocabulary": vocab, **spec, **(facts or {"diagnosis": NOT_THERE})}
