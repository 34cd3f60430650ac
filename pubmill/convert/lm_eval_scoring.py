"""Data and scores of an exported task of lm-evaluation-harness. `pubmill export` copies this file beside it.

Each function named by `process_results` reads one answer; each aggregation is the metric over all answers.
The scores equal those of pubmill, with two exceptions: a mention is every place of its words in the sentence,
and an answer without a number is left out of the correlation (`answered` is the share with one).
"""

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import StatisticsError, correlation
from typing import Any

NOTHING = "none"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
Places = list[tuple[int, int, str]]


def load(**_: Any) -> Any:
    """Return the splits, which are Parquet files beside this one."""
    from datasets import load_dataset

    files = {path.stem: str(path) for path in Path(__file__).parent.glob("*.parquet")}
    return load_dataset("parquet", data_files=files)


def choice(doc: dict[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """The label with the highest probability."""
    scores = [one[0] for one in results]
    label = doc["choices"][scores.index(max(scores))]
    relevant = [[one] if one != doc["negative"] else [] for one in (doc["label"], label)]
    return {"accuracy": float(label == doc["label"]), "micro_f1": relevant}


def label_set(doc: dict[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Labels between semicolons or on lines of their own; those that the dataset lacks count as wrong."""
    known = {plain(one): one for one in doc["choices"]}
    parts = [plain(part) for part in re.split(r"[;\n]", results[0]) if plain(part)]
    return {"micro_f1": [doc["labels"], sorted({known.get(part, part) for part in parts} - {NOTHING})]}


def mentions(doc: dict[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Mentions on lines of their own, with their type and a colon if the dataset has several."""
    return {"entity_f1": [gold_places(doc["labels"]), places(doc["words"], named_mentions(doc, results[0]))]}


def nested_mentions(doc: dict[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Mentions as in `mentions`; each counts at every place of its words, also inside other mentions."""
    words, named = doc["words"], named_mentions(doc, results[0])
    found = {place for one in named for place in places(words, [one])}
    gold = [(one["first"], one["after"], one["type"]) for one in doc["mentions"]]
    return {"entity_f1": [gold, sorted(found)]}


def relations(doc: dict[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Lines `LABEL: CONCEPT | CONCEPT`, the concepts in either order."""
    known = {plain(one): one for one in doc["choices"]}
    pairs = {tuple(pair) for pair in doc["pairs"]}
    found = set[tuple[str, ...]]()
    for line in results[0].splitlines():
        label, _, concepts = line.partition(":")
        pair = tuple(part.strip() for part in concepts.split("|"))
        if len(pair) == 2:
            is_swapped = pair not in pairs and pair[::-1] in pairs
            found.add((*(pair[::-1] if is_swapped else pair), known.get(plain(label), plain(label))))
    return {"relation_f1": [[one[:3] for one in doc["relations"]], sorted(found)]}


def named_mentions(doc: dict[str, Any], answer: str) -> list[tuple[list[str], str]]:
    """Return the words and the type of each line."""
    types = {plain(one): one for one in doc["choices"] if one}
    named = list[tuple[list[str], str]]()
    for line in answer.splitlines():
        kind, colon, text = line.partition(":")
        if colon and plain(kind) in types:
            named.append((text.split(), types[plain(kind)]))
        elif len(doc["choices"]) == 1:
            named.append((line.split(), doc["choices"][0]))
    return named


def number(doc: dict[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """The first number of the answer."""
    found = _NUMBER.search(results[0])
    return {"answered": float(found is not None), "pearson": [doc["score"], found and float(found[0])]}


def answer(doc: dict[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """The first line of the answer, compared as SQuAD's script does."""
    lines = results[0].strip().splitlines()
    given = squad_words(lines[0]) if lines and plain(lines[0]) != NOTHING else []
    golds = [squad_words(text) for text in doc["golds"] or [one["text"] for one in doc["answers"]]] or [[]]
    return {"exact_match": float(given in golds), "f1": max(word_f1(gold, given) for gold in golds)}


def micro_f1(items: Iterable[Sequence[Sequence[Any]]]) -> float:
    """F1 over all labels, or mentions, of all examples together."""
    gold = found = right = 0
    for true, predicted in items:
        expected, given = (set(map(_hashable, one)) for one in (true, predicted))
        gold, found, right = gold + len(expected), found + len(given), right + len(expected & given)
    return 2 * right / (gold + found) if gold + found else float("nan")


def pearson(items: Iterable[Sequence[float | None]]) -> float:
    """Correlation over the answers with a number."""
    pairs = [(true, given) for true, given in items if true is not None and given is not None]
    try:
        return correlation([one for one, _ in pairs], [one for _, one in pairs])
    except StatisticsError:  # fewer than two answers, or all alike
        return float("nan")


def plain(text: str) -> str:
    """Return a label as it is compared: without case and marks around it."""
    return " ".join(text.strip().strip("\"'`*.,-").casefold().split())


def gold_places(labels: Sequence[str]) -> Places:
    """Return the mentions of BIO labels: first word, word after the last, type."""
    found: Places = []
    for place, label in enumerate(labels):
        prefix, _, kind = label.partition("-")
        continues = bool(found) and found[-1][1:] == (place, kind)
        if prefix == "I" and continues:
            found[-1] = (found[-1][0], place + 1, kind)
        elif prefix != "O":
            found.append((place, place + 1, kind))
    return found


def places(words: Sequence[str], named: Iterable[tuple[list[str], str]]) -> Places:
    """Return the sorted places of named mentions; a word belongs to one mention, and longer ones go first."""
    taken, found = set[int](), list[tuple[int, int, str]]()
    for text, kind in sorted(named, key=lambda one: -len(one[0])):
        for start in range(len(words) - len(text) + 1 if text else 0):
            span = range(start, start + len(text))
            if list(words[start : start + len(text)]) == text and taken.isdisjoint(span):
                taken.update(span)
                found.append((start, start + len(text), kind))
    return sorted(found)


def squad_words(text: str) -> list[str]:
    """Return the words of an answer without case, punctuation and articles."""
    bare = "".join(character for character in text.lower() if character not in string.punctuation)
    return _ARTICLES.sub(" ", bare).split()


def word_f1(gold: Sequence[str], given: Sequence[str]) -> float:
    """F1 over the words of two answers; without words, 1 if both have none."""
    common = (Counter(gold) & Counter(given)).total()
    return 2 * common / (len(gold) + len(given)) if gold and given else float(gold == given)


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
