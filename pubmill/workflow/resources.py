"""Memory and time that a job asks of a cluster; more at each further attempt."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from pubmill.graph import Targets
from pubmill.optimisers import OPTIMISERS
from pubmill.planning import costs
from pubmill.planning.gpus import Gpus
from pubmill.specs import LearntVocabSpec, VocabSpec

HOUR, DAY = 60, 24 * 60
SLOWEST = "V100"
"""The graph doesn't know which GPU a job will get: it is taken to be the slowest of specs/gpus.yaml."""
MARGIN = 2.0
"""A training may take so many times what is expected of it: the share of a GPU's peak is an assumption."""


class Needs(NamedTuple):
    """`memory` in MB (10^6 bytes), that of the Snakemake that runs a job on its node included; `minutes`."""

    memory: int
    minutes: int


LITTLE = Needs(1_000, HOUR)
"""Above the peak of most programs (200 MB, benchmarks/README.md) and of Snakemake beside them (150 MB)."""
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
    "annotate": Needs(8_000, 4 * HOUR),  # the larger pipelines of spaCy
    "table": Needs(2_000, HOUR),
    "compare": Needs(2_000, 4 * HOUR),
    "report": Needs(4_000, HOUR),
}
"""Rules that need more than a little; those that train have functions of their own."""

SENTENCEPIECE = Needs(16_000, 8 * HOUR)
"""Assumed: its trainer holds all distinct words, and the unigram model an array of their suffixes."""
TORCH = 3_000
"""MB of a process with torch, transformers, a GPU's context and a batch."""
WEIGHTS = 12
"""Bytes for each parameter of a model that is read, converted and written."""
UNKNOWN = 8 * HOUR
"""Of a fine-tuning whose number of examples no spec names."""


def resources(targets: Targets, gpus: Gpus) -> Callable[[str], dict[str, Callable[[Any, int], int]]]:
    """A function from a rule's name to its `mem_mb` and `runtime`: functions of wildcards and attempt.

    Memory doubles at each attempt, time grows by as much again. A job of pretraining asks for a day at most:
    it goes on where the time ended it.
    """

    @cache
    def pretraining(recipe: str, step: int) -> Needs:
        return needs_of_pretraining(targets, gpus, recipe, step)

    @cache
    def finetuning(protocol: str, model: str, dataset: str, setting: str) -> Needs:
        return needs_of_finetuning(targets, gpus, protocol, model, dataset, setting)

    def needs(rule: str, of: Any) -> Needs:
        if rule == "pretrain":
            return pretraining(of.recipe, int(of.step))
        if rule in ("trial", "task_model", "finetune"):
            return finetuning(of.protocol, of.model, of.dataset, of.setting)
        if rule in ("export_model", "take_model"):
            return Needs(_memory(WEIGHTS, costs.parameters_of_model(targets, of.model)), HOUR)
        if rule == "train_vocab" and _by_sentencepiece(targets.specs.vocabs[of.vocab]):
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
    return isinstance(vocab, LearntVocabSpec) and vocab.learner != "merges"


def needs_of_pretraining(targets: Targets, gpus: Gpus, recipe: str, step: int) -> Needs:
    """What the segment of a recipe that ends at `step` needs on one GPU. On a processor all that training
    keeps is in memory; on a GPU it passes through it."""
    share = costs.share_of_pretraining(targets, gpus, recipe)
    minutes = _minutes(gpus, costs.operations_of_segment(targets, recipe, step), share)
    spec = targets.specs.pretraining[recipe]
    teacher = spec.teacher
    weights = costs.bytes_of_model(targets, teacher) / 1e6 if teacher else 0
    memory = _memory(
        OPTIMISERS[spec.recipe.optimisation.optimiser].training_bytes,
        costs.parameters_of_recipe(targets, recipe),
    )
    return Needs(memory + round(weights), minutes)


def needs_of_finetuning(
    targets: Targets, gpus: Gpus, protocol: str, model: str, dataset: str, setting: str
) -> Needs:
    """What a run or a trial needs on one GPU."""
    operations = costs.operations_of_finetuning(targets, protocol, model, dataset, setting)
    share = costs.share_of_finetuning(targets, gpus, model)
    memory = _memory(OPTIMISERS["adamw"].training_bytes, costs.parameters_of_model(targets, model))
    return Needs(memory, UNKNOWN if operations is None else _minutes(gpus, operations, share))


def _memory(bytes_each: int, parameters: float) -> int:
    return round(TORCH + bytes_each * parameters / 1e6)


def _minutes(gpus: Gpus, operations: float, share: float) -> int:
    return max(HOUR, round(MARGIN * 60 * gpus.hours(operations, share)[SLOWEST]))
