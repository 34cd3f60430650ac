"""Costs of jobs: training operations, seconds of one core, and bytes. Each figure names its source."""

from collections.abc import Mapping
from typing import NamedTuple

from pubmill.graph import Graph
from pubmill.graph.contamination_jobs import PARTS_AT_ONCE
from pubmill.optimisers import OPTIMISERS
from pubmill.planning.gpus import Gpus
from pubmill.pretraining.arithmetic import SIZES, NetworkShape, operations, parameters, shape_of
from pubmill.pretraining.step_costs import operations_of_step
from pubmill.recipes import Architecture
from pubmill.specs import ArchiveWeights, DatasetSpec, FolderWeights, LearntVocabSpec, RecipeWeights, Specs

PIECES = 30_522
"""Assumed size of a vocabulary that is not learnt here: BERT's."""

TOKENS = {"tokens": 40, "sequence": 60, "multilabel": 300, "regression": 70, "span": 250}
"""Kind of examples -> assumed number of subwords in one example; `max_length` is the upper limit."""
COUNTED = ("examples", "sentences", "questions")
"""Counts that may serve as a dataset's number of examples; the first known one is used."""


class Seconds(NamedTuple):
    """Seconds of one core for one job of a rule, and the source of that figure."""

    seconds: float
    source: str


ASSUMED = Seconds(5, "assumed: start-up, and little to do")
_BASELINE = "measured: benchmarks/README.md, files of 30,000 citations"
_PARTS = "measured a document: benchmarks/README.md; assumed: 30,000 documents a part"
RULES: Mapping[str, Seconds] = {
    "parse_medline": Seconds(4.6, _BASELINE),
    "select_documents": Seconds(1.9, f"{_BASELINE}; assumed of others"),
    "fingerprint": Seconds(30_000 / 7_300, _PARTS),
    "find_contamination": Seconds(PARTS_AT_ONCE * 30_000 / 4_900, f"{_PARTS}, {PARTS_AT_ONCE} parts"),
    "count_words": Seconds(
        28.5 * 8.0 / 108, "measured a byte: benchmarks/README.md; assumed: 28.5 MB a part"
    ),
    "latest_versions": Seconds(60, "measured: benchmarks/README.md, 40 million ids"),
    "parse_pmc": Seconds(
        6_000 / 1_300, "measured an article: benchmarks/README.md; assumed: 6,000 in a shard"
    ),
    "pack": Seconds(600, "assumed"),
}
"""Rules whose jobs take longer than starting the program."""

PUBMED_FILE = 39e6
"""Bytes of a compressed PubMed file, measured on a file of 30,000 citations."""
BYTES = {"parse_medline": 22e6, "parse_pmc": 150e6, "select_documents": 15e6, "fetch_pmc": 150e6}
"""Rule -> bytes that one job leaves on disk (assumed); for `fetch_pmc`, also the bytes that it downloads."""
PACKED = 2 * 28.5e6 / 5
"""Bytes of the packed tokens of one corpus part: two per token, which is assumed to have five characters."""


def pieces_of(specs: Specs, vocab: str) -> int:
    """Return the size of a vocabulary; a released one is assumed to have BERT's size."""
    spec = specs.vocabs[vocab]
    return spec.size if isinstance(spec, LearntVocabSpec) else PIECES


def operations_of_pretraining(graph: Graph, name: str, first: int, last: int) -> float:
    """Return the operations of a recipe's steps after `first`, up to and including `last`."""
    spec = graph.specs.pretraining[name]
    teacher = architecture_of(graph, spec.teacher) if spec.teacher else None
    return (last - first) * operations_of_step(spec.recipe, pieces_of(graph.specs, spec.vocab), teacher)


def operations_of_segment(graph: Graph, name: str, step: int) -> float:
    """Return the operations of the segment of a recipe that ends at `step`."""
    return operations_of_pretraining(
        graph, name, graph.pretrainings.previous_step(name, step) or first_step(graph, name), step
    )


