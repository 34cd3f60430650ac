"""Predictions as JSON: lines with an object each, one list of such objects, or an object by id; answers
of language models, a line for each request, in the form of OpenAI's batches of chat completions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import RELATIONS_FAULT, are_relations
from pubmill.examples.prompts import NOTHING
from pubmill.examples.tagging import SUBWORDS, UNPLACED
from pubmill.formats.json_text import parse_json, parse_row, parsed_or_none
from pubmill.messages.quotations import show
from pubmill.predictions.rows import (
    Key,
    LabelledPiece,
    NamedMention,
    PredictedSpan,
    PredictionRow,
    SomeMention,
)
from pubmill.predictions.tsv_form import GOLD

KEYS: dict[str, Key] = {
    "labels": "labels", "label": "label", "score": "score", "answers": "answers", "answer": "answers",
    "mentions": "mentions", "entities": "mentions", "annotations": "mentions", "spans": "mentions",
    "ents": "mentions",
    "output": "output", "response": "output", "completion": "output", "generated_text": "output",
    "prediction": "prediction", "relations": "prediction",
}  # fmt: skip
"""Keys of a prediction; exactly one of them is in a row."""
OTHER_NAMES = {"example_id": "id", "tokens": "words", "ner_tags": "labels", "sentence": "text"}
"""Names that scripts of the field give to keys."""
ANALYSES = ("cats", "labels", "relations", "sents", "tokens")
"""What stands beside the mentions of a text in spaCy's `to_json` and Flair's `to_dict`."""
INPUTS = (
    "dataset", "text", "text_pair", "question", "context", "words", "document", "group", "arguments", "pairs",
)  # fmt: skip
"""Keys that repeat the input."""
TYPES = (
    "type", "label", "label_", "entity_group", "entity", "entity_type", "category", "tag", "ner", "class",
    "value", "labels",
)  # fmt: skip
"""Keys of a mention's type: `type` of Stanza, `label` of GLiNER and spaCy, `label_` of spaCy's spans,
`entity_group` and, without aggregation, `entity` of transformers' pipeline, `value` and `labels` of Flair."""
PLACES = (("start_char", "end_char"), ("start_pos", "end_pos"), ("start", "end"), ("begin", "end"))
"""Keys of a mention's first character and the one behind it: of spaCy and Stanza, of Flair, and of others."""
CUT = "length"
"""Finish reason of answers that were cut off."""
BESIDE = (SUBWORDS, UNPLACED)
"""Further keys of pubmill's own predictions."""
_RELATION = re.compile(r"[-*\s]*([^:|]+):([^|]+)\|([^|]+)")


def read_lines(lines: Sequence[str], where: str) -> Iterator[PredictionRow]:
    """Yield a row for each line."""
    for number, line in enumerate(lines, 1):
        place = f"{where}:{number}"
        yield row_of(parse_json(line, place, numbers_only=True), place)


def read_document(content: Any, where: str) -> Iterator[PredictionRow]:
    """Yield the rows of a parsed JSON document: a list of objects, an object by id, or either below
    `predictions`."""
    if isinstance(content, dict) and content.keys() == {"predictions"}:
        content = content["predictions"]
    if isinstance(content, list):
        for number, row in enumerate(content, 1):
            yield row_of(row, f"{where}: item {number}")
    elif isinstance(content, dict):
        for name, value in content.items():
            place = f"{where}: {show(name)}"
            if isinstance(value, dict):
                yield row_of({"id": name, **value}, place)
            else:
                yield PredictionRow(where=place, id=name, key="prediction", value=value)
    else:
        raise PubmillError(f"{where}: expected a list of objects, or an object with a prediction by id")


def is_batch(line: Any) -> bool:
    """Return whether a JSON value is the answer to a request of a batch."""
    return isinstance(line, dict) and "custom_id" in line


