"""Floors that learn for seconds: logistic regression on TF-IDF of words and pairs of words."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from pubmill.examples.argument_transforms import dummies
from pubmill.examples.kinds import MultilabelExample, RegressionExample, SequenceExample
from pubmill.extras.baselines.floor import Floor, Predict

Text = Callable[[SequenceExample], str | None]
STRENGTH = 10.0
"""Inverse strength of the regularisation, the same for all datasets."""
OCCURRENCES = 2
"""Least number of texts in train that a feature is in."""
ARGUMENT = "argumentdummy"
LEAST = 2
"""Number of different labels that can be told apart."""


def whole_text(example: SequenceExample) -> str:
    """Return an example's text, or both of a pair, with a dummy in the place of each argument."""
    types = {entity.type: ARGUMENT for entity in example.entities}
    text = dummies(example.text, example.entities, types, ARGUMENT).text
    return text if example.text_pair is None else f"{text}\n{example.text_pair}"


def first_text(example: SequenceExample) -> str | None:
    """Return the first text of a pair."""
    return None if example.text_pair is None else example.text


def second_text(example: SequenceExample) -> str | None:
    """Return the second text of a pair."""
    return example.text_pair


def regression_on(text: Text) -> Predict:
    """Return the floor that predicts labels from a text of each example; not for examples without it."""

    def predict(
        known: Sequence[SequenceExample], test: Sequence[SequenceExample], negative: str | None
    ) -> list[str] | None:
        texts, asked = [text(one) or "" for one in known], [text(one) or "" for one in test]
        labels = [one.label for one in known]
        if not all(texts) or not all(asked) or len(set(labels)) < LEAST:
            return None
        return [str(label) for label in _predicted(texts, labels, asked)]

    return predict


def regression_of_label_sets(
    known: Sequence[MultilabelExample], test: Sequence[MultilabelExample], negative: str | None
) -> list[list[str]]:
    """Predict each label of documents by its own regression."""
    labels = sorted({label for one in known for label in one.labels})
    if not labels:
        return [[] for _ in test]
    has = np.array([[int(label in one.labels) for label in labels] for one in known])
    predicted = _predicted([one.text for one in known], has, [one.text for one in test])
    return [[label for label, chosen in zip(labels, row, strict=True) if chosen] for row in predicted]


def _predicted(texts: Sequence[str], labels: Any, asked: Sequence[str]) -> Any:
    """Return what one regression for each label predicts for other texts."""
    model = make_pipeline(
        _vectorizer(OCCURRENCES), OneVsRestClassifier(LogisticRegression(C=STRENGTH, solver="liblinear"))
    )
    return model.fit(texts, labels).predict(asked)


def cosine(
    known: Sequence[RegressionExample], test: Sequence[RegressionExample], negative: str | None
) -> list[float]:
    """Score pairs of texts by the cosine of their TF-IDF, with the document frequencies of train."""
    vectorizer = _vectorizer(1).fit([text for one in known for text in (one.text, one.text_pair)])
    one, other = (vectorizer.transform(texts) for texts in zip(*map(_both, test), strict=True))
    return [float(value) for value in np.asarray(one.multiply(other).sum(axis=1)).ravel()]


def word_overlap(
    known: Sequence[RegressionExample], test: Sequence[RegressionExample], negative: str | None
) -> list[float]:
    """Score pairs of texts by the share of their words that both have, ignoring case."""
    words = [tuple(set(text.lower().split()) for text in _both(one)) for one in test]
    return [len(one & other) / (len(one | other) or 1) for one, other in words]


def _both(example: RegressionExample) -> tuple[str, str]:
    return example.text, example.text_pair


def _vectorizer(occurrences: int) -> TfidfVectorizer:
    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=occurrences)


def _floor(name: str, definition: str, text: Text, tasks: tuple[str, ...] | None = None) -> Floor:
    return Floor(
        name=name, kinds=("sequence",), tasks=tasks, definition=definition, predict=regression_on(text)
    )


LEARNT = "logistic regression on TF-IDF of words and pairs of words"
TEXTS = (
    _floor("tfidf", f"{LEARNT}, with a dummy for each argument", whole_text),
    _floor("question_only", f"{LEARNT} of the question", first_text, ("yes-no",)),
    _floor("context_only", f"{LEARNT} of the context", second_text, ("yes-no",)),
    _floor("premise_only", f"{LEARNT} of the premise", first_text, ("inference",)),
    _floor("hypothesis_only", f"{LEARNT} of the hypothesis", second_text, ("inference",)),
    Floor(
        name="tfidf",
        kinds=("multilabel",),
        definition=f"{LEARNT}, for each label",
        predict=regression_of_label_sets,
    ),
    Floor(
        name="tfidf_cosine",
        kinds=("regression",),
        definition="cosine of the TF-IDF of both texts",
        predict=cosine,
    ),
    Floor(
        name="word_overlap",
        kinds=("regression",),
        definition="share of the words of both texts that both have",
        predict=word_overlap,
    ),
)
