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

Examples = Sequence[SequenceExample]
Documents = Sequence[MultilabelExample]
Pairs = Sequence[RegressionExample]
Text = Callable[[SequenceExample], str | None]
STRENGTH = 10.0
"""Inverse strength of the regularisation, the same for all datasets."""
OCCURRENCES = 2
"""Minimum number of training texts that contain a feature."""
ARGUMENT = "argumentdummy"


def whole_text(example: SequenceExample) -> str:
    """Return an example's text, or both of a pair, with a dummy in the place of each argument."""
    types = {entity.type: ARGUMENT for entity in example.entities}
    text = dummies(example.text, example.entities, types, ARGUMENT).text
    return text if example.text_pair is None else f"{text}\n{example.text_pair}"


def first_text(example: SequenceExample) -> str | None:
    return None if example.text_pair is None else example.text


def second_text(example: SequenceExample) -> str | None:
    return example.text_pair


def regression_on(text: Text) -> Predict:
    """Return the floor that predicts labels from a text of each example; not for examples without it."""

    def predict(known: Examples, test: Examples, negative: str | None) -> list[str] | None:
        texts, asked = [text(one) or "" for one in known], [text(one) or "" for one in test]
        labels = [one.label for one in known]
        if not all(texts) or not all(asked) or len(set(labels)) < 2:
            return None
        return [str(label) for label in _predicted(texts, labels, asked)]

    return predict


def regression_of_label_sets(known: Documents, test: Documents, negative: str | None) -> list[list[str]]:
    """Predict each label of documents by its own regression."""
    labels = sorted({label for one in known for label in one.labels})
    if not labels:
        return [[] for _ in test]
    has = np.array([[int(label in one.labels) for label in labels] for one in known])
    predicted = _predicted([one.text for one in known], has, [one.text for one in test])
    return [[label for label, chosen in zip(labels, row, strict=True) if chosen] for row in predicted]


def _predicted(texts: Sequence[str], labels: Any, asked: Sequence[str]) -> Any:
    """Return what one regression for each label predicts for other texts."""
    regression = OneVsRestClassifier(LogisticRegression(C=STRENGTH, solver="liblinear"))
    model = make_pipeline(_vectorizer(OCCURRENCES), regression)
    return model.fit(texts, labels).predict(asked)


def cosine(known: Pairs, test: Pairs, negative: str | None) -> list[float]:
    """Score pairs of texts by the cosine of their TF-IDF, with the document frequencies of train."""
    vectorizer = _vectorizer(1).fit([text for one in known for text in (one.text, one.text_pair)])
    one, other = (vectorizer.transform(texts) for texts in zip(*map(_both, test), strict=True))
    return [float(value) for value in np.asarray(one.multiply(other).sum(axis=1)).ravel()]


def word_overlap(known: Pairs, test: Pairs, negative: str | None) -> list[float]:
    """Score pairs of texts by the share of their words that both have, ignoring case."""
    words = [tuple(set(text.lower().split()) for text in _both(one)) for one in test]
    return [len(one & other) / (len(one | other) or 1) for one, other in words]


def _both(example: RegressionExample) -> tuple[str, str]:
    return example.text, example.text_pair


def _vectorizer(occurrences: int) -> TfidfVectorizer:
    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=occurrences)


LEARNT = "logistic regression on TF-IDF of words and pairs of words"
QUESTION, PAIR = ("yes-no",), ("inference",)
TEXTS = (
    Floor("tfidf", "sequence", f"{LEARNT}, with a dummy for each argument", regression_on(whole_text)),
    Floor("question_only", "sequence", f"{LEARNT} of the question", regression_on(first_text), QUESTION),
    Floor("context_only", "sequence", f"{LEARNT} of the context", regression_on(second_text), QUESTION),
    Floor("premise_only", "sequence", f"{LEARNT} of the premise", regression_on(first_text), PAIR),
    Floor("hypothesis_only", "sequence", f"{LEARNT} of the hypothesis", regression_on(second_text), PAIR),
    Floor("tfidf", "multilabel", f"{LEARNT}, for each label", regression_of_label_sets),
    Floor("tfidf_cosine", "regression", "cosine of the TF-IDF of both texts", cosine),
    Floor("word_overlap", "regression", "share of the words of both texts that both have", word_overlap),
)
