"""The inputs of a dataset's test split without gold, in forms in which predictions are read, and as
prompts."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from pubmill.convert.source_files import one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example, RelationsExample, SequenceExample, TokensExample
from pubmill.examples.prompts import FIELDS, Wording, marked_text, prompt_of
from pubmill.formats.bioc_collections import to_xml
from pubmill.predictions import conll_form
from pubmill.predictions.tsv_form import MISSING
from pubmill.recipes.submissions import SubmissionRecipe
from pubmill.storage.files import writing
from pubmill.storage.privacy import write_label_beside


def row_of(example: Example, recipe: SubmissionRecipe) -> dict[str, object]:
    """Return the input of an example: its id, the dataset's name, and nothing of its gold."""
    row = {name: getattr(example, name) for name in FIELDS if getattr(example, name, None) is not None}
    if isinstance(example, RelationsExample):
        entities = [{"start": e.start, "end": e.end, "type": e.type, "id": e.id} for e in example.entities]
        row |= {"arguments": entities, "pairs": example.pairs}
    if isinstance(example, SequenceExample) and example.entities:
        row["arguments"] = [{"start": e.start, "end": e.end, "type": e.type} for e in example.entities]
    return {"dataset": recipe.dataset, **row}


def write_inputs(
    folder: Path, examples: Sequence[Example], recipe: SubmissionRecipe, wording: Wording
) -> list[Path]:
    """Write the inputs of a split into a folder in every form that fits the dataset; return the files.
    `mapping.json` maps every label to itself, to be completed by the answers of a language model. Files that
    were changed since they were written stay: a `PubmillError` names the first."""
    prompts = ({"id": one.id, "prompt": prompt_of(one, wording)} for one in examples)
    rows = [row_of(one, recipe) for one in examples]
    files: dict[str, Iterable[str]] = {
        "inputs.jsonl": _lines(rows),
        "inputs.json": _document(rows),
        "prompts.jsonl": _lines(prompts),
        "mapping.json": _document({label: label for label in recipe.labels if label}),
        **_files_of_kind(examples, recipe),
    }
    contents = {folder / name: "".join(parts).encode() for name, parts in files.items()}
    for path, content in contents.items():
        if path.is_file() and path.read_bytes() != content:
            fault = "exists with other content, such as your predictions; delete it or name another folder"
            raise PubmillError(f"{path} {fault}")
    for path, content in contents.items():
        write_label_beside(path)
        with writing(path) as temporary:
            temporary.write_bytes(content)
    return list(contents)


def _files_of_kind(examples: Sequence[Any], recipe: SubmissionRecipe) -> dict[str, Iterable[str]]:
    files: dict[str, Iterable[str]] = {}
    if recipe.kind == "tokens":  # whose labels do not fit into a cell of a table
        files["inputs.conll"] = _conll(examples)
    else:
        files["inputs.tsv"] = _tsv(examples)
    if recipe.kind == "tokens" or (recipe.kind == "sequence" and examples[0].entities):
        collection = bioc_collection(examples, recipe)
        files |= {
            "inputs.bioc.json": _document(collection),
            "inputs.bioc.xml": bioc_xml(collection),
            "inputs.pubtator": _pubtator(examples),
        }
    return files


def _lines(rows: Any) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _document(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _tsv(examples: Sequence[Example]) -> Iterator[str]:
    names = ("text", "text_pair", "question", "context")
    shown = [name for name in names if isinstance(getattr(examples[0], name, None), str)]
    yield "\t".join(["id", *shown, "prediction"]) + "\n"
    for example in examples:
        cells = [getattr(example, name) or "" for name in shown]
        if isinstance(example, SequenceExample) and example.entities:
            cells[0] = marked_text(example)
        yield "\t".join([example.id, *map(one_line, cells), MISSING]) + "\n"


def _conll(examples: Sequence[TokensExample]) -> Iterator[str]:
    for example in examples:
        lines = (f"{word}\t{conll_form.MISSING}\n" for word in example.words)
        yield f"# id = {example.id}\n" + "".join(lines) + "\n"


def _text_and_mentions(example: Any) -> tuple[str, list[Any]]:
    if isinstance(example, TokensExample):
        return " ".join(example.words), []
    return one_line(example.text), example.entities


def bioc_collection(examples: Sequence[Example], recipe: SubmissionRecipe) -> dict[str, Any]:
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


def bioc_xml(collection: dict[str, Any]) -> str:
    try:
        return etree.tostring(to_xml("collection", collection), encoding="unicode", pretty_print=True)
    except ValueError:
        raise PubmillError("a text has characters that XML cannot contain") from None


def _pubtator(examples: Sequence[Example]) -> Iterator[str]:
    for example in examples:
        text, mentions = _text_and_mentions(example)
        lines = [
            f"{example.id}\t{one.start}\t{one.end}\t{text[one.start : one.end]}\t{one.type}\tT{number}\n"
            for number, one in enumerate(mentions, 1)
        ]
        yield f"{example.id}|t|{text}\n" + "".join(lines) + "\n"
