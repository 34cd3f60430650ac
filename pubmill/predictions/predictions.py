"""Predictions of pubmill's own form (`pubmill.metrics.records`) from matched rows."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import is_label_list, sorted_lists
from pubmill.examples.prompts import NOTHING
from pubmill.examples.tagging import SUBWORDS, UNPLACED, Mention, to_labels, to_mentions
from pubmill.messages.quotations import show
from pubmill.metrics.records import PREDICTION_FORMS, is_finite_number
from pubmill.metrics.registry import NO_PREDICTION
from pubmill.predictions import json_forms
from pubmill.predictions.alignment import Lost, Place, align, joined_pieces, place_words
from pubmill.predictions.conll_form import LABEL, as_bio
from pubmill.predictions.free_answers import FreeAnswer, FreeItem, plain_answer, read_answer
from pubmill.predictions.json_forms import answers_of, is_text_list, relations_of, spans_of
from pubmill.predictions.mapped_labels import ONE_ANSWER, UNMAPPED, MappedLabels
from pubmill.predictions.rows import NamedMention, PredictedSpan, PredictionRow, SomeMention
from pubmill.predictions.tsv_form import SEPARATOR
from pubmill.recipes.submissions import SubmissionRecipe

_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")
_BETWEEN = re.compile(r"[,;|\n]")
_MARKED = re.compile(r"\s*(```|[-*•]\s|\d+[.)]\s|[\[{])")
"""Beginning of a code fence, a bullet, a numbered item, or JSON."""


def answers_to_labels(recipe: SubmissionRecipe) -> dict[str, str | None]:
    """Return answer -> label for this project's prompts: each label for itself and, for kinds whose
    predictions may be empty, the word `NOTHING` for an empty label."""
    labels: dict[str, str | None] = {label: label for label in recipe.labels if label}
    return labels | ({NOTHING: ""} if recipe.kind not in ONE_ANSWER else {})


class Normaliser(MappedLabels):
    """Turns the value of a row into a prediction of pubmill's own form."""

    def __init__(self, recipe: SubmissionRecipe) -> None:
        super().__init__(recipe)
        self._unplaced: list[list[str | int]] = []
        self._empty_is_none = True  # an empty list is one of mentions; beside lists of labels it is a fault

    def rows(self, matched: Sequence[PredictionRow | None], examples: Sequence[Any]) -> list[dict[str, Any]]:
        """Return the lines of predictions, one per example, without a row an empty one; a `PubmillError` for
        labels that the dataset lacks, and if most spans fit no words, most free strings have no mapping, or
        most answers to questions are marked up, unless they are answers to this project's prompts (`asked`).
        """
        given = [row for row in matched if row]
        self.reading.missing = len(matched) - len(given)
        self._check_declared(given)
        self._empty_is_none = not any(row.value and is_text_list(row.value) for row in given)
        of_kind: dict[str, Callable[[PredictionRow, Any], Mapping[str, object]]] = {
            "tokens": self._tokens,
            "sequence": self._sequence,
            "multilabel": self._multilabel,
            "regression": self._regression,
            "span": self._span,
            "relations": self._relations,
            "mentions": self._mentions,
        }
        build = of_kind[self.recipe.kind]
        self.reading.answers += sum(row.key != "output" for row in given)
        self.reading.by_rule.update(row.rule for row in given if row.rule)
        made = [
            {"id": one.id, **(self._built(build, row, one) if row else empty_prediction(one))}
            for row, one in zip(matched, examples, strict=True)
        ]
        if not self.recipe.asked:
            self.refuse_unknown_labels()
            self.check_alignment()
            self.check_answers()
            if self.recipe.kind == "span":
                _refuse_marked_answers(matched, made, examples)
        return made

    def _built(
        self, build: Callable[[PredictionRow, Any], Mapping[str, object]], row: PredictionRow, example: Any
    ) -> dict[str, Any]:
        """Return the prediction of a row, with the mentions that have no place in the example's words."""
        self._unplaced = []
        built = {**build(row, example), **row.beside}
        unplaced = [*row.beside.get(UNPLACED, ()), *self._unplaced]
        return {**built, UNPLACED: unplaced} if unplaced else built

    def _check_declared(self, rows: Iterable[PredictionRow]) -> None:
        free = next((row for row in rows if row.key == "output"), None)
        if free is not None and not self.recipe.mapping and self.recipe.kind in ("sequence", "multilabel"):
            raise PubmillError(
                f"{free.where}: free strings of a language model need a declared mapping from answers to "
                f"labels (--mapping FILE, or `mapping` in the model's spec); labels are "
                f"{', '.join(sorted(self.labels))}"
            )

    def _mapped(self, answer: str, where: str) -> str:
        """Return the label of a free string; note one without a mapping."""
        self.reading.answers += 1
        label = self.answers.get(plain_answer(answer))
        if label is None and plain_answer(answer) not in self.answers:
            self.reading.unmapped.append((where, answer))
            return UNMAPPED
        return label or ""

    def _free(self, row: PredictionRow, example: Any) -> FreeAnswer:
        """Return the answers in a free string; the rules that were applied are counted."""
        answer = read_answer(row.value, _source(example))
        self.reading.by_rule.update(answer.rules)
        return answer

    def _tokens(self, row: PredictionRow, example: Any) -> dict[str, list[str]]:
        labels = row.value
        are_labels = is_text_list(labels) and (labels or not self._empty_is_none)
        if row.key in ("output", "mentions") or (row.key == "prediction" and not are_labels):
            json_forms.refuse_numbers(labels, row.where)
            spans = self._spans(row, example)
            places = place_words(_text_of(row, example), example.words)
            mentions, lost = self.aligned(spans, places, row.where, to_mentions(example.labels))
            self._unplace(((one.span.type, one.words) for one in lost), example)
            return {"labels": to_labels(mentions, len(example.words), "bio")}
        unread = [one for one in labels if not LABEL.fullmatch(one)] if is_text_list(labels) else [row.key]
        if unread:
            raise PubmillError(f"{row.where}: expected BIO labels or `mentions`; found {show(unread[0])}")
        if len(labels) != len(example.words):
            raise PubmillError(
                f"{row.where}: {len(labels)} labels for the {len(example.words)} words of {show(example.id)}"
                ": other tokens, or another variant of the dataset. Nothing was scored"
            )
        return {"labels": [self._known_tag(label, row.where) for label in as_bio(labels)]}

    def _known_tag(self, label: str, where: str) -> str:
        if label == "O":
            return label
        prefix, _, of = label.partition("-")
        kind = self.known(of, where)
        return "O" if kind is None else f"{prefix}-{kind}" if kind else prefix

    def _unplace(self, mentions: Iterable[tuple[str, int]], example: Any) -> None:
        """Note mentions without a place (type, words); each has at most as many words as its sentence."""
        self._unplaced += [[kind, min(words, len(example.words))] for kind, words in mentions]

    def aligned(
        self, spans: Iterable[PredictedSpan], places: Sequence[Place], where: str, gold: Sequence[Mention]
    ) -> tuple[list[Mention], list[Lost]]:
        """Return predicted spans as mentions of words, and those that labels cannot express, which are noted;
        without those of types that are mapped to nothing."""
        kinds = [(span, self.known(span.type, where)) for span in spans]
        typed = [span._replace(type=kind) for span, kind in kinds if kind is not None]
        mentions, lost = align(typed, places, where, set(gold))
        self.reading.spans += len(typed)
        self.reading.lost += lost
        return mentions, lost

    def _spans(self, row: PredictionRow, example: Any) -> list[PredictedSpan]:
        """Return the mentions in a row as spans, pieces of words joined; one that is named by its text is
        every occurrence of it."""
        if row.key == "output":
            return self._spans_in_output(row, example)
        mentions: list[SomeMention] = row.value if row.key == "mentions" else spans_of(row.value, row.where)
        text = _text_of(row, example)
        joined = joined_pieces(mentions, text, self.labels, self.recipe.mapping)
        spans = [one for one in joined if isinstance(one, PredictedSpan)]
        named = [one for one in joined if isinstance(one, NamedMention)]
        self.reading.answers += len(named)
        self.reading.by_rule["text"] += bool(named)
        typed = {one._replace(type=one.type or self._only_type() or ""): one.text for one in named}
        return [*spans, *self._occurrences(typed, text, row, example)]

    def _spans_in_output(self, row: PredictionRow, example: Any) -> list[PredictedSpan]:
        """Return the mentions in a free string: JSON, or a line for each, `TYPE: text` or, in a dataset with
        one type, only the text. Every occurrence of a text counts."""
        named, text = dict[NamedMention, str](), " ".join(example.words)
        for item in self._free(row, example).items:
            self.reading.answers += 1
            name, stated = self._named_in_output(item)
            if plain_answer(name) in ("", NOTHING) or plain_answer(item.text) in self.answers:
                continue  # such as "none", which names no mention
            kind = self._only_type() if stated is None else self.answers.get(stated, UNMAPPED)
            if kind is None and stated is None and name in text:
                kind = UNMAPPED  # a mention without the type that it needs; other lines are words around it
            if stated in self.answers and self.is_nothing(kind):
                self.reading.dropped[stated] += 1
            elif kind is None:
                self.reading.unmapped.append((row.where, item.text))
            else:
                named[NamedMention(name, kind)] = item.text
        return self._occurrences(named, text, row, example)

    def _occurrences(
        self, named: Mapping[NamedMention, str], text: str, row: PredictionRow, example: Any
    ) -> list[PredictedSpan]:
        """Return every occurrence of mentions named by their texts (and how the answer has each). If a
        text has occurrences that are whole words and in no longer mention, the others do not count. One
        without an occurrence is a false positive."""
        places = place_words(text, example.words)
        starts, ends = ({place[side] for place in places if place} for side in (0, 1))
        found = {one: _spans_of_text(*one, text) if one.type != UNMAPPED else [] for one in named}
        self.reading.by_rule["places"] += any(len(some) > 1 for some in found.values())
        for one, some in found.items():
            found[one] = [span for span in some if span.start in starts and span.end in ends] or some[:1]
        every = {span[:2] for some in found.values() for span in some}
        spans = list[PredictedSpan]()
        for one, some in found.items():
            spans += [span for span in some if not _is_inside(span, every)] or some
            if not some and (kind := self.known(one.type, row.where)) is not None:
                self.reading.unmapped.append((row.where, named[one]))
                self._unplace([(kind, len(one.text.split()) or 1)], example)
        return spans

    def _named_in_output(self, item: FreeItem) -> tuple[str, str | None]:
        """Return the text of a mention in a free string, and its type as mappings compare it, if any."""
        of, colon, named = item.text.partition(":")
        if item.type is not None:
            return item.text, plain_answer(item.type)
        if colon and plain_answer(of) in self.answers:
            return named.strip(), plain_answer(of)
        return item.text, None

    def _only_type(self) -> str | None:
        return self.recipe.labels[0] if len(self.recipe.labels) == 1 else None

    def _sequence(self, row: PredictionRow, example: Any) -> dict[str, str]:
        if row.key == "output":
            return {"label": self._mapped(self._free(row, example).text(), row.where)}
        value = str(row.value) if row.key == "prediction" and type(row.value) is int else row.value
        if row.key not in ("label", "prediction") or not isinstance(value, str):
            raise PubmillError(f"{row.where}: expected one label, a string or number")
        return {"label": str(self.known(value, row.where))}

    def _multilabel(self, row: PredictionRow, example: Any) -> dict[str, list[str]]:
        if row.key == "output":
            texts = self._free(row, example).text()
            parts = [part for part in _BETWEEN.split(texts) if part.strip()]
            labels: list[str | None] = [self._mapped(part, row.where) for part in parts]
        elif is_text_list(row.value):
            labels = [self.known(label, row.where) for label in row.value]
        elif row.key == "prediction" and isinstance(row.value, str):
            labels = [self.known(label, row.where) for label in row.value.split(SEPARATOR) if label]
        else:
            raise PubmillError(f"{row.where}: expected a list of labels")
        named = list(filter(None, labels))
        if len(set(named)) < len(named) and row.key != "output":
            raise PubmillError(f"{row.where}: a label occurs twice")
        return {"labels": sorted(set(named))}

    def _regression(self, row: PredictionRow, example: Any) -> dict[str, float]:
        value = row.value
        if isinstance(value, str):
            text = plain_answer(self._free(row, example).text()) if row.key == "output" else value
            value = float(text) if _NUMBER.fullmatch(text) else None
        if not is_finite_number(value):
            raise PubmillError(
                f"{row.where}: expected a finite number; a correlation cannot count an answer as wrong"
            )
        return {"score": float(value)}

    def _mentions(self, row: PredictionRow, example: Any) -> dict[str, list[list[int | str]]]:
        places = place_words(_text_of(row, example), example.words)
        found: set[Mention] = set()
        for span in self._spans(row, example):  # one by one, as they may overlap
            mentions, lost = self.aligned([span], places, row.where, ())
            found.update(mentions)
            self._unplace(((one.span.type, one.words) for one in lost), example)
        return {"mentions": [list(one) for one in sorted(found)]}

    def _relations(self, row: PredictionRow, example: Any) -> dict[str, list[list[str]]]:
        read, unread = relations_of(row)
        self.reading.answers += len(read) + len(unread) if row.key == "output" else 0
        self.reading.unmapped += [(row.where, line) for line in unread]
        named = [(a, b, self.known(label, row.where), *more) for a, b, label, *more in read]
        relations = [list(map(str, one)) for one in named if one[2] is not None]
        half_read = [line for line in unread if "|" in line]  # two concepts without a label
        relations += [[UNMAPPED, str(number), UNMAPPED] for number in range(len(half_read))]
        return {"relations": sorted_lists(relations)}

    def _span(self, row: PredictionRow, example: Any) -> dict[str, list[dict[str, str | float]]]:
        if row.key == "output":
            free = self._free(row, example)
            several = (example.items or {"json", "bullets"} & set(free.rules)) and free.items
            texts = [item.text for item in free.items] if several else [free.text()]
            answers = [(text, 1.0 / (1 + place)) for place, text in enumerate(texts)]
        elif row.key == "answers":
            answers = row.value
        elif row.key == "prediction":
            answers = answers_of(row.value, row.where)
        else:
            raise PubmillError(f"{row.where}: expected answers")
        if example.items and [one for _, one in answers] == [1.0 / (1 + n) for n in range(len(answers))]:
            answers = [(text, 1.0) for text, _ in answers]  # a list without probabilities: all are submitted
        return {"answers": [{"text": text, "probability": probability} for text, probability in answers]}


