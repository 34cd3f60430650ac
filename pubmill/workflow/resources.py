"""Memory and time that a job requests from a cluster; each retry requests more."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from pubmill.graph import Graph
from pubmill.optimisers import OPTIMISERS
from pubmill.planning import costs
from pubmill.planning.gpus import Gpus
from pubmill.specs import LearntVocabSpec, VocabSpec

HOUR, DAY = 60, 24 * 60
SLOWEST = "V100"
"""The graph does not know which GPU a job will get, so the slowest GPU of specs/gpus.yaml is assumed."""
MARGIN = 2.0
"""Requested time / expected time of a training job, because the share of a GPU's peak is an assumption."""


class Needs(NamedTuple):
    """Resources of a job.

    `memory`: MB (10^6 bytes), including the Snakemake process that runs the job on its node; `minutes`.
    """

    memory: int
    minutes: int


LITTLE = Needs(1_000, HOUR)
"""More than the peak of most programs (200 MB, benchmarks/README.md) plus that of Snakemake (150 MB)."""
RULES: Mapping[str, Needs] = {
    "parse_pmc": Needs(1_000, 4 * HOUR),
    "latest_versions": Needs(4_000, 2 * HOUR),  # measured: 2.3 GB for 40 million ids
    "locked_versions": Needs(4_000, 2 * HOUR),
    "lock_corpus": Needs(4_000, 2 * HOUR),
    "find_duplicates": Needs(8_000, 8 * HOUR),  # assumed, as all without a figure
    "index_evaluation_texts": Needs(2_000, HOUR),
    "find_contamination": Needs(1_000, 4 * HOUR),
    "corpus_statistics": Needs(2_000, 4 * HOUR),
    "train_vocab": Needs(4_000, 8 * HOUR),  # four million words at most
    "vocab_diagnosis": Needs(2_000, HOUR),
    "pack": Needs(4_000, DAY),
    "convert": Needs(2_000, HOUR),
    "transfer": Needs(8_000, 4 * HOUR),
    "annotate": Needs(8_000, 4 * HOUR),  # the larger pipelines of spaCy
    "table": Needs(2_000, HOUR),
    "compare": Needs(2_000, 4 * HOUR),
    "report": Needs(4_000, HOUR),
    "basis": Needs(2_000, 4 * HOUR),
    "proof": Needs(8_000, 4 * HOUR),
}
"""Rules that need more than LITTLE; training rules have functions of their own."""

SENTENCEPIECE = Needs(16_000, 8 * HOUR)
"""Assumed: its trainer holds all distinct words, and the unigram model an array of their suffixes."""
TORCH = 3_000
"""MB of a process with torch, transformers, a GPU context and a batch."""
WEIGHTS = 12
"""Bytes for each parameter of a model that is read, converted and written."""
UNKNOWN = 8 * HOUR
"""Minutes of a fine-tuning job if no spec states its number of examples."""


def resources(graph: Graph, gpus: Gpus) -> Callable[[str], dict[str, Callable[[Any, int], int]]]:
    """Return a function from a rule's name to its `mem_mb` and `runtime`: functions of wildcards and attempt.

    Memory doubles with each attempt; time is multiplied by the attempt's number. A pretraining job requests
    a day at most: the next attempt resumes where the time limit stopped it.
    """

    @cache
    def pretraining(recipe: str, step: int) -> Needs:
        return needs_of_pretraining(graph, gpus, recipe, step)

    @cache
    def finetuning(protocol: str, model: str, dataset: str, setting: str) -> Needs:
        return needs_of_finetuning(graph, gpus, protocol, model, dataset, setting)

    def needs(rule: str, of: Any) -> Needs:
        if rule == "pretrain":
            return pretraining(of.recipe, int(of.step))
        if rule in ("trial", "task_model", "finetune"):
            return finetuning(of.protocol, of.model, of.dataset, of.setting)
        if rule in ("export_model", "take_model"):
            return Needs(_memory_mb(WEIGHTS, costs.parameters_of_model(graph, of.model)), HOUR)
        if rule == "train_vocab" and _by_sentencepiece(graph.specs.vocabs[of.vocab]):
            return SENTENCEPIECE
        return RULES.get(rule, LITTLE)

    def resources_of(rule: str) -> dict[str, Callable[[Any, int], int]]:
        def mem_mb(wildcards: Any, attempt: int) -> int:
            return int(needs(rule, wildcards).memory * 2 ** (attempt - 1))

        def runtime(wildcards: Any, attempt: int) -> int:
            minutes = needs(rule, wildcards).minutes * attempt
            return min(minutes, DAY) if rule == "pretrain" else minutes

        return {"mem_mb": mem_mb, "runtime": runtime}

    return resources_of


def _by_sentencepiece(vocab: VocabSpec) -> bool:
    """Whether SentencePiece's own trainer learns the vocabulary."""
    return isinstance(vocab, LearntVocabSpec) and vocab.learner.startswith("sentencepiece")


def needs_of_pretraining(graph: Graph, gpus: Gpus, recipe: str, step: int) -> Needs:
    """Return what the segment of a recipe that ends at `step` needs on one GPU.

    On a CPU, the weights and optimiser state of training stay in memory; on a GPU they pass through it.
    """
    share = costs.share_of_pretraining(graph, gpus, recipe)
    minutes = _runtime_minutes(gpus, costs.operations_of_segment(graph, recipe, step), share)
    spec = graph.specs.pretraining[recipe]
    teacher = spec.teacher
    weights = costs.bytes_of_model(graph, teacher) / 1e6 if teacher else 0
    memory = _memory_mb(
        OPTIMISERS[spec.recipe.optimisation.optimiser].training_bytes,
        costs.parameters_of_recipe(graph, recipe),
    )
    return Needs(memory + round(weights), minutes)


def needs_of_finetuning(
    graph: Graph, gpus: Gpus, protocol: str, model: str, dataset: str, setting: str
) -> Needs:
    """Return what a run or a trial needs on one GPU."""
    operations = costs.operations_of_finetuning(graph, protocol, model, dataset, setting)
    share = costs.share_of_finetuning(graph, gpus, model)
    memory = _memory_mb(OPTIMISERS["adamw"].training_bytes, costs.parameters_of_model(graph, model))
    return Needs(memory, UNKNOWN if operations is None else _runtime_minutes(gpus, operations, share))


def _memory_mb(bytes_each: int, parameters: float) -> int:
    return round(TORCH + bytes_each * parameters / 1e6)


def _runtime_minutes(gpus: Gpus, operations: float, share: float) -> int:
    return max(HOUR, round(MARGIN * 60 * gpus.hours(operations, share)[SLOWEST]))
