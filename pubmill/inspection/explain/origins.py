"""Origin of data and weights, down to source files, as far as the results folder records it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.recipes.models import LocalWeights, PretrainedWeights, RandomWeights
from pubmill.recipes.reading import as_values
from pubmill.report.study_report import read_log, read_sources
from pubmill.stages import Graph
from pubmill.storage.files import read_json
from pubmill.storage.result_paths import DIAGNOSIS, RELATIVE, STATE, STATISTICS, Paths
from pubmill.tables.aggregation import machine

Account = dict[str, Any]
"""Name -> a value, a list, or another account; missing items have a note as their value."""
NOT_THERE = "not there"
SOURCE = ("url", "sha256", "bytes", "origin", "retrieved")


def _content(file: str) -> Account:
    """Return the content of a JSON file, empty if it is not there."""
    return dict(read_json(Path(file))) if Path(file).is_file() else {}


def dataset_account(graph: Graph, dataset: str) -> Account:
    """A dataset: terms, counts and hashes of its examples, each source file."""
    spec, card = graph.specs.datasets[dataset], _content(graph.paths.card(dataset))
    sources: Account = {}
    for role, file in graph.datasets.inputs(dataset).items():
        content = _content(graph.paths.source_record(file))
        sources[role] = {key: content.get(key) for key in SOURCE} if content else NOT_THERE
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
    state = _content(graph.paths.checkpoint(recipe, step, STATE))
    training: Account = {}
    if state:  # tokens, loss, time and machine, from the checkpoint's own state and log
        log = read_log(Path(graph.paths.checkpoint(recipe, step, "log.jsonl")))
        training = {"step": state["step"], "tokens": state["tokens"], "loss": log[-1]["loss"]}
        training |= {"seconds": state["seconds"], "machine": machine(state["hardware"])}
        training |= {key: state.get(key) for key in ("commit", "python", "packages")}
    account: Account = {
        "checkpoint": RELATIVE.checkpoint(recipe, step),
        "training": training or NOT_THERE,
        "values": state.get("recipe") if state else as_values(graph.pretrainings.recipe(recipe)),
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


def _corpus_account(graph: Graph, corpus: str) -> Account:
    """Counts of a corpus, and its source files by folder."""
    figures = _content(graph.paths.corpus(corpus, STATISTICS))
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
    diagnosis = _content(graph.paths.vocab(vocab, DIAGNOSIS))
    kept = ("size", "documents", "words", "subwords_per_word")
    spec = graph.specs.vocabs[vocab].model_dump(include={"kind", "corpus", "model"}, exclude_none=True)
    facts = {key: diagnosis[key] for key in kept if key in diagnosis}
    return {"vocabulary": vocab, **spec, **(facts or {"diagnosis": NOT_THERE})}
