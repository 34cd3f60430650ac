"""Floors: predictions by the commonest label, by a dictionary of training mentions, or by linear regression.

Only the part of a score above the floor can be due to a language model.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from pubmill.errors import PubmillError
from pubmill.examples.argument_transforms import dummies
from pubmill.examples.kinds import (
    KINDS,
    Example,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    SpanExample,
    TokensExample,
    read_examples,
)
from pubmill.examples.tagging import OUTSIDE, Mention, to_labels, to_mentions
from pubmill.extras.floors.floors_recipes import CeilingScore, DatasetFloors, FloorsRecipe
from pubmill.metrics import SCORERS
from pubmill.metrics.answers import SUBMITTED
from pubmill.metrics.classes import score_correlation
from pubmill.metrics.records import PREDICTION_FORMS
from pubmill.storage.files import write_jsonl_gz
from pubmill.storage.result_paths import PREDICTIONS

Name = tuple[str, ...]
"""The words of a mention, in lower case."""
ARGUMENT = "argumentdummy"


class Floor(NamedTuple):
    """A way to predict without a model, for examples of a kind, restricted to `tasks` if given. `predict`:
    from labelled examples and examples to predict to predictions, in the form of
    `pubmill.metrics.records.read_predictions`; `splits`: those whose labels it reads."""

    name: str
    kind: str
    predict: Callable[[Sequence[Any], Sequence[Any]], list[Any]]
    tasks: tuple[str, ...] = ()
    splits: tuple[str, ...] = ("train",)


def _commonest(counts: Counter[str]) -> str:
    """Return the commonest value; of equals, the first in the order of the alphabet."""
    return min(counts, key=lambda value: (-counts[value], value))


def majority(known: Sequence[SequenceExample], test: Sequence[SequenceExample]) -> list[str]:
    """Predict the commonest label."""
    return [_commonest(Counter(one.label for one in known))] * len(test)


def common_labels(known: Sequence[MultilabelExample], test: Sequence[MultilabelExample]) -> list[list[str]]:
    """Predict the labels that more than half of the known documents have."""
    shares = Counter(label for one in known for label in one.labels)
    return [sorted(label for label in shares if 2 * shares[label] > len(known))] * len(test)


def common_answers(
    known: Sequence[SpanExample], test: Sequence[SpanExample]
) -> list[list[tuple[str, float]]]:
    """Answer every question with the commonest answers, best first."""
    counts = Counter(text for one in known for text in (one.golds or [answer.text for answer in one.answers]))
    best = sorted(counts, key=lambda text: (-counts[text], text))[:SUBMITTED] or [""]
    return [[(text, counts[text] / (counts.total() or 1)) for text in best] for _ in test]


def by_dictionary(known: Sequence[TokensExample], test: Sequence[TokensExample]) -> list[list[str]]:
    """Label dictionary names from left to right; of those that begin at the same word, the longest."""
    types = _dictionary(known)
    lengths, labels = _lengths_by_first_word(types), list[list[str]]()
    for example in test:
        words, mentions = _lower(example.words), list[Mention]()
        for start, end in _spans(words, lengths):
            kind = types.get(words[start:end])
            if kind is not None and (not mentions or start >= mentions[-1][1]):
                mentions.append((start, end, kind))
        labels.append(to_labels(mentions, len(words), "bio"))
    return labels


def _dictionary(known: Sequence[TokensExample]) -> dict[Name, str]:
    """Return the names of known mentions with their commonest type: those that are mentions in at least half
    of the places where their words occur, ignoring case."""
    types: dict[Name, Counter[str]] = {}
    for example in known:
        words = _lower(example.words)
        for start, end, kind in to_mentions(example.labels):
            types.setdefault(words[start:end], Counter())[kind] += 1
    lengths = _lengths_by_first_word(types)
    places = Counter(
        words[start:end]
        for words in (_lower(example.words) for example in known)
        for start, end in _spans(words, lengths)
        if words[start:end] in types
    )
    return {name: _commonest(kinds) for name, kinds in types.items() if 2 * kinds.total() >= places[name]}


def _lower(words: Iterable[str]) -> Name:
    return tuple(word.lower() for word in words)


def _lengths_by_first_word(names: Iterable[Name]) -> dict[str, list[int]]:
    """Return the lengths of the names that begin with a word, longest first."""
    lengths: dict[str, set[int]] = {}
    for name in names:
        lengths.setdefault(name[0], set()).add(len(name))
    return {word: sorted(of_word, reverse=True) for word, of_word in lengths.items()}


def _spans(words: Name, lengths: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans that can be names, by their beginning, longest first."""
    for start, word in enumerate(words):
        for length in lengths.get(word, ()):
            if start + length <= len(words):
                yield start, start + length


def by_word(known: Sequence[TokensExample], test: Sequence[TokensExample]) -> list[list[str]]:
    """Give each word the commonest label that it has, ignoring case; O to unknown words."""
    labels: dict[str, Counter[str]] = {}
    for example in known:
        for word, label in zip(example.words, example.labels, strict=True):
            labels.setdefault(word.lower(), Counter())[label] += 1
    commonest = {word: _commonest(counts) for word, counts in labels.items()}
    return [[commonest.get(word.lower(), OUTSIDE) for word in one.words] for one in test]


def regression(known: Sequence[SequenceExample], test: Sequence[SequenceExample]) -> list[str]:
    """Predict labels by logistic regression on the texts; with one known label, that one."""
    labels = [one.label for one in known]
    if len(set(labels)) < 2:
        return majority(known, test)
    return list(map(str, _predicted(map(_whole_text, known), labels, map(_whole_text, test))))


