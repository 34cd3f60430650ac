"""The scores of the same predictions by every scorer of the literature.

A scorer is a metric of the registry, or one of those that these modules add. It is never a metric of a
record: a dataset's spec and the tables name registered metrics only.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example
from pubmill.metrics import SCORERS
from pubmill.metrics.scorers.published_scorer import PublishedScorer, ScorerResult, registered
from pubmill.metrics.scorers.text_scorers import ANSWERS, CORRELATIONS, LABEL_SETS, LABELS
from pubmill.metrics.scorers.token_scorers import ENTITIES, LIMITED, WORDS

__all__ = ["PUBLISHED_SCORERS", "PublishedScorer", "ScorerResult", "matching", "score_by_all", "scorers_of"]

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
ADDED: Mapping[str, tuple[PublishedScorer, ...]] = {
    "tokens": (*ENTITIES, *WORDS, *LIMITED),
    "sequence": LABELS,
    "multilabel": LABEL_SETS,
    "regression": CORRELATIONS,
    "span": ANSWERS,
}
PUBLISHED_SCORERS: Mapping[str, tuple[PublishedScorer, ...]] = {
    kind: (*registered(kind, scorer, USED.get(kind, {})), *ADDED.get(kind, ()))
    for kind, scorer in SCORERS.items()
}
"""Kind of examples -> its scorers."""


def scorers_of(kind: str, task: str) -> list[PublishedScorer]:
    """Return the scorers for a kind of examples in a task."""
    return [scorer for scorer in PUBLISHED_SCORERS[kind] if scorer.tasks is None or task in scorer.tasks]


def score_by_all(
    kind: str, task: str, examples: Sequence[Example], predictions: Sequence[Any], negative: str | None
) -> list[ScorerResult]:
    """Score predictions by every scorer; `negative`: the label for nothing, if there is one."""
    return [ScorerResult(one, one.score(examples, predictions, negative)) for one in scorers_of(kind, task)]


def matching(scores: Sequence[ScorerResult], printed: str) -> list[ScorerResult]:
    """Return all scores that round to `printed` (in per cent: 95.3), any of which may have been used."""
    number, half = _read_number(printed)
    return [one for one in scores if one.score is not None and abs(100 * one.score - number) <= half]


def nearest(scores: Sequence[ScorerResult], printed: str) -> ScorerResult | None:
    """Return the score that is nearest to a printed number, in per cent."""
    number, _ = _read_number(printed)
    defined = [one for one in scores if one.score is not None]
    return min(defined, key=lambda one: abs(100 * (one.score or 0.0) - number), default=None)


def _read_number(printed: str) -> tuple[float, float]:
    """Return a printed number and half a unit of its last digit, with room for binary rounding."""
    try:
        number = Decimal(printed)
    except InvalidOperation:
        number = Decimal("nan")
    exponent = number.as_tuple().exponent
    if not number.is_finite() or not isinstance(exponent, int) or exponent > 0:
        raise PubmillError(f"{printed!r} is not a printed number; give one in per cent, such as 95.3")
    return float(number), 0.5 * 10.0**exponent + 1e-9
