"""The scores of the same predictions by every rule of the papers whose tables are repeated.

A scorer is a registered metric, or one that is never in a record: dataset specs and tables name registered
metrics only, and some printed values are by another rule.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pubmill.examples.kinds import Example, MultilabelExample, SequenceExample, TokensExample
from pubmill.examples.tagging import gold_beside
from pubmill.metrics import SCORERS
from pubmill.metrics.classes import labelled_example_f1, score_label_sets, score_labels
from pubmill.metrics.contributions import Array
from pubmill.metrics.entities import score_entities
from pubmill.metrics.registry import mean_f1, metrics_of, pooled, quotient, tallies

Score = Callable[[Sequence[Any], Sequence[Any], str | None], float | None]
"""Function `(examples, predictions, negative)` that returns a score (0..1; a correlation -1..1), or None if
it is not defined for them."""


@dataclass(frozen=True, slots=True)
class PublishedScorer:
    """A way of scoring examples of a kind, restricted to `tasks` if given. `used`: the paper section or the
    script that scores in this way; `score`: function that computes it, None for the registered metric."""

    name: str
    score: Score | None
    definition: str
    used: str
    tasks: tuple[str, ...] | None = None


class ScorerResult(NamedTuple):
    """The score of predictions by a scorer; None if it is not defined for them."""

    scorer: PublishedScorer
    score: float | None


USED: Mapping[str, Mapping[str, str]] = {
    "tokens": {
        "entity_f1": "conlleval (BioBERT, BlueBERT, shin2020 Table 1), seqeval's default from 0.0.16 on "
        "(LinkBERT), AllenNLP's SpanBasedF1Measure (SciBERT), BLUE's `eval_ner.py`; gu2020 4.1",
        "entity_precision": "as `entity_f1`; shin2020 Table 1",
        "entity_recall": "as `entity_f1`; shin2020 Table 1",
        "relaxed_f1": "tinn2021 3.7, Table 11",
    },
    "sequence": {
        "accuracy": "gu2020 4.6; MedNLI of BLUE and lewis2020; `YesNo Acc` of BioASQ's EvaluatorTask1b",
        "micro_f1": "gu2020 Table 3; the second report of BLUE's `eval_rel.py`; BioBERT's "
        "`re_eval.py --task=chemprot`; lewis2020's `chemprot_eval` and `ddi_eval`; LinkBERT's `PRF1`",
        "positive_f1": "BioBERT's `re_eval.py` (GAD, EU-ADR); lewis2020's `acc_p_r_and_f1`",
        "macro_f1": "lewis2020's `multiclass_acc_and_f1`; `average_F1` of SciBERT's `text_classifier.py`",
    },
    "multilabel": {
        "example_f1": "BLUE's `eval_hoc.py`; lewis2020's `hoc_get_p_r_f_arrary`",
        "micro_f1": "gu2020 Table 3; LinkBERT's `utils_hoc.py`",
        "macro_f1": "HoC in lewis2020 Table 1, by its name; gu2020 4.5, read as a mean over hallmarks",
    },
    "regression": {"pearson": "gu2020 4.4; BLUE's `eval_sts.py`; LinkBERT's `pearsonr`"},
    "span": {
        "f1": "SQuAD's script, 2.0; shin2020 Table 7",
        "best_f1": "SQuAD's script, 2.0; ALBERT's `run_squad_v2.py`; alrowili2021 Table 2",
        "strict_accuracy": "BioASQ's EvaluatorTask1b; SAcc of shin2020 Table 2",
        "lenient_accuracy": "BioASQ's EvaluatorTask1b; LAcc of shin2020 Table 2",
        "mrr": "BioASQ's EvaluatorTask1b; shin2020 Table 2; alrowili2021 Table 2",
    },
}
"""Kind -> registered metric -> papers and scripts that use it, if they differ from the metric's source."""