def empty_prediction(example: Any) -> dict[str, Any]:
    """Return the prediction of an example without one: no mention, label set or relation; for other kinds,
    one that is wrong."""
    key = PREDICTION_FORMS[type(example)].key
    if hasattr(example, "words") and key == "labels":
        return {key: ["O"] * len(example.words)}
    if key == "answers":
        # in a question with several contexts, the answers from the others come first
        return {key: [{"text": NO_PREDICTION, "probability": float(example.group is None)}]}
    return {key: NO_PREDICTION if key == "label" else []}


def _text_of(row: PredictionRow, example: Any) -> str:
    """Return the text in which the spans of a row count characters."""
    return row.text if row.text is not None else " ".join(example.words)


def _source(example: Any) -> str:
    """Return the texts of an example in which an answer may stand as it is."""
    if hasattr(example, "words"):
        return " ".join(example.words)
    texts = (getattr(example, name, None) for name in ("text", "text_pair", "question", "context"))
    return "\n".join(filter(None, texts))


def _spans_of_text(name: str, kind: str, text: str) -> list[PredictedSpan]:
    starts = [match.start() for match in re.finditer(re.escape(name), text)] if name.strip() else []
    return [PredictedSpan(start, start + len(name), kind) for start in starts]


def _is_inside(span: PredictedSpan, others: Iterable[tuple[int, int]]) -> bool:
    return any(start <= span.start and span.end <= end and (start, end) != span[:2] for start, end in others)


def _refuse_marked_answers(
    matched: Sequence[PredictionRow | None], made: Sequence[Mapping[str, Any]], examples: Sequence[Any]
) -> None:
    """Refuse answers to questions if most begin with marks, such as bullets, and are not in the context."""
    answers = [
        (row.where, answer["text"], one.context)
        for row, line, one in zip(matched, made, examples, strict=True)
        if row
        for answer in line["answers"]
    ]
    marked = [
        (where, text) for where, text, context in answers if _MARKED.match(text) and text not in context
    ]
    if 2 * len(marked) > len(answers):
        (place, first), *_ = marked
        raise PubmillError(
            f"{place}: {len(marked)} of {len(answers)} answers begin with marks that their contexts lack, "
            f"the first of them {show(' '.join(first.split()))}. Take code fences, bullets and JSON off. "
            "Nothing was scored"
        )


def is_constant(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether all examples have the same prediction, in which independent systems may agree."""
    return len({repr(_values(one)) for one in rows}) == 1


def _values(row: Mapping[str, Any]) -> list[Any]:
    if "labels" in row and is_label_list(row["labels"]):
        return to_mentions(row["labels"])
    return [value for name, value in sorted(row.items()) if name not in ("id", SUBWORDS)]