def read_batch(lines: Sequence[str], where: str) -> Iterator[PredictionRow]:
    """Yield the answer to each request; a `PubmillError` for one that failed or has another form."""
    for number, line in enumerate(lines, 1):
        place = f"{where}:{number}"
        row = parse_row(line, place)
        name = row.get("custom_id")
        if not is_batch(row) or not isinstance(name, str):
            raise PubmillError(f"{place}: expected an answer of a batch, with its custom_id")
        text, end = _answer(row, f"{place}: {show(name)}")
        yield PredictionRow(
            where=place, id=name, key="output", value=text, rule="cut" if end == CUT else None
        )


def _answer(row: dict[str, Any], where: str) -> tuple[str, Any]:
    """Return an answer of a batch, and why it ended; several to a request are an error, as nothing says which
    one counts."""
    text: object = None
    try:
        [choice] = row["response"]["body"]["choices"]
        text, end = choice["message"]["content"], choice.get("finish_reason")
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    if not isinstance(text, str):
        raise PubmillError(
            f"{where}: no answer in it, or of a form that is not known; if the request failed, ask again, or "
            "give the answers as JSON lines of id and output. Nothing was scored"
        )
    return text, end


def row_of(row: Any, where: str) -> PredictionRow:
    """Return the row of a JSON object with exactly one key of a prediction."""
    if not isinstance(row, dict):
        raise PubmillError(f"{where}: expected an object with an id and a prediction")
    if "ents" in row or ("entities" in row and row.get("labels") == []):
        row = {name: value for name, value in row.items() if name not in ANALYSES}
    row = {OTHER_NAMES.get(name, name): value for name, value in row.items()}
    if gold := sorted(row.keys() & set(GOLD)):
        raise PubmillError(f"{where}: the key {gold[0]} holds gold labels; give predictions only")
    keys = sorted(row.keys() & KEYS.keys())
    unknown = sorted(row.keys() - KEYS.keys() - {"id", *BESIDE, *INPUTS})
    if unknown or len(keys) != 1:
        said = f"unknown key {show(unknown[0])}; " if unknown else ""
        raise PubmillError(
            f"{where}: {said}expected an id, exactly one prediction ({', '.join(KEYS)}; found "
            f"{', '.join(keys) or 'none'}), and possibly the input ({', '.join(INPUTS)})"
        )
    if not isinstance(row.get(UNPLACED, []), list):
        raise PubmillError(f"{where}: `{UNPLACED}` must be a list")
    name, text, words = row.get("id"), row.get("text"), row.get("words")
    if words is not None and not is_text_list(words):
        raise PubmillError(f"{where}: `words` must be a list of strings")
    if (name is not None and not isinstance(name, str | int)) or isinstance(name, bool):
        raise PubmillError(f"{where}: the id must be a string")
    return PredictionRow(
        where=where,
        id=None if name is None else str(name),
        key=KEYS[keys[0]],
        value=_checked_value(KEYS[keys[0]], row[keys[0]], where),
        dataset=row["dataset"] if _is_text(row, "dataset", where) else None,
        words=words,
        texts=tuple(row[key] for key in ("text_pair", "question", "context") if _is_text(row, key, where)),
        text=text if _is_text(row, "text", where) else None,
        beside={name: row[name] for name in BESIDE if name in row},
    )


def _is_text(row: Mapping[str, object], key: str, where: str) -> bool:
    if row.get(key) is None:
        return False
    if not isinstance(row[key], str):
        raise PubmillError(f"{where}: `{key}` must be a string")
    return True


def _checked_value(key: Key, value: Any, where: str) -> Any:
    if key == "mentions":
        return spans_of(value, where)
    if key == "answers":
        return answers_of(value, where)
    if key == "label" and type(value) is int:
        return str(value)
    if key in ("label", "output") and not isinstance(value, str):
        raise PubmillError(f"{where}: `{key}` must be a string")
    if key == "labels":
        refuse_numbers(value, where)
        if not is_text_list(value):
            raise PubmillError(f"{where}: `labels` must be a list of strings")
    return value


