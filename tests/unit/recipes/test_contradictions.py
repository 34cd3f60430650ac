"""Contradictory or impossible settings are refused; all others, up to the ends of their ranges, are not."""

from copy import deepcopy
from dataclasses import MISSING, fields
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.recipes import (
    Architecture,
    FinetuningRecipe,
    Objective,
    Optimisation,
    PretrainingRecipe,
    VocabRecipe,
    build,
)
from pubmill.recipes.datasets import Glosses, PublishedFile
from pubmill.recipes.finetuning import Dummies
from pubmill.recipes.submissions import Engine, System
from pubmill.recipes.tables import Drop, EquivalenceRule, Margin
from tests.unit.recipes.test_reading import PRETRAINING

FINETUNING: dict[str, Any] = {
    "task": "sequence", "metric": "micro_f1", "batch_size": 8, "learning_rate": 1e-5, "epochs": 2,
}  # fmt: skip
GENERATOR = {"hidden_size": 4, "attention_heads": 1, "intermediate_size": 8}
CAUSAL: dict[str, Any] = {"family": "modernbert", "pairs": "none", "batch_size": 1}


def check_fault(recipe: type, values: Any, beginning: str) -> None:
    """Check that values have one fault, which begins so; faults are separated by semicolons or lines."""
    with pytest.raises(PubmillError) as caught:
        build(recipe, values, "here")
    heading, *faults = str(caught.value).split("\n  ")
    assert heading == f"here: not a valid {recipe.__name__}:" and len(faults) == 1
    assert faults[0].startswith(beginning) and ";" not in faults[0].removeprefix(beginning)


def test_defaults_of_fine_tuning_are_those_that_results_were_made_with() -> None:
    """They are part of every spec that does not name them; those of pretraining stand in its schema."""
    defaults = {one.name: one.default for one in fields(FinetuningRecipe) if one.default is not MISSING}
    assert {name: value for name, value in defaults.items() if isinstance(value, bool | int | float)} == {
        "max_length": 512, "max_mention_length": 8, "stride": 128, "max_answer_length": 30, "n_best": 20,
        "head_dropout": 0.1, "crf": False, "oversample": False, "warmup": 0.1, "dropout": 0.1,
        "weight_decay": 0.0, "max_gradient_norm": 1.0, "bias_correction": True, "layerwise_decay": 1.0,
        "adam_epsilon": 1e-8, "reinitialised_layers": 0, "removed_layers": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("fault", "changes"), [
    ("head bilstm is for", {"task": "multilabel", "head": "bilstm", "head_sizes": [4]}),
    ("head bilstm reads all tokens; it needs pooling",
     {"head": "bilstm", "head_sizes": [4], "pooling": "mention-max"}),
    ("head bilstm needs head_sizes with one", {"head": "bilstm", "head_sizes": [4, 4]}),
    ("head bilstm needs head_sizes with one", {"head": "bilstm"}),
    ("head linear has no head_sizes", {"head_sizes": [4]}),
    ("head pooler is for sequence and", {"task": "regression", "metric": "pearson", "head": "pooler"}),
    ("head pooler reads the first token; it needs pooling", {"head": "pooler", "pooling": "mention-max"}),
    ("crf is for tokens", {"crf": True}),
    ("crf has its own loss; loss", {"task": "tokens", "crf": True, "loss": "weighted"}),
    ("loss dice", {"task": "multilabel", "loss": "dice"}),
    ("loss weighted", {"task": "regression", "loss": "weighted"}),
    ("oversample", {"task": "tokens", "oversample": True}),
    ("pooling is for sequence", {"task": "tokens", "pooling": "mention-max"}),
    ("pooling entity-start needs", {"pooling": "entity-start"}),
    ("unit is for multilabel", {"unit": "sentence"}), ("stop_after needs", {"stop_after": 3}),
    ("evaluate_every needs", {"evaluate_every": 3, "keep": "last"}),
    ("train_on train", {"train_on": "train+dev", "keep": "last"}),
    ("entities markers adds", {"entities": "markers", "frozen_layers": 1}),
    ("entities is for sequence", {"task": "tokens", "entities": "original"}),
    ("tagging is for tokens", {"tagging": "io"}),
    ("labelled_subwords is for tokens", {"labelled_subwords": "all"}),
    ("labelled_subwords separate", {"task": "tokens", "labelled_subwords": "separate", "tagging": "io"}),
    ("metric positive_f1 needs", {"metric": "positive_f1"}),
    *((f"{name}: expected greater than 0 (found 0)", {name: 0}) for name in (
        "learning_rate", "batch_size", "epochs", "max_length", "max_gradient_norm", "n_best",
        "max_answer_length", "evaluate_every", "layerwise_decay",
    )),
    *((f"{name}: expected greater than or equal to 0 (found -1)", {name: -1}) for name in (
        "weight_decay", "stride", "frozen_layers", "reinitialised_layers", "removed_layers",
    )),
    *((f"{name}: expected {limit} (found {value})", {name: value})
      for name in ("warmup", "dropout", "head_dropout")
      for limit, value in (("greater than or equal to 0", -0.1), ("less than 1", 1.0))),
    ("head_sizes.1: expected greater than 0 (found 0)", {"head": "mlp", "head_sizes": [4, 0]}),
    ("layerwise_decay: expected less than or equal to 1 (found 1.01)", {"layerwise_decay": 1.01}),
])  # fmt: skip
def test_fine_tuning_refuses_each_fault_by_itself(fault: str, changes: dict[str, Any]) -> None:
    check_fault(FinetuningRecipe, FINETUNING | changes, fault)


