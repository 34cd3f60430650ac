"""Costs of jobs: training operations, seconds of one core, and bytes. Each figure names its source."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pubmill.examples.kind_facts import FACTS
from pubmill.pretraining.arithmetic import (
    SIZES,
    NetworkShape,
    operations,
    operations_of_step,
    parameters,
    shape_of,
)
from pubmill.recipes import Architecture
from pubmill.recipes.models import LocalWeights
from pubmill.recipes.objectives import kind_of
from pubmill.specs import DatasetSpec, RecipeWeights, Specs
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import HOUR, Needs
from pubmill.storage.result_paths import RunKey

if TYPE_CHECKING:
    from pubmill.stages.study_graph import Graph

PIECES = 30_522
"""Assumed size of a vocabulary that is not learnt here: BERT's."""
NAMES = {
    "layers": ("num_hidden_layers", "n_layers", "n_layer", "num_layers"),
    "hidden": ("hidden_size", "dim", "n_embd", "d_model"),
    "intermediate": ("intermediate_size", "hidden_dim", "n_inner", "d_ff"),
}
"""Size of an encoder -> its names in the configurations of transformers' classes."""
COUNTED = ("examples", "sentences", "questions")
"""Counts that may serve as a dataset's number of examples; the first known one is used."""
MEASURED_FILES = "measured: benchmarks/README.md, files of 30,000 citations"
MEASURED_PARTS = "measured a document: benchmarks/README.md; assumed: 30,000 documents a part"
SENTENCEPIECE = Needs(16_000, 8 * HOUR)
"""Assumed: its trainer holds all distinct words, and the unigram model an array of their suffixes."""
TORCH = 3_000
"""MB of a process with torch, transformers, a GPU context and a batch."""
WEIGHTS = 12
"""Bytes for each parameter of a model that is read, converted and written."""
PUBMED_FILE = 39e6
"""Bytes of a compressed PubMed file, measured on a file of 30,000 citations."""
PUBMED_SHARD = 22e6
"""Bytes of the documents of a PubMed file, measured likewise."""
PMC_SHARD = 150e6
"""Bytes of a shard of PMC's articles, and of its documents (assumed)."""
PACKED = 2 * 28.5e6 / 5
"""Bytes of the packed tokens of one corpus part: two per token, which is assumed to have five characters."""


def memory_mb(bytes_each: int, parameters: float) -> int:
    """Return the MB of a job with a model, by the bytes of each of its parameters."""
    return round(TORCH + bytes_each * parameters / 1e6)


def pieces_of(specs: Specs, vocab: str) -> int:
    """Return the size of a vocabulary; a released one whose spec states none is assumed to have BERT's."""
    return specs.vocabs[vocab].size or PIECES


def operations_of_pretraining(graph: "Graph", name: str, first: int, last: int) -> float:
    """Return the operations of a recipe's steps after `first`, up to and including `last`."""
    spec = graph.specs.pretraining[name]
    teacher = architecture_of(graph, spec.teacher) if spec.teacher else None
    return (last - first) * operations_of_step(spec.recipe, pieces_of(graph.specs, spec.vocab), teacher)


def operations_of_segment(graph: "Graph", name: str, step: int) -> float:
    """Return the operations of the segment of a recipe that ends at `step`."""
    first = graph.pretrainings.previous_step(name, step) or first_step(graph, name)
    return operations_of_pretraining(graph, name, first, step)


def first_step(graph: "Graph", name: str) -> int:
    """Return the step at which a recipe starts; not 0 if it continues another recipe's checkpoint."""
    start = graph.specs.pretraining[name].start
    return start.step if start and start.step else 0


def architecture_of(graph: "Graph", model: str) -> Architecture:
    """The architecture of a model: its recipe's; of weights from elsewhere, that of the spec's `size`."""
    spec = graph.specs.models[model]
    if isinstance(spec.weights, RecipeWeights):
        return graph.specs.pretraining[spec.weights.recipe].recipe.architecture
    return SIZES[spec.size or ("large" if isinstance(spec.weights, LocalWeights) else "base")]


