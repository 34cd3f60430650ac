"""Contradictory or impossible settings are refused; all others, up to the ends of their ranges, are not.

Defaults are part of every spec that does not name them: another value would silently change results.
"""

import re
from dataclasses import MISSING, fields
from typing import Any

import pytest

from pubmill.recipes import (
    Adversarial,
    Architecture,
    Causal,
    Distillation,
    FinetuningRecipe,
    Generator,
    Objective,
    Optimisation,
    PretrainingRecipe,
    VocabRecipe,
)
from pubmill.recipes.tables import EquivalenceRule

FINETUNING: dict[str, Any] = {
    "task": "sequence", "metric": "micro_f1", "batch_size": 8, "learning_rate": 1e-5, "epochs": 2,
}  # fmt: skip
GENERATOR = Generator(hidden_size=4, attention_heads=1, intermediate_size=8)
CAUSAL: dict[str, Any] = {"family": "modernbert", "pairs": "none", "batch_size": 1}
ARCHITECTURE: dict[str, Any] = {
    "family": "bert", "layers": 2, "hidden_size": 16, "attention_heads": 2, "intermediate_size": 32,
}  # fmt: skip


def is_only(message: str, beginning: str) -> bool:
    """Whether a message has one fault, which begins so; faults are separated by semicolons."""
    return message.startswith(beginning) and ";" not in message.removeprefix(beginning)


@pytest.mark.parametrize(
    ("kind", "defaults"),
    [
        (
            FinetuningRecipe,
            {
                "max_length": 512, "max_mention_length": 8, "stride": 128, "max_answer_length": 30,
                "n_best": 20, "head_dropout": 0.1,
                "crf": False, "oversample": False, "warmup": 0.1, "dropout": 0.1, "weight_decay": 0.0,
                "max_gradient_norm": 1.0, "bias_correction": True, "layerwise_decay": 1.0,
                "adam_epsilon": 1e-8, "reinitialised_layers": 0, "removed_layers": 0,
            },
        ),
        (
            Architecture,
            {"max_positions": 512, "dropout": 0.1, "initializer_range": 0.02, "scaled_initialisation": False},
        ),
        (Generator, {"weight": 50.0}),
        (Adversarial, {"weight": 10.0, "noise": 1e-2, "radius": 1e-2}),
        (Distillation, {"masked_lm": 5.0, "divergence": 2.0, "cosine": 1.0, "temperature": 2.0}),
        (
            Objective,
            {
                "masking_rate": 0.15, "longest_ngram": 3, "replaced_by_mask": 0.8, "replaced_at_random": 0.1,
            },
        ),
        (
            Optimisation,
            {
                "warmup": 0.1, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6, "weight_decay": 0.01,
                "max_gradient_norm": 1.0, "decay": 0.0, "final_rate": 0.0,
            },
        ),
        (PretrainingRecipe, {"seed": 1, "recompute_activations": False, "shard_optimiser": False}),
        (VocabRecipe, {"most_words": 4_000_000}),
    ],
)  # fmt: skip
def test_defaults_are_those_that_results_were_made_with(kind: Any, defaults: dict[str, Any]) -> None:
    numbers = {
        one.name: one.default
        for one in fields(kind)
        if one.default is not MISSING and isinstance(one.default, bool | int | float)
    }
    assert numbers == defaults