def refuse_numbers(value: Any, where: str) -> None:
    """Refuse a list of numbers in place of labels: programs differ in the order in which they count them."""
    if isinstance(value, list) and value and all(type(one) is int for one in value):
        raise PubmillError(
            f"{where}: numbers in place of labels; give the labels' names, because programs number them "
            "differently"
        )


def is_text_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def spans_of(value: Any, where: str) -> list[SomeMention]:
    """Return the mentions of a list: `{start, end, type}` are characters, `{text, type}` and strings are
    texts, with other names of these keys (`TYPES`, `PLACES`); further keys are not read."""
    mentions = list(map(_mention, value)) if isinstance(value, list) else [None]
    if None in mentions:
        raise PubmillError(
            f"{where}: expected a list of mentions {{start, end, type}}, which count characters from 0, "
            "`end` not included, or {text, type}, or their texts; an answer in words has the key `output`"
        )
    return [one for one in mentions if one is not None]


def _mention(one: Any) -> SomeMention | None:
    if isinstance(one, str):
        return NamedMention(one, "")
    if not isinstance(one, dict):
        return None
    kind = next((_type(one[key]) for key in TYPES if key in one), "")
    places = [(one[first], one[behind]) for first, behind in PLACES if {first, behind} <= one.keys()]
    if kind is None:
        return None
    if not places:
        text, some = one.get("text"), {key for both in PLACES for key in both} & one.keys()
        return NamedMention(text, kind) if isinstance(text, str) and not some else None
    start, end = places[0]
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        return None
    span, index = PredictedSpan(start, end, kind), one.get("index")
    return LabelledPiece(span, index) if "entity" in one and type(index) is int else span


def _type(value: Any) -> str | None:
    """Return the type of a mention; of Flair's list, the value of its only label. None for another form."""
    if isinstance(value, list) and len(value) == 1:
        [value] = value
    if isinstance(value, dict):
        value = value.get("value")
    return value if isinstance(value, str) else None


def answers_of(value: Any, where: str) -> list[tuple[str, float]]:
    """Return ranked answers: a string, a list of them, best first, or a list of `{text, probability}`."""
    items = [value] if isinstance(value, str | dict) else value
    if isinstance(items, list) and items and is_text_list(items):
        return [(text, 1.0 / (1 + place)) for place, text in enumerate(items)]
    if isinstance(items, list) and items and all(map(_is_answer, items)):
        answers = [(item["text"], float(item["probability"])) for item in items]
        if [one for _, one in answers] == sorted((one for _, one in answers), reverse=True):
            return answers
    raise PubmillError(
        f"{where}: expected an answer, a list of answers, best first, or of {{text, probability}} with "
        "falling probabilities between 0 and 1"
    )


def _is_answer(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        return False
    probability: Any = item.get("probability")
    return type(probability) in (int, float) and 0 <= probability <= 1


def relations_of(row: PredictionRow) -> tuple[list[list[str]], list[str]]:
    """Return relations [concept, concept, label, perhaps novelty], and the lines that cannot be read. The row
    has a list of relations in any order, or lines `LABEL: CONCEPT | CONCEPT`, perhaps in a JSON list."""
    if row.key == "output":
        content = parsed_or_none(str(row.value))
        items = content.get("relations") if isinstance(content, dict) else None
        lines = map(str, items) if isinstance(items, list) else str(row.value).splitlines()
        matched = [(line, _RELATION.fullmatch(line)) for line in lines if line.strip()]
        read = [[match[2].strip(), match[3].strip(), match[1].strip()] for _, match in matched if match]
        return read, [line for line, match in matched if not match and line.strip(" .").lower() != NOTHING]
    value = row.value
    if row.key == "prediction" and isinstance(value, list) and all(are_relations([one]) for one in value):
        return value, []
    raise PubmillError(f"{row.where}: expected a list: {RELATIONS_FAULT}")