def shape_of_model(graph: "Graph", model: str) -> NetworkShape:
    """Return the shape of a model's encoder: from its recipe, else from its config.json in the results or in
    the user's folder, else from `size:` of its spec."""
    is_own = isinstance(graph.specs.models[model].weights, RecipeWeights)
    found = None if is_own else shape_of_configuration(graph.models.configuration(model), PIECES)
    return found or shape_of(architecture_of(graph, model), PIECES)


def shape_of_configuration(config: Mapping[str, Any], pieces: int) -> NetworkShape | None:
    """Return the sizes that a model's config.json states; None if it states no number of layers or width.
    Feed-forward layers of no stated width are four times as wide as the model, `pieces`: the size of
    a vocabulary of no stated size."""

    def number(*names: str) -> int:
        return next((config[one] for one in names if isinstance(config.get(one), int)), 0)

    layers, hidden, intermediate = (number(*names) for names in NAMES.values())
    if not (layers and hidden):
        return None
    kind, width = config.get("model_type"), number("embedding_size") or hidden
    gated = kind == "modernbert"
    return NetworkShape(
        layers=layers,
        hidden=hidden,
        intermediate=intermediate or 4 * hidden,
        embedding=width,
        projected=width != hidden or kind == "albert",
        pieces=number("vocab_size") or pieces,
        shared=kind == "albert",
        gated=gated,
        local=layers - -(-layers // (number("global_attn_every_n_layers") or 1)) if gated else 0,
        window=number("local_attention"),
    )


def parameters_of_model(graph: "Graph", model: str) -> int:
    """Return the number of weights in a model's encoder."""
    return parameters(shape_of_model(graph, model))


def bytes_of_model(graph: "Graph", model: str) -> float:
    """Return the bytes of a model's weights in float32."""
    return 4.0 * parameters_of_model(graph, model)


def examples_of(spec: DatasetSpec) -> int | None:
    """Return the number of training examples that the spec expects; None if it states no number."""
    counts = spec.expect.get("train", {})
    return next((counts[what] for what in COUNTED if what in counts), None)


def operations_of_finetuning(graph: "Graph", run: RunKey, trial: str | None = None) -> float | None:
    """Return the operations of one run (examples x tokens x epochs); None without a number of examples. The
    epochs are those of the `trial`; of a final run the most that the protocol allows, including the largest
    number in a grid."""
    data, spec = graph.specs.datasets[run.dataset], graph.specs.protocols[run.protocol]
    examples = examples_of(data)
    if examples is None:
        return None
    recipe = graph.runs.recipe(run)
    choosing = spec.choosing(run.setting)
    if trial is None:
        epochs = [recipe.get("epochs", 0), *spec.grid(data, run.model, choosing).get("epochs", ())]
    else:
        point = graph.runs.points(run._replace(setting=choosing))[trial]
        epochs = [point.get("epochs", recipe.get("epochs", 0))]
    assumed = FACTS[data.kind].subwords
    length = min(assumed, recipe.get("max_length", 512) or assumed)
    shape, seen = shape_of_model(graph, run.model), float(examples * max(epochs))
    return operations(shape, seen * length, seen * length**2, seen * length, whole=True)


def parameters_of_recipe(graph: "Graph", recipe: str) -> int:
    """Return the number of weights in the encoder that a recipe trains."""
    spec = graph.specs.pretraining[recipe]
    return parameters(shape_of(spec.recipe.architecture, pieces_of(graph.specs, spec.vocab)))


def share_of_pretraining(graph: "Graph", gpus: Gpus, recipe: str) -> float:
    """Return the share of a GPU's peak that a pretraining recipe reaches."""
    trained = graph.specs.pretraining[recipe].recipe
    slower = 1.0 if kind_of(trained.objective).in_bfloat16 else gpus.plain
    return slower * gpus.share(trained.architecture, trained.sequence_length)
