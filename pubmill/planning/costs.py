"""What jobs cost: operations of trainings, seconds of one core, bytes. Each figure says where it is from."""

from collections.abc import Mapping
from typing import NamedTuple

from pubmill.graph import Targets
from pubmill.graph.selection import PARTS_AT_ONCE
from pubmill.optimisers import OPTIMISERS
from pubmill.planning.gpus import Gpus
from pubmill.pretraining.arithmetic import Shape, operations, parameters, shape_of
from pubmill.pretraining.step_costs import operations_of_step
from pubmill.recipes import Architecture
from pubmill.specs import DatasetSpec, FolderWeights, LearntVocabSpec, RecipeWeights, Specs

PIECES = 30_522
"""Size of a vocabulary that is not learnt here: BERT's."""
BASE = Architecture(family="bert", layers=12, hidden_size=768, attention_heads=12, intermediate_size=3072)
LARGE = Architecture(family="bert", layers=24, hidden_size=1024, attention_heads=16, intermediate_size=4096)
SIZES = {"base": BASE, "large": LARGE}

TOKENS = {"tokens": 40, "sequence": 60, "multilabel": 300, "regression": 70, "span": 250}
"""Kind of examples -> subwords of one, assumed; `max_length` is the most."""
COUNTED = ("examples", "sentences", "questions")
"""Counts of a dataset that may stand for its number of examples, the first that is known."""


class Seconds(NamedTuple):
    """Seconds of one core for a job of a rule, and where that is from."""

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
"""Rules that take longer than starting up."""

PUBMED_FILE = 39e6
"""Bytes of a compressed PubMed file, measured on one of 30,000 citations."""
BYTES = {"parse_medline": 22e6, "parse_pmc": 150e6, "select_documents": 15e6, "fetch_pmc": 150e6}
"""Bytes that a job of a rule leaves on disk, assumed; of fetching, those that come over the network, too."""
PACKED = 2 * 28.5e6 / 5
"""Bytes of the packed tokens of a part of a corpus: two a token, assumed to be five characters long."""


def pieces_of(specs: Specs, vocab: str) -> int:
    """The size of a vocabulary; that of a released one is taken to be BERT's."""
    spec = specs.vocabs[vocab]
    return spec.size if isinstance(spec, LearntVocabSpec) else PIECES


def operations_of_pretraining(targets: Targets, name: str, first: int, last: int) -> float:
    """Operations of the steps of a recipe after `first` up to `last`."""
    spec = targets.specs.pretraining[name]
    teacher = architecture_of(targets, spec.teacher) if spec.teacher else None
    return (last - first) * operations_of_step(spec.recipe, pieces_of(targets.specs, spec.vocab), teacher)


def operations_of_segment(targets: Targets, name: str, step: int) -> float:
    """Operations of the segment of a recipe that ends at `step`."""
    return operations_of_pretraining(
        targets, name, targets.previous_step(name, step) or first_step(targets, name), step
    )


def first_step(targets: Targets, name: str) -> int:
    """The step that a recipe begins at: another recipe's, where it goes on from that."""
    start = targets.specs.pretraining[name].start
    return start.step if start and start.step else 0


def architecture_of(targets: Targets, model: str) -> Architecture:
    """The architecture of a model: its recipe's; of weights from elsewhere, that of the spec's `size`."""
    spec = targets.specs.models[model]
    if isinstance(spec.weights, RecipeWeights):
        return targets.specs.pretraining[spec.weights.recipe].recipe.architecture
    return SIZES[spec.size or ("large" if isinstance(spec.weights, FolderWeights) else "base")]


def shape_of_model(targets: Targets, model: str) -> Shape:
    """The shape of a model's encoder."""
    return shape_of(architecture_of(targets, model), PIECES)


def parameters_of_model(targets: Targets, model: str) -> int:
    """Weights of a model's encoder."""
    return parameters(shape_of_model(targets, model))


def bytes_of_model(targets: Targets, model: str) -> float:
    """Its weights in float32."""
    return 4.0 * parameters_of_model(targets, model)


def examples_of(spec: DatasetSpec) -> int | None:
    """Examples of train, as the spec expects them; None where it names no number."""
    counts = spec.expect.get("train", {})
    return next((counts[what] for what in COUNTED if what in counts), None)


def operations_of_finetuning(
    targets: Targets, protocol: str, model: str, dataset: str, setting: str
) -> float | None:
    """Operations of one run: examples x tokens x epochs. None where the number of examples is unknown.

    Of epochs the most that the protocol allows are counted, a grid's largest number among them.
    """
    data, spec = targets.specs.datasets[dataset], targets.specs.protocols[protocol]
    examples = examples_of(data)
    if examples is None:
        return None
    recipe = targets.run_recipe(protocol, model, dataset, setting)
    choosing = spec.settings[setting].chosen_by or setting
    epochs = [recipe.get("epochs", 0), *spec.grid(data, model, choosing).get("epochs", ())]
    length = min(TOKENS[data.kind], recipe.get("max_length", 512))
    seen = float(examples * max(epochs))
    return operations(
        shape_of_model(targets, model), seen * length, seen * length**2, seen * length, whole=True
    )


def parameters_of_recipe(targets: Targets, recipe: str) -> int:
    """Weights of the encoder that a recipe trains."""
    spec = targets.specs.pretraining[recipe]
    return parameters(shape_of(spec.recipe.architecture, pieces_of(targets.specs, spec.vocab)))


def bytes_of_checkpoint(targets: Targets, recipe: str) -> float:
    """Weights and the optimiser's state, in float32."""
    optimiser = OPTIMISERS[targets.specs.pretraining[recipe].recipe.optimisation.optimiser]
    return float(optimiser.checkpoint_bytes * parameters_of_recipe(targets, recipe))


def share_of_pretraining(targets: Targets, gpus: Gpus, recipe: str) -> float:
    """The share of a GPU's peak that a recipe reaches."""
    of = targets.specs.pretraining[recipe].recipe
    return gpus.share(of.architecture, of.sequence_length)


def share_of_finetuning(targets: Targets, gpus: Gpus, model: str) -> float:
    """The share of a GPU's peak that fine-tunings of a model reach."""
    return gpus.share(architecture_of(targets, model), TOKENS["tokens"], "finetuning")