@pytest.mark.parametrize("changes", [
    {"head": "bilstm", "head_sizes": [1]},
    {"task": "tokens", "head": "bilstm", "head_sizes": [1], "crf": True},
    {"head": "mlp", "head_sizes": [1, 1]}, {"head": "mlp"},
    {"task": "tokens", "tagging": "bioul", "labelled_subwords": "all", "loss": "dice"},
    {"task": "tokens", "labelled_subwords": "separate", "crf": True},
    {"task": "multilabel", "unit": "sentence", "loss": "weighted"}, {"task": "tokens", "loss": "weighted"},
    {"entities": "markers", "pooling": "entity-start", "oversample": True, "loss": "dice"},
    {"entities": "original", "frozen_layers": 0, "pooling": "mention-average"},
    {"keep": "last", "stop_after": 1}, {"evaluate_every": 1, "train_on": "train+dev"},
    {"metric": "positive_f1", "negative": "none"},
    {"max_length": 1, "n_best": 1, "max_answer_length": 1, "batch_size": 1, "epochs": 1},
    {"weight_decay": 0, "stride": 0, "warmup": 0, "dropout": 0, "head_dropout": 0.99},
    {"layerwise_decay": 0.5, "max_gradient_norm": 0.5},
])  # fmt: skip
def test_fine_tuning_accepts_what_is_consistent(changes: dict[str, Any]) -> None:
    build(FinetuningRecipe, FINETUNING | changes, "here")


def pretraining(changes: dict[str, Any]) -> dict[str, Any]:
    """Return a recipe whose parts have these values; a name of two parts is that of both."""
    values = deepcopy(PRETRAINING)
    parts = {"architecture": Architecture, "objective": Objective, "optimisation": Optimisation}
    for part, kind in [(values, PretrainingRecipe), *((values[name], kind) for name, kind in parts.items())]:
        part.update({one.name: changes[one.name] for one in fields(kind) if one.name in changes})
    return values


