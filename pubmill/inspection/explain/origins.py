"""Origin of data and weights, down to source files, as far as the results folder records it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.recipes.models import LocalWeights, PretrainedWeights, RandomWeights
from pubmill.recipes.reading import as_values
from pubmill.report.study_report import read_pretraining, read_sources
from pubmill.stages import Graph
from pubmill.storage.files import read_json
from pubmill.storage.result_paths import DIAGNOSIS, RELATIVE, STATE, STATISTICS, Paths
from pubmill.tables.aggregation import machine

Account = dict[str, Any]
"""Name -> a value, a list, or another account; missing items have a note as their value."""
NOT_THERE = "not there"
SOURCE = ("url", "sha256", "bytes", "origin", "retrieved")


def dataset_account(graph: Graph, dataset: str) -> Account:
    """A dataset: terms, counts and hashes of its examples, each source file."""
    spec, path = graph.specs.datasets[dataset], Path(graph.paths.card(dataset))
    card = read_json(path) if path.is_file() else {}
    sources: Account = {}
    for role, file in graph.datasets.inputs(dataset).items():
        record = Path(graph.paths.source_record(file))
        content = read_json(record) if record.is_file() else None
        sources[role] = {key: content.get(key) for key in SOURCE} if content is not None else NOT_THERE
    return {
        "dataset": dataset,
        "access": spec.access,
        "licence": spec.licence,
        "converter": spec.converter,
        "counts": card.get("counts", NOT_THERE),
        "examples sha256": card.get("examples_sha256", NOT_THERE),
        "sources": sources,
    }


def weights_account(graph: Graph, model: str) -> Account:
    """Describe a model's weights: the release, or the recipe, corpus and vocabulary behind them."""
    weights = graph.models.weights(model)
    stated = {key: one for key, one in as_values(weights).items() if one is not None or key == "revision"}
    account = {"model": model, **stated, **graph.models.pin(model)}
    if isinstance(weights, LocalWeights):
        account["folder"] = graph.folders.find(weights.local) or NOT_THERE
    if isinstance(weights, PretrainedWeights):
        account |= _recipe_account(graph, weights.recipe, weights.step)
    elif isinstance(weights, RandomWeights):
        spec = graph.specs.pretraining[weights.recipe]
        network = spec.recipe.architecture
        sizes = as_values(network)
        if network.family != "modernbert":
            del sizes["rotary"]  # which only a ModernBERT has
        account |= {"architecture": sizes, "vocabulary": _vocabulary_account(graph, spec.vocab)}
    return account


def _recipe_account(graph: Graph, recipe: str, step: int) -> Account:
    """Describe a pretraining up to a checkpoint: initial weights, corpus, vocabulary and teacher."""
    spec = graph.specs.pretraining[recipe]
    state = Path(graph.paths.checkpoint(recipe, step, STATE))
    account: Account = {
        "checkpoint": RELATIVE.checkpoint(recipe, step),
        "training": _training_account(graph, recipe, step),
        "values": read_json(state).get("recipe")
        if state.is_file()
        else as_values(graph.specs.pretraining[recipe].recipe),
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
    records = [RELATIVE.source_record(Paths(results).below(file)) for file in files]
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
