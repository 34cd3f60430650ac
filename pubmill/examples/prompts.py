"""Examples as prompts for language models, with the answers that they ask for."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.examples.argument_transforms import dummies, markers
from pubmill.examples.tagging import Mention, to_mentions
from pubmill.recipes.datasets import Glosses
from pubmill.recipes.finetuning import Dummies

NOTHING = "none"
"""The answer that prompts request if nothing is annotated."""
MARKS = (("[E1] ", " [/E1]"), ("[E2] ", " [/E2]"))
"""Marks around the arguments of a relation, in inputs and prompts."""

UNSAID = {
    "relation": "the relation that the text states between them",
    "classification": "what the text is about",
}
"""Task -> what is annotated in a dataset without glosses; for other tasks, its `mentions` or labels."""
TYPES = "Write the type and a colon before each mention; the types are {labels}. "
"""Stands in prompts for mentions of several types."""
PLACES = ("annotated", "types", "labels", "words", "text", "text_pair", "dummies", "question", "context")
"""What may stand in braces in a template."""
_PLACE = re.compile(rf"\{{({'|'.join(PLACES)})\}}")
FIELDS = ("id", "document", "words", "text", "text_pair", "question", "context", "group")
"""Fields of examples that inputs have; all others are gold, or only needed by some forms."""


class Wording(NamedTuple):
    """What the prompts of a dataset say beside the input: a template, the words for its places, and the dummy
    words of its published form."""

    template: str
    words: dict[str, str]
    dummies: Dummies | None = None


class Worded(Protocol):
    """What prompts need of a dataset's spec."""

    @property
    def task(self) -> str: ...
    @property
    def mentions(self) -> str | None: ...
    @property
    def glosses(self) -> Glosses | None: ...
    @property
    def dummies(self) -> Dummies | None: ...


def published_template(file: Path, place: str, template: str) -> str:
    """Return the published prompt of a file, with the string `place` replaced by `template`, which has the
    input. Raises a `PubmillError` unless `place` occurs exactly once."""
    text = file.read_text(encoding="utf-8-sig")
    if text.count(place) != 1:
        raise PubmillError(
            f"{file}: {place} stands {text.count(place)} times in this prompt; expected once, where the "
            "input belongs. Mend `place` in the spec of the prompt"
        )
    return text.replace(place, template)


def wording_of(spec: Worded, labels: Sequence[str], template: str) -> Wording:
    """Return the wording for a dataset: a template, with the dataset's labels and their glosses. Raises a
    `PubmillError` for a template with dummies and a dataset without."""
    if "{dummies}" in template and spec.dummies is None:
        raise PubmillError("the prompt has {dummies}, and the dataset's spec has no `dummies`")
    named = list(filter(None, labels))
    meanings = spec.glosses.labels if spec.glosses else {}
    explained = [f"{label} ({meanings[label]})" if label in meanings else label for label in named]
    shown = ("; " if meanings else ", ").join(explained)
    unsaid = spec.mentions or " or ".join(named) or "what is looked for"
    annotated = spec.glosses.annotated if spec.glosses else UNSAID.get(spec.task, unsaid)
    types = TYPES.replace("{labels}", shown) if len(named) > 1 else ""
    return Wording(template, {"annotated": annotated, "types": types, "labels": shown}, spec.dummies)


def prompt_of(example: Any, wording: Wording) -> str:
    """Return the prompt of an example; text in braces inside of the input stays as it is."""
    given = {name: value for name in FIELDS if isinstance(value := getattr(example, name, None), str)}
    values = given | wording.words
    if isinstance(example, kinds.TokensExample | kinds.MentionsExample):
        values["words"] = " ".join(example.words)
    if isinstance(example, kinds.RelationsExample):
        first: dict[str, str] = {}  # identifier of a concept -> its first mention
        for one in example.entities:
            first.setdefault(str(one.id), example.text[one.start : one.end])
        concepts = "; ".join(f"{name} ({mention})" for name, mention in first.items())
        values["text"] = f"{example.text}\n\nConcepts: {concepts}"
    if isinstance(example, kinds.SequenceExample) and example.entities:
        values["text"] = marked_text(example)
        if wording.dummies and "{dummies}" in wording.template:
            types, overlap = wording.dummies.types, wording.dummies.overlap
            values["dummies"] = dummies(example.text, example.entities, types, overlap).text
    return _PLACE.sub(lambda match: values.get(match[1], ""), wording.template)


def right_answer(example: Any, typed: bool) -> str:
    """Return the answer that an example's gold asks for, in the form that the prompts name; `typed`: with the
    type of each mention."""
    match example:
        case kinds.TokensExample():
            return _mentions(example.words, to_mentions(example.labels), typed)
        case kinds.MentionsExample():
            return _mentions(example.words, example.spans, typed)
        case kinds.RelationsExample():
            return "\n".join(f"{label}: {a} | {b}" for a, b, label, *_ in example.relations) or NOTHING
        case kinds.SequenceExample():
            return str(example.label)
        case kinds.MultilabelExample():
            return "; ".join(example.labels) or NOTHING
        case kinds.RegressionExample():
            return f"{example.score:g}"
        case kinds.SpanExample():
            shown = example.answers if example.items else example.answers[:1]
            return "\n".join(answer.text for answer in shown) or NOTHING
    raise AssertionError(type(example))


def _mentions(words: Sequence[str], mentions: Sequence[Mention], typed: bool) -> str:
    lines = [(f"{kind}: " if typed else "") + " ".join(words[start:end]) for start, end, kind in mentions]
    return "\n".join(lines) or NOTHING


def marked_text(example: kinds.SequenceExample) -> str:
    """Return the text with marks around the two arguments of a relation."""
    if len(example.entities) != len(MARKS):
        return example.text
    return markers(example.text, example.entities, MARKS).text


def labels_of(card: dict[str, Any]) -> tuple[str, ...]:
    """Return the labels, or types of mentions, of all splits of a dataset; "" for mentions without type."""
    names = {measure for counts in card["counts"].values() for measure in counts}
    family = {"tokens": "words.", "mentions": "mentions."}.get(card["kind"], "labels.")
    labels = sorted(name.removeprefix(family) for name in names if name.startswith(family))
    return tuple(labels or ([""] if card["kind"] == "tokens" else []))