@pytest.mark.parametrize(("fault", "changes"), [
    ("family electra needs", {"family": "electra", "pairs": "none"}),
    ("family electra needs", {"generator": GENERATOR}),
    ("only one of", {"adversarial": {}, "distillation": {}}),
    ("family roberta has one segment; it", {"family": "roberta"}),
    ("family electra has no head for pairs; pairs", {"family": "electra", "generator": GENERATOR}),
    ("family albert has no next-sentence head; pairs", {"family": "albert"}),
    ("sequences full needs", {"sequences": "full"}),
    ("masking independent needs causal.share 1",
     {"family": "modernbert", "pairs": "none", "masking": "independent", "causal": {"share": 0.5}}),
    ("embedding_size is for", {"embedding_size": 8}),
    ("hidden_size 16 is not a multiple of attention_heads 3", {"attention_heads": 3}),
    ("replaced_by_mask and replaced_at_random are shares", {"replaced_by_mask": 0.91}),
    ("replaced_by_mask and replaced_at_random are shares", {"replaced_by_mask": -0.1}),
    ("replaced_by_mask and replaced_at_random are shares", {"replaced_at_random": -0.1}),
    *((f"{name}: expected greater than 0 (found 0)", {name.split(".")[-1]: 0}) for name in (
        "architecture.layers", "architecture.hidden_size", "architecture.attention_heads",
        "sequence_length", "batch_size", "steps", "optimisation.learning_rate", "objective.longest_ngram",
    )),
    *((f"objective.{name}: expected {limit} (found {value})", {name: value})
      for name in ("masking_rate", "final_masking_rate")
      for limit, value in (("greater than 0", 0), ("less than 1", 1))),
    ("sequence_length 513 exceeds max_positions 512", {"sequence_length": 513}),
    ("causal.share below 1 needs a batch_size above 1", {**CAUSAL, "causal": {"share": 0.5}}),
    ("objective.causal.share: expected greater than 0", {**CAUSAL, "causal": {"share": 0}}),
    ("objective.causal.share: expected less than or equal to 1", {**CAUSAL, "causal": {"share": 1.1}}),
    ("optimisation: unknown optimiser 'adam'; expected one of adamw, lamb", {"optimiser": "adam"}),
    ("optimisation: decay and final_rate are for stable schedules; schedule linear", {"decay": 0.2}),
    ("optimisation: warmup 0.1 and decay 0.95 are shares, together at most 1",
     {"schedule": "stable-sqrt", "decay": 0.95}),
    ("causal needs family modernbert", {"family": "roberta", "pairs": "none", "causal": {}}),
])  # fmt: skip
def test_pretraining_refuses_each_fault_by_itself(fault: str, changes: dict[str, Any]) -> None:
    check_fault(PretrainingRecipe, pretraining(changes), fault)


@pytest.mark.parametrize("changes", [
    {"family": "electra", "generator": GENERATOR, "pairs": "unlabelled", "embedding_size": 8},
    {"family": "electra", "generator": GENERATOR, "pairs": "none", "sequences": "full"},
    {"family": "albert", "pairs": "sentence-order", "embedding_size": 8},
    {"family": "roberta", "pairs": "none", "sequences": "full"},
    {"family": "megatron-bert", "adversarial": {}}, {"distillation": {}},
    {"replaced_by_mask": 0.0, "replaced_at_random": 0.0},
    {"replaced_by_mask": 0.75, "replaced_at_random": 0.25},
    {"sequence_length": 512, "batch_size": 1, "steps": 1, "longest_ngram": 1, "layers": 1},
    {"attention_heads": 16, "optimiser": "lamb", "final_masking_rate": 0.01}, {"attention_heads": 1},
    {**CAUSAL, "causal": {}}, {**CAUSAL, "causal": {"share": 0.5}, "batch_size": 2},
])  # fmt: skip
def test_pretraining_accepts_what_is_consistent(changes: dict[str, Any]) -> None:
    build(PretrainingRecipe, pretraining(changes), "here")


