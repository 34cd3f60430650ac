"""The inputs of a dataset's test split without gold, in every form in which predictions are read, and as
prompts."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from pubmill.convert.source_files import one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example, SequenceExample, TokensExample
from pubmill.extras.submissions import conll_form
from pubmill.extras.submissions.matching import marked_text
from pubmill.extras.submissions.tsv_form import MISSING
from pubmill.recipes.submissions import AskRecipe, SubmissionRecipe
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.storage.files import writing
from pubmill.storage.privacy import write_label_beside

FIELDS = ("id", "document", "words", "text", "text_pair", "question", "context", "group")
"""Fields of examples that inputs have; all others are gold, or only needed by some forms."""

TEMPLATES = {
    "ner": "List every mention of {annotated} in the sentence, one per line and exactly as written. {types}"
    "Write none if there is no mention.\n\nSentence: {words}\n\nMentions:",
    "relation": "Two mentions are marked, [E1] and [E2]. Wanted is {annotated}. Answer with exactly one of "
    "these labels.\n\nLabels: {labels}\n\nText: {text}\n\nLabel:",
    "similarity": "How similar in meaning are the two sentences, from 0 (not at all) to 4 (equivalent)? "
    "Answer with a number.\n\nSentence 1: {text}\nSentence 2: {text_pair}\n\nAnswer:",
    "classification": "Wanted is {annotated}. Answer with the labels that fit, separated by semicolons, or "
    "with none.\n\nLabels: {labels}\n\nText: {text}\n\nAnswer:",
    "yes-no": "Answer the question from the text with exactly one of: {labels}.\n\nText: {text_pair}\n\n"
    "Question: {text}\n\nAnswer:",
    "inference": "What follows from the premise for the hypothesis? Answer with exactly one of these labels."
    "\n\nLabels: {labels}\n\nPremise: {text}\nHypothesis: {text_pair}\n\nAnswer:",
    "factoid": "Answer the question with as few words of the context as possible.\n\nContext: {context}\n\n"
    "Question: {question}\n\nAnswer:",
}
TEMPLATES |= {
    "de-identification": TEMPLATES["ner"],
    "pico": TEMPLATES["ner"],
    "reading": TEMPLATES["factoid"],
}
"""Task -> template of its prompts; the dataset's spec may have its own (`prompt`)."""
UNSAID = {
    "relation": "the relation that the text states between them",
    "classification": "what the text is about",
}
"""Task -> what is annotated in a dataset without glosses; mentions: those of its types."""
TYPES = "Write the type and a colon before each mention; the types are {labels}. "
"""Stands in prompts for mentions of several types."""
_PLACE = re.compile(r"\{(annotated|types|labels|words|text|text_pair|question|context)\}")


class Wording(NamedTuple):
    """What the prompts of a dataset say beside the input: a template, and the words for its places."""

    template: str
    words: dict[str, str]


def wording_of(spec: DatasetSpec | AskRecipe, labels: Sequence[str]) -> Wording:
    """Return the wording for a dataset: its own or its task's template, with its labels and their glosses."""
    named = list(filter(None, labels))
    meanings = spec.glosses.labels if spec.glosses else {}
    explained = [f"{label} ({meanings[label]})" if label in meanings else label for label in named]
    shown = ("; " if meanings else ", ").join(explained)
    unsaid = spec.mentions or " or ".join(named) or "what is looked for"
    annotated = spec.glosses.annotated if spec.glosses else UNSAID.get(spec.task, unsaid)
    types = TYPES.replace("{labels}", shown) if len(named) > 1 else ""
    return Wording(
        spec.prompt or TEMPLATES[spec.task], {"annotated": annotated, "types": types, "labels": shown}
    )


def row_of(example: Any, recipe: SubmissionRecipe) -> dict[str, Any]:
    """Return the input of an example: its id, the dataset's name, and nothing of its gold."""
    row = {name: getattr(example, name) for name in FIELDS if getattr(example, name, None) is not None}
    if isinstance(example, SequenceExample) and example.entities:
        row["arguments"] = [{"start": e.start, "end": e.end, "type": e.type} for e in example.entities]
    return {"dataset": recipe.dataset, **row}


def prompt_of(example: Any, wording: Wording) -> str:
    """Return the prompt of an example; text in braces inside of the input stays as it is."""
    given = {name: value for name in FIELDS if isinstance(value := getattr(example, name, None), str)}
    values = given | wording.words
    if isinstance(example, TokensExample):
        values["words"] = " ".join(example.words)
    if isinstance(example, SequenceExample) and example.entities:
        values["text"] = marked_text(example)
    return _PLACE.sub(lambda found: values.get(found[1], ""), wording.template)