def _whole_text(example: SequenceExample) -> str:
    """Return an example's text, or both of a pair, with a dummy in the place of each argument."""
    types = {entity.type: ARGUMENT for entity in example.entities}
    text = dummies(example.text, example.entities, types, ARGUMENT).text
    return text if example.text_pair is None else f"{text}\n{example.text_pair}"


def by_regressions(known: Sequence[MultilabelExample], test: Sequence[MultilabelExample]) -> list[list[str]]:
    """Predict each label of documents by its own regression."""
    labels = sorted({label for one in known for label in one.labels})
    if not labels:
        return [[] for _ in test]
    has = np.array([[int(label in one.labels) for label in labels] for one in known])
    predicted = _predicted([one.text for one in known], has, [one.text for one in test])
    return [[label for label, chosen in zip(labels, row, strict=True) if chosen] for row in predicted]


def _predicted(texts: Iterable[str], labels: Any, asked: Iterable[str]) -> Any:
    logistic = OneVsRestClassifier(LogisticRegression(C=10.0, solver="liblinear"))  # C: of all datasets
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2), logistic)
    return model.fit(list(texts), labels).predict(list(asked))


def regression_on_pairs(known: Sequence[RegressionExample], test: Sequence[RegressionExample]) -> list[float]:
    """Score pairs of texts by least squares on the cosine of their TF-IDF and the share of common words."""
    texts = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    texts.fit([text for one in known for text in (one.text, one.text_pair)])

    def features(pairs: Sequence[RegressionExample]) -> Any:
        one = texts.transform([pair.text for pair in pairs])
        other = texts.transform([pair.text_pair for pair in pairs])
        cosines = np.asarray(one.multiply(other).sum(axis=1)).ravel()
        words = [[set(text.lower().split()) for text in (pair.text, pair.text_pair)] for pair in pairs]
        return np.column_stack([cosines, [len(a & b) / (len(a | b) or 1) for a, b in words]])

    model = LinearRegression().fit(features(known), [one.score for one in known])
    return list(map(float, model.predict(features(test))))


FLOORS = (
    Floor("majority", "sequence", majority),
    Floor("majority", "multilabel", common_labels),
    Floor("majority", "span", common_answers),
    Floor("dictionary", "tokens", by_dictionary, ("ner", "de-identification"), ("train", "dev")),
    Floor("dictionary", "tokens", by_word, ("pico",), ("train", "dev")),
    Floor("linear", "sequence", regression),
    Floor("linear", "multilabel", by_regressions),
    Floor("linear", "regression", regression_on_pairs),
)


def floors_of(kind: str, task: str) -> list[Floor]:
    """Return the floors that fit a dataset."""
    return [one for one in FLOORS if one.kind == kind and (not one.tasks or task in one.tasks)]


AGREEMENT: Mapping[tuple[str, str], CeilingScore] = {
    ("pubmedqa", "accuracy"): CeilingScore(score=78.0, source="a single annotator (Jin et al. 2019)")
}
"""Dataset and metric -> the published score of annotators by that metric. Agreements by other measures, such
as kappa, are no ceiling of a score."""


def measure_floors(recipe: FloorsRecipe, files: Mapping[str, Path], output: Path) -> DatasetFloors:
    """Predict test by each floor that fits the dataset, write the predictions into the folder `output`, and
    return all scores. `files`: split -> file of its examples. The same examples give the same bytes."""
    kind = KINDS[recipe.kind]
    examples = {name: list(read_examples(path, kind)) for name, path in files.items()}
    if not examples.get("test") or not examples.get("train"):
        raise PubmillError(f"{recipe.name} needs examples in train and test; convert it again")
    test: Sequence[Example] = examples["test"]
    scores: dict[str, dict[str, float]] = {}
    for floor in floors_of(recipe.kind, recipe.task):
        known = [example for split in floor.splits for example in examples.get(split, [])]
        predicted = floor.predict(known, test)
        scores[floor.name] = SCORERS[recipe.kind](test, predicted, recipe.negative).metrics
        rows = map(prediction_row, test, predicted)
        write_jsonl_gz(output / f"{floor.name}{PREDICTIONS}", rows, private=recipe.access != "public")
    return DatasetFloors(floors=scores, ceilings={recipe.metric: ceiling_of(recipe, test)})


def prediction_row(example: Example, prediction: Any) -> dict[str, object]:
    """Return a line of a file of predictions."""
    if isinstance(example, SpanExample):
        prediction = [{"text": text, "probability": probability} for text, probability in prediction]
    return {"id": example.id, PREDICTION_FORMS[type(example)].key: prediction}


def ceiling_of(recipe: FloorsRecipe, test: Sequence[Example]) -> CeilingScore:
    """Return the ceiling of a dataset: a published score of annotators, what the ratings of its test examples
    give, or 100."""
    if known := AGREEMENT.get((recipe.name, recipe.metric)):
        return known
    ratings = [one.ratings for one in test if isinstance(one, RegressionExample)]
    agreement = annotators_correlation(ratings) if recipe.metric == "pearson" and ratings else None
    if agreement is None:
        return CeilingScore()
    return CeilingScore(score=100 * agreement, source="correlation of an annotator with the others' mean")


def annotators_correlation(ratings: Sequence[Sequence[float]]) -> float | None:
    """Return the mean over annotators of the correlation of their scores with the mean of the others'; None
    if it is not defined for one, or if the numbers of scores differ."""
    if len(set(map(len, ratings))) != 1 or len(ratings[0]) < 2:
        return None
    scores = np.array(ratings)
    others = [np.delete(scores, one, axis=1).mean(axis=1) for one in range(len(ratings[0]))]
    both = zip(others, scores.T, strict=True)
    found = [score_correlation(other.tolist(), own.tolist()).metrics for other, own in both]
    return fmean(one["pearson"] for one in found) if all("pearson" in one for one in found) else None