def first_step(graph: Graph, name: str) -> int:
    """Return the step at which a recipe starts; not 0 if it continues another recipe's checkpoint."""
    start = graph.specs.pretraining[name].start
    return start.step if start and start.step else 0


def architecture_of(graph: Graph, model: str) -> Architecture:
    """The architecture of a model: its recipe's; of weights from elsewhere, that of the spec's `size`."""
    spec = graph.specs.models[model]
    if isinstance(spec.weights, RecipeWeights):
        return graph.specs.pretraining[spec.weights.recipe].recipe.architecture
    return SIZES[spec.size or ("large" if isinstance(spec.weights, FolderWeights) else "base")]


def shape_of_model(graph: Graph, model: str) -> NetworkShape:
    """Return the shape of a model's encoder."""
    return shape_of(architecture_of(graph, model), PIECES)


def parameters_of_model(graph: Graph, model: str) -> int:
    """Return the number of weights in a model's encoder."""
    return parameters(shape_of_model(graph, model))


def bytes_of_model(graph: Graph, model: str) -> float:
    """Return the bytes of a model's weights in float32."""
    return 4.0 * parameters_of_model(graph, model)


def bytes_of_url(graph: Graph, url: str) -> float | None:
    """Return the assumed bytes of a file to download: a PubMed file, or an archive with a model's weights."""
    if "/pubmed/" in url:
        return PUBMED_FILE
    for name, spec in graph.specs.models.items():
        if isinstance(spec.released, ArchiveWeights) and spec.released.url == url:
            return bytes_of_model(graph, name)
    return None


def examples_of(spec: DatasetSpec) -> int | None:
    """Return the number of training examples that the spec expects; None if it states no number."""
    counts = spec.expect.get("train", {})
    return next((counts[what] for what in COUNTED if what in counts), None)


def operations_of_finetuning(
    graph: Graph, protocol: str, model: str, dataset: str, setting: str, trial: str | None = None
) -> float | None:
    """Return the operations of one run (examples x tokens x epochs); None without a number of examples.

    The epochs are those of the `trial`; of a final run the most that the protocol allows, including the
    largest number in a grid.
    """
    data, spec = graph.specs.datasets[dataset], graph.specs.protocols[protocol]
    examples = examples_of(data)
    if examples is None:
        return None
    recipe = graph.runs.recipe(protocol, model, dataset, setting).values
    choosing = spec.settings[setting].chosen_by or setting
    if trial is None:
        epochs = [recipe.get("epochs", 0), *spec.grid(data, model, choosing).get("epochs", ())]
    else:
        epochs = [spec.points(data, model, choosing)[trial].get("epochs", recipe.get("epochs", 0))]
    length = min(TOKENS[data.kind], recipe.get("max_length", 512))
    seen = float(examples * max(epochs))
    return operations(
        shape_of_model(graph, model), seen * length, seen * length**2, seen * length, whole=True
    )


def parameters_of_recipe(graph: Graph, recipe: str) -> int:
    """Return the number of weights in the encoder that a recipe trains."""
    spec = graph.specs.pretraining[recipe]
    return parameters(shape_of(spec.recipe.architecture, pieces_of(graph.specs, spec.vocab)))


def bytes_of_checkpoint(graph: Graph, recipe: str) -> float:
    """Return the bytes of a checkpoint: weights and optimiser state, in float32."""
    optimiser = OPTIMISERS[graph.specs.pretraining[recipe].recipe.optimisation.optimiser]
    return float(optimiser.checkpoint_bytes * parameters_of_recipe(graph, recipe))


def share_of_pretraining(graph: Graph, gpus: Gpus, recipe: str) -> float:
    """Return the share of a GPU's peak that a pretraining recipe reaches."""
    trained = graph.specs.pretraining[recipe].recipe
    return gpus.share(trained.architecture, trained.sequence_length)


def share_of_finetuning(graph: Graph, gpus: Gpus, model: str) -> float:
    """Return the share of a GPU's peak that fine-tuning a model reaches."""
    return gpus.share(architecture_of(graph, model), TOKENS["tokens"], "finetuning")