def write_inputs(
    folder: Path, examples: Sequence[Example], recipe: SubmissionRecipe, wording: Wording
) -> list[Path]:
    """Write the inputs of a split into a folder in every form that fits the dataset; return the files.

    `mapping.json` maps every label to itself, to be completed by the answers of a language model. Files that
    were changed since they were written stay: a `PubmillError` names the first.
    """
    prompts = ({"id": one.id, "prompt": prompt_of(one, wording)} for one in examples)
    files: dict[str, Callable[[], Iterator[str]]] = {
        "inputs.jsonl": lambda: _lines(row_of(one, recipe) for one in examples),
        "inputs.json": lambda: _document([row_of(one, recipe) for one in examples]),
        "prompts.jsonl": lambda: _lines(prompts),
        "mapping.json": lambda: _document({label: label for label in recipe.labels if label}),
        **_files_of_kind(examples, recipe),
    }
    contents = {folder / name: "".join(make()).encode() for name, make in files.items()}
    for path, content in contents.items():
        if path.is_file() and path.read_bytes() != content:
            raise PubmillError(
                f"{path} exists with other content, such as your predictions; delete it or name another "
                f"folder"
            )
    for path, content in contents.items():
        write_label_beside(path)
        with writing(path) as temporary:
            temporary.write_bytes(content)
    return list(contents)


def _files_of_kind(
    examples: Sequence[Any], recipe: SubmissionRecipe
) -> dict[str, Callable[[], Iterator[str]]]:
    found: dict[str, Callable[[], Iterator[str]]] = {}
    if recipe.kind == "tokens":  # whose labels do not fit into a cell of a table
        found["inputs.conll"] = lambda: _conll(examples)
    else:
        found["inputs.tsv"] = lambda: _tsv(examples)
    if recipe.kind == "tokens" or (recipe.kind == "sequence" and examples[0].entities):
        found |= {
            "inputs.bioc.json": lambda: _document(bioc_collection(examples, recipe)),
            "inputs.bioc.xml": lambda: iter([bioc_xml(bioc_collection(examples, recipe))]),
            "inputs.pubtator": lambda: _pubtator(examples),
        }
    return found


def _lines(rows: Any) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _document(content: Any) -> Iterator[str]:
    yield json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _tsv(examples: Sequence[Any]) -> Iterator[str]:
    names = ("text", "text_pair", "question", "context")
    shown = [name for name in names if isinstance(getattr(examples[0], name, None), str)]
    yield "\t".join(["id", *shown, "prediction"]) + "\n"
    for example in examples:
        yield "\t".join([example.id, *map(one_line, _cells(example, shown)), MISSING]) + "\n"


def _cells(example: Any, names: Sequence[str]) -> list[str]:
    if isinstance(example, SequenceExample) and example.entities:
        return [marked_text(example), *(getattr(example, name) for name in names[1:])]
    return [getattr(example, name) or "" for name in names]


def _conll(examples: Sequence[TokensExample]) -> Iterator[str]:
    for example in examples:
        lines = (f"{word}\t{conll_form.MISSING}\n" for word in example.words)
        yield f"# id = {example.id}\n" + "".join(lines) + "\n"


def _text_and_mentions(example: Any) -> tuple[str, list[Any]]:
    if isinstance(example, TokensExample):
        return " ".join(example.words), []
    return one_line(example.text), example.entities


def bioc_collection(examples: Sequence[Any], recipe: SubmissionRecipe) -> dict[str, Any]:
    documents = []
    for example in examples:
        text, mentions = _text_and_mentions(example)
        annotations = [
            {
                "id": f"T{number}",
                "infons": {"type": one.type},
                "text": text[one.start : one.end],
                "locations": [{"offset": one.start, "length": one.end - one.start}],
            }
            for number, one in enumerate(mentions, 1)
        ]
        passage = {"infons": {}, "offset": 0, "text": text, "annotations": annotations, "relations": []}
        documents.append({"id": example.id, "infons": {}, "passages": [passage], "relations": []})
    return {"source": recipe.dataset, "date": "", "key": "", "infons": {}, "documents": documents}


def bioc_xml(collection: Mapping[str, Any]) -> str:
    try:
        return etree.tostring(_bioc_tree(collection), encoding="unicode", pretty_print=True)
    except ValueError:
        raise PubmillError("a text has characters that XML cannot contain") from None


def _bioc_tree(collection: Mapping[str, Any]) -> etree._Element:
    root = etree.Element("collection")
    for name in ("source", "date", "key"):
        etree.SubElement(root, name).text = collection[name]
    for document in collection["documents"]:
        node = etree.SubElement(root, "document")
        etree.SubElement(node, "id").text = document["id"]
        for passage in document["passages"]:
            inner = etree.SubElement(node, "passage")
            etree.SubElement(inner, "offset").text = str(passage["offset"])
            etree.SubElement(inner, "text").text = passage["text"]
            for one in passage["annotations"]:
                annotation = etree.SubElement(inner, "annotation", id=one["id"])
                etree.SubElement(annotation, "infon", key="type").text = one["infons"]["type"]
                place = {name: str(value) for name, value in one["locations"][0].items()}
                etree.SubElement(annotation, "location", place)
                etree.SubElement(annotation, "text").text = one["text"]
    return root


def _pubtator(examples: Sequence[Any]) -> Iterator[str]:
    for example in examples:
        text, mentions = _text_and_mentions(example)
        lines = [
            f"{example.id}\t{one.start}\t{one.end}\t{text[one.start : one.end]}\t{one.type}\tT{number}\n"
            for number, one in enumerate(mentions, 1)
        ]
        yield f"{example.id}|t|{text}\n" + "".join(lines) + "\n"