@pytest.mark.parametrize(
    ("fault", "changes"),
    [
        ("head bilstm is for", {"task": "multilabel", "head": "bilstm", "head_sizes": [4]}),
        (
            "head bilstm reads all tokens; it needs pooling",
            {"head": "bilstm", "head_sizes": [4], "pooling": "mention-max"},
        ),
        ("head bilstm needs head_sizes with one", {"head": "bilstm", "head_sizes": [4, 4]}),
        ("head bilstm needs head_sizes with one", {"head": "bilstm"}),
        ("head linear has no head_sizes", {"head_sizes": [4]}),
        (
            "head pooler is for sequence and multilabel",
            {"task": "regression", "metric": "pearson", "head": "pooler"},
        ),
        ("head pooler reads the first token; it needs pooling", {"head": "pooler", "pooling": "mention-max"}),
        ("crf is for tokens", {"crf": True}),
        ("crf has its own loss; loss", {"task": "tokens", "crf": True, "loss": "weighted"}),
        ("loss dice", {"task": "multilabel", "loss": "dice"}),
        ("loss weighted", {"task": "regression", "loss": "weighted"}),
        ("oversample", {"task": "tokens", "oversample": True}),
        ("pooling is for sequence", {"task": "tokens", "pooling": "mention-max"}),
        ("pooling entity-start needs", {"pooling": "entity-start"}),
        ("unit is for multilabel", {"unit": "sentence"}),
        ("stop_after needs", {"stop_after": 3}),
        ("evaluate_every needs", {"evaluate_every": 3, "keep": "last"}),
        ("train_on train", {"train_on": "train+dev", "keep": "last"}),
        ("entities markers adds", {"entities": "markers", "frozen_layers": 1}),
        ("entities is for sequence", {"task": "tokens", "entities": "original"}),
        ("tagging is for tokens", {"tagging": "io"}),
        ("labelled_subwords is for tokens", {"labelled_subwords": "all"}),
        (
            "labelled_subwords separate needs",
            {"task": "tokens", "labelled_subwords": "separate", "tagging": "io"},
        ),
        ("metric positive_f1 needs", {"metric": "positive_f1"}),
        *((f"{name} must be above 0, found 0", {name: 0}) for name in (
            "learning_rate", "batch_size", "epochs", "max_length", "max_gradient_norm", "n_best",
            "max_answer_length", "evaluate_every", "layerwise_decay",
        )),
        *((f"{name} can't be negative, found -1", {name: -1}) for name in (
            "weight_decay", "stride", "frozen_layers", "reinitialised_layers", "removed_layers",
        )),
        *((f"{name} must be from 0 to below 1, found {value}", {name: value})
          for name in ("warmup", "dropout", "head_dropout") for value in (-0.1, 1)),
        ("head_sizes must be above 0, found 0", {"head": "mlp", "head_sizes": [4, 0]}),
        ("layerwise_decay can be at most 1", {"layerwise_decay": 1.01}),
    ],
)  # fmt: skip
def test_fine_tuning_refuses_each_fault_by_itself(fault: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as caught:
        FinetuningRecipe(**FINETUNING | changes)
    assert is_only(str(caught.value), fault)


@pytest.mark.parametrize(
    "changes",
    [
        {"head": "bilstm", "head_sizes": [1]},
        {"task": "tokens", "head": "bilstm", "head_sizes": [1], "crf": True},
        {"head": "mlp", "head_sizes": [1, 1]},
        {"head": "mlp"},
        {"task": "tokens", "tagging": "bioul", "labelled_subwords": "all", "loss": "dice"},
        {"task": "tokens", "labelled_subwords": "separate", "crf": True},
        {"task": "multilabel", "unit": "sentence", "loss": "weighted"},
        {"task": "tokens", "loss": "weighted"},
        {"entities": "markers", "pooling": "entity-start", "oversample": True, "loss": "dice"},
        {"entities": "original", "frozen_layers": 0, "pooling": "mention-average"},
        {"keep": "last", "stop_after": 1},
        {"evaluate_every": 1, "train_on": "train+dev"},
        {"metric": "positive_f1", "negative": "none"},
        {"max_length": 1, "n_best": 1, "max_answer_length": 1, "batch_size": 1, "epochs": 1},
        {"weight_decay": 0, "stride": 0, "warmup": 0, "dropout": 0, "head_dropout": 0.99},
        {"layerwise_decay": 0.5, "max_gradient_norm": 0.5},
    ],
)
def test_fine_tuning_accepts_what_is_consistent(changes: dict[str, Any]) -> None:
    FinetuningRecipe(**FINETUNING | changes)


def pretraining(**changes: Any) -> PretrainingRecipe:
    """Return a recipe whose parts have these values; a name of two parts is that of both."""

    def part(kind: Any, base: dict[str, Any]) -> Any:
        names = {one.name for one in fields(kind)}
        return kind(**base | {name: changes.pop(name) for name in list(changes) if name in names})

    architecture = part(Architecture, ARCHITECTURE)
    objective = part(Objective, {"masking": "subword"})
    optimisation = part(Optimisation, {"learning_rate": 1e-3})
    sizes: dict[str, Any] = {"sequence_length": 64, "batch_size": 8, "steps": 10}
    return PretrainingRecipe(
        architecture=architecture, objective=objective, optimisation=optimisation, **sizes | changes
    )


@pytest.mark.parametrize(
    ("fault", "changes"),
    [
        ("family electra needs", {"family": "electra", "pairs": "none"}),
        ("family electra needs", {"generator": GENERATOR}),
        ("only one of", {"adversarial": Adversarial(), "distillation": Distillation()}),
        ("family roberta has one segment; it", {"family": "roberta"}),
        ("family electra has no head for pairs; pairs", {"family": "electra", "generator": GENERATOR}),
        ("family albert has no next-sentence head; pairs", {"family": "albert"}),
        ("sequences full needs", {"sequences": "full"}),
        ("masking independent needs causal.share 1", {
            "family": "modernbert", "pairs": "none", "masking": "independent", "causal": Causal(share=0.5),
        }),
        ("embedding_size is for", {"embedding_size": 8}),
        ("hidden_size 16 is not a multiple of attention_heads 3", {"attention_heads": 3}),
        ("replaced_by_mask and replaced_at_random are shares", {"replaced_by_mask": 0.91}),
        ("replaced_by_mask and replaced_at_random are shares", {"replaced_by_mask": -0.1}),
        ("replaced_by_mask and replaced_at_random are shares", {"replaced_at_random": -0.1}),
        *((f"{name} must be above 0, found 0", {name: 0}) for name in (
            "layers", "hidden_size", "attention_heads", "sequence_length", "batch_size", "steps",
            "learning_rate", "longest_ngram",
        )),
        *((f"{name} must be between 0 and 1, found {value}", {name: value})
          for name in ("masking_rate", "final_masking_rate") for value in (0, 1)),
        ("sequence_length 513 exceeds max_positions 512", {"sequence_length": 513}),
        ("causal.share below 1 needs a batch_size above 1", {**CAUSAL, "causal": Causal(share=0.5)}),
        ("causal.share must be above 0 and at most 1, found 0", {**CAUSAL, "causal": Causal(share=0)}),
        ("causal.share must be above 0 and at most 1, found 1.1", {**CAUSAL, "causal": Causal(share=1.1)}),
        ("unknown optimiser 'adam'; expected one of adamw, lamb", {"optimiser": "adam"}),
        ("decay and final_rate are for stable schedules; schedule linear falls to 0", {"decay": 0.2}),
        ("warmup 0.1 and decay 0.95 are shares, together at most 1", {
            "schedule": "stable-sqrt", "decay": 0.95,
        }),
        ("causal needs family modernbert", {"family": "roberta", "pairs": "none", "causal": Causal()}),
    ],
)  # fmt: skip
def test_pretraining_refuses_each_fault_by_itself(fault: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as caught:
        pretraining(**changes)
    assert is_only(str(caught.value), fault)


@pytest.mark.parametrize(
    "changes",
    [
        {"family": "electra", "generator": GENERATOR, "pairs": "unlabelled", "embedding_size": 8},
        {"family": "electra", "generator": GENERATOR, "pairs": "none", "sequences": "full"},
        {"family": "albert", "pairs": "sentence-order", "embedding_size": 8},
        {"family": "roberta", "pairs": "none", "sequences": "full"},
        {"family": "megatron-bert", "adversarial": Adversarial()},
        {"distillation": Distillation()},
        {"replaced_by_mask": 0.0, "replaced_at_random": 0.0},
        {"replaced_by_mask": 0.75, "replaced_at_random": 0.25},
        {"sequence_length": 512, "batch_size": 1, "steps": 1, "longest_ngram": 1, "layers": 1},
        {"attention_heads": 16, "optimiser": "lamb", "final_masking_rate": 0.01},
        {"attention_heads": 1},
        {**CAUSAL, "causal": Causal()},
        {**CAUSAL, "causal": Causal(share=0.5), "batch_size": 2},
    ],
)
def test_pretraining_accepts_what_is_consistent(changes: dict[str, Any]) -> None:
    pretraining(**changes)


@pytest.mark.parametrize(
    ("kind", "learner", "lowercase", "splitting"),
    [
        ("wordpiece", "merges", True, "bert-uncased"),
        ("wordpiece", "merges", False, "bert-cased"),
        ("wordpiece", "merges-by-likelihood", True, "bert-uncased"),
        ("wordpiece", "sentencepiece-unigram", True, "bert-uncased"),
        ("byte-level-bpe", "merges-by-likelihood", False, None),
        ("sentencepiece", "merges-by-likelihood", False, None),
        ("byte-level-bpe", "merges", False, "byte-level"),
        ("byte-level-bpe", "merges", True, None),
        ("byte-level-bpe", "sentencepiece-bpe", False, None),
        ("sentencepiece", "sentencepiece-bpe", True, "white-space"),
        ("sentencepiece", "merges", False, None),
    ],
)
def test_vocabularies_split_text_as_their_tokenizers_do(
    kind: Any, learner: Any, lowercase: bool, splitting: str | None
) -> None:
    """None: the combination is not possible."""
    made = VocabRecipe(kind=kind, size=100, lowercase=lowercase, learner=learner)
    assert (made.fault() is None) == (splitting is not None)
    assert splitting is None or made.splitting() == splitting


@pytest.mark.parametrize(
    ("alpha", "power", "fault"),
    [
        (0.0, 0.8, "alpha must be above 0 and below 0.5, found 0"),
        (0.5, 0.8, "alpha must be above 0 and below 0.5, found 0.5"),
        (0.05, 0.5, "power must be above 0.5 and below 1, found 0.5"),
        (0.05, 1.0, "power must be above 0.5 and below 1, found 1"),
    ],
)
def test_probabilities_of_equivalence_lie_within_their_bounds(alpha: float, power: float, fault: str) -> None:
    EquivalenceRule(alpha=0.01, power=0.99, margins={})
    with pytest.raises(ValueError, match=re.escape(fault)):
        EquivalenceRule(alpha=alpha, power=power, margins={})