def untyped_f1(examples: Sequence[TokensExample], predicted: Sequence[Sequence[str]], _: str | None) -> float:
    """Return the entity F1 of labels without their types."""
    gold = [gold_beside(one.labels, labels) for one, labels in zip(examples, predicted, strict=True)]
    true, guessed = (
        [[label.partition("-")[0] for label in labels] for labels in side] for side in (gold, predicted)
    )
    return score_entities(true, guessed).metrics["entity_f1"]


def positive_macro_f1(
    examples: Sequence[SequenceExample], predicted: Sequence[str], negative: str | None
) -> float | None:
    """Return the mean F1 of all labels but the negative one; None if there is none."""
    if negative is None:
        return None
    totals = score_labels([one.label for one in examples], predicted, negative).contributions.totals()
    positives = tallies(totals, "class")
    return _defined(mean_f1(positives, [one.present() for one in positives], totals))


def weighted_f1(
    examples: Sequence[SequenceExample], predicted: Sequence[str], negative: str | None
) -> float | None:
    """Return the mean F1 of all labels, weighted by how often they are in the gold."""
    totals = score_labels([one.label for one in examples], predicted, negative).contributions.totals()
    every = tallies(totals, "class", "negative")
    weighted = sum(one.gold * np.nan_to_num(one.f1()) for one in every)
    return _defined(quotient(np.asarray(weighted), pooled(every, totals).gold))


def labelled_f1(
    examples: Sequence[MultilabelExample], predicted: Sequence[Sequence[str]], _: str | None
) -> float | None:
    """Return `example_f1` over the documents that have a gold label; None if all or none have one."""
    totals = score_label_sets([one.labels for one in examples], predicted).contributions.totals()
    if totals["without_gold"] == 0:
        return None
    return None if totals["without_gold"] == len(examples) else _defined(labelled_example_f1(totals))


def _defined(score: Array) -> float | None:
    return None if np.isnan(score) else float(score)


ADDED: Mapping[str, tuple[PublishedScorer, ...]] = {
    "tokens": (
        PublishedScorer("entity_f1_untyped", untyped_f1,
                        "as `entity_f1`, with the types removed from all labels",
                        "BioBERT's `ner_detokenize.py`; JNLPBA of BLURB (gu2020 4.1)"),
    ),
    "sequence": (
        PublishedScorer("macro_f1_positive", positive_macro_f1,
                        "F1 of each label but the one for nothing, then the mean",
                        "ChemProt in lewis2020 Table 1, by its name; `MacroF1WithoutLastOne` of MT-BlueBERT"),
        PublishedScorer("weighted_f1", weighted_f1,
                        "F1 of each label, then the mean weighted by the gold labels",
                        "sounack2025 Table 2; touchent2026 Table 2; lewis2020's `multiclass_acc_and_f1`"),
    ),
    "multilabel": (
        PublishedScorer("example_f1_labelled", labelled_f1,
                        "as `example_f1`, without the documents that have no gold label",
                        "BLUE's `eval_hoc.py` on its split, which leaves them out"),
    ),
}  # fmt: skip


def _registered(kind: str) -> list[PublishedScorer]:
    used = USED.get(kind, {})
    return [
        PublishedScorer(one.name, None, one.definition, used.get(one.name, one.source), one.tasks)
        for one in metrics_of(kind)
    ]


PUBLISHED_SCORERS: Mapping[str, tuple[PublishedScorer, ...]] = {
    kind: (*_registered(kind), *ADDED.get(kind, ())) for kind in SCORERS
}
"""Kind of examples -> its scorers."""


def score_by_all(
    kind: str, task: str, examples: Sequence[Example], predictions: Sequence[Any], negative: str | None
) -> list[ScorerResult]:
    """Score predictions by every scorer for a task; `negative`: the label for nothing, if there is one."""
    metrics = SCORERS[kind](examples, predictions, negative).metrics
    return [
        ScorerResult(one, one.score(examples, predictions, negative) if one.score else metrics.get(one.name))
        for one in PUBLISHED_SCORERS[kind]
        if one.tasks is None or task in one.tasks
    ]
