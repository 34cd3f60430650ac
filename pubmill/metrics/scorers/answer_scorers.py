"""Scorers for answers to questions: per context, and of questions with an answer only."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pubmill.examples.kinds import SpanExample
from pubmill.metrics.answers import Ranked, score_answers
from pubmill.metrics.scorers.published_scorer import PublishedScorer, Score

Examples = Sequence[SpanExample]


def each_context(name: str) -> Score:
    """Return a metric of answers where each context is a question of its own."""

    def score(examples: Examples, predicted: Sequence[Ranked], _: str | None) -> float | None:
        if all(one.group is None for one in examples):
            return None
        return score_answers([replace(one, group=None) for one in examples], predicted).metrics.get(name)

    return score


def answerable(name: str) -> Score:
    """Return a metric over the questions with a gold answer; not defined if all or none have one."""

    def score(examples: Examples, predicted: Sequence[Ranked], _: str | None) -> float | None:
        known = {one.group or one.id for one in examples if one.golds or one.answers}
        kept = [
            (one, ranked)
            for one, ranked in zip(examples, predicted, strict=True)
            if (one.group or one.id) in known
        ]
        if not kept or len(kept) == len(examples):
            return None
        return score_answers([one for one, _ in kept], [ranked for _, ranked in kept]).metrics.get(name)

    return score


_scorer = partial(PublishedScorer, kinds=("span",))


ANSWERS = (
    _scorer(
        "exact_match_contexts",
        each_context("exact_match"),
        "as `exact_match`, each context being a question",
        "SQuAD's script on BioASQ's snippets",
    ),
    _scorer(
        "f1_contexts",
        each_context("f1"),
        "as `f1`, each context being a question",
        "SQuAD's script on BioASQ's snippets",
    ),
    _scorer(
        "exact_match_answerable",
        answerable("exact_match"),
        "as `exact_match`, of the questions with an answer",
        "`HasAns_exact` of SQuAD's script, 2.0",
    ),
    _scorer(
        "f1_answerable",
        answerable("f1"),
        "as `f1`, of the questions with an answer",
        "`HasAns_f1` of SQuAD's script, 2.0",
    ),
)