@pytest.mark.parametrize(("kind", "learner", "lowercase", "splitting"), [
    ("wordpiece", "merges", True, "bert-uncased"), ("wordpiece", "merges", False, "bert-cased"),
    ("wordpiece", "merges-by-likelihood", True, "bert-uncased"),
    ("wordpiece", "sentencepiece-unigram", True, "bert-uncased"),
    ("byte-level-bpe", "merges-by-likelihood", False, None),
    ("sentencepiece", "merges-by-likelihood", False, None), ("byte-level-bpe", "merges", False, "byte-level"),
    ("byte-level-bpe", "merges", True, None), ("byte-level-bpe", "sentencepiece-bpe", False, None),
    ("sentencepiece", "sentencepiece-bpe", True, "white-space"), ("sentencepiece", "merges", False, None),
])  # fmt: skip
def test_vocabularies_split_text_as_their_tokenizers_do(
    kind: Any, learner: Any, lowercase: bool, splitting: str | None
) -> None:
    """None: the combination is not possible."""
    made = VocabRecipe(kind=kind, size=100, lowercase=lowercase, learner=learner)
    assert (made.fault() is None) == (splitting is not None)
    assert splitting is None or made.splitting() == splitting


SHA = "0123456789abcdef" * 4
WHOLE: dict[Any, dict[str, Any]] = {
    PublishedFile: {"name": "train.tsv", "sha256": SHA},
    Glosses: {"annotated": "genes", "source": "guidelines", "labels": {"a": "one", "b": "two"}},
    Dummies: {"types": {}, "overlap": "@{}-{}$"}, Drop: {"start": "a", "of": ["b"]},
    System: {"name": "ours", "version": "1", "url": "https://example.org"},
    EquivalenceRule: {"alpha": 0.01, "power": 0.99, "margins": {}},
    Margin: {"points": 0.5, "why": "the spread"},
}  # fmt: skip


@pytest.mark.parametrize(("recipe", "changes", "fault"), [
    (PublishedFile, {"sha256": None}, None),
    (PublishedFile, {"name": "../train.tsv"}, "name must be letters without accents, "),
    (PublishedFile, {"name": ""}, "name must be "),
    *((PublishedFile, {"sha256": value}, f"sha256 must be 64 hexadecimal digits, found {value!r}")
      for value in (SHA[1:], SHA + "0", SHA.upper(), "")),
    (Glosses, {"labels": {}}, None),
    *((Glosses, change, "glosses must not be empty")
      for change in ({"annotated": ""}, {"source": ""}, {"labels": {"a": "one", "b": ""}})),
    *((Dummies, {"overlap": good}, None) for good in ("", "@GENE-DRUG$", "{}{}")),
    *((Dummies, {"overlap": bad}, f"overlap must have two {{}} or no braces, found {bad!r}")
      for bad in ("@{}$", "@{}-{}-{}$", "@{}-{$", "{}-{}}", "{0}-{1}")),
    (Drop, {"of": []}, "a drop needs at least one column in `of`"),
    (System, {"url": None, "prompt": "Which?"}, None),
    *((System, change, "`name` and `version` of the system must not be empty")
      for change in ({"name": " "}, {"version": ""})),
    *((System, change, "give `url` or `prompt` of the system, so that readers know what predicted")
      for change in ({"url": None}, {"url": "", "prompt": ""})),
    (EquivalenceRule, {"alpha": 0.0}, "alpha: expected greater than 0"),
    (EquivalenceRule, {"alpha": 0.5}, "alpha: expected less than 0.5"),
    (EquivalenceRule, {"power": 0.5}, "power: expected greater than 0.5"),
    (EquivalenceRule, {"power": 1.0}, "power: expected less than 1"),
    (Margin, {"points": 0}, "points: expected greater than 0"),
    (Margin, {"points": 100}, "points: expected less than 100"),
    (Margin, {"why": ""}, "a margin needs a reason (`why`)"),
])  # fmt: skip
def test_values_outside_their_range_are_refused(
    recipe: Any, changes: dict[str, Any], fault: str | None
) -> None:
    build(recipe, WHOLE[recipe], "here")
    if fault is None:
        build(recipe, WHOLE[recipe] | changes, "here")
    else:
        check_fault(recipe, WHOLE[recipe] | changes, fault)


def test_an_engine_is_stated_with_its_batching() -> None:
    engine = Engine(name="vllm", version="0.11.0", quantisation="awq", batching="256 at most")
    assert engine.stated() == ", on vllm 0.11.0, quantisation awq, batching 256 at most"
