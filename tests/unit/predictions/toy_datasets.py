"""Small made-up datasets of every kind, and their gold as the predictions of a system in every form."""

import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pubmill.convert.dataset_counts import count
from pubmill.examples.argument_transforms import dummies
from pubmill.examples.kinds import SequenceExample, SpanExample, TokensExample, write_examples
from pubmill.examples.tagging import to_labels, to_mentions
from pubmill.predictions.inputs_without_gold import bioc_collection
from pubmill.predictions.inputs_without_gold import bioc_xml as as_xml
from pubmill.predictions.scores import ScoredSubmission, score_submission
from pubmill.predictions.submission import recipe_of
from pubmill.recipes.finetuning import Dummies
from pubmill.recipes.submissions import SubmissionRecipe, System
from pubmill.storage.files import write_json
from tests.unit.toy_examples import KINDS as KINDS
from tests.unit.toy_examples import LABELS as LABELS
from tests.unit.toy_examples import METRICS as METRICS
from tests.unit.toy_examples import TEMPLATES as TEMPLATES
from tests.unit.toy_examples import examples as examples
from tests.unit.toy_examples import relation as relation

SYSTEM = System(name="example/llm", version="1", prompt="Answer: {text}", local=True)
DUMMIES = Dummies(types={"C": "@CHEM$", "G": "@GENE$"}, overlap="@CHEM-GENE$")


def make(results: Path, name: str, dataset: str = "", access: str = "public") -> Path:
    """Write a toy dataset as converted into a results folder; return its folder."""
    rows: Sequence[Any] = examples(name)
    if dataset.endswith("@other"):
        rows = [relation(number, 500) for number in range(1, 13)]
    folder = results / "datasets" / (dataset or name)
    write_examples(folder / "test.jsonl.gz", rows)
    card = {
        "dataset": dataset or name, "kind": KINDS[name], "access": access, "splits": ["test"],
        "metric": METRICS[name], "negative": "none" if name == "rel" else None,
        "counts": {"test": count(rows)},
    }  # fmt: skip
    write_json(folder / "card.json", card)
    return folder


def recipe(results: Path, dataset: str, **changes: Any) -> SubmissionRecipe:
    known = {"system": SYSTEM, "dummies": DUMMIES if dataset.startswith("rel") else None} | changes
    return recipe_of(results / "datasets" / dataset, **known)


def jsonl_of(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def score(
    results: Path, dataset: str, content: str | bytes | Sequence[Mapping[str, Any]], **changes: Any
) -> ScoredSubmission:
    path = results / "predictions"
    text = content if isinstance(content, (str, bytes)) else jsonl_of(content)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return score_submission(path, recipe(results, dataset, **changes), results)


def gold(example: Any) -> Any:
    if isinstance(example, SpanExample):
        return example.golds
    return getattr(example, "labels", getattr(example, "label", getattr(example, "score", None)))


KEYS = {"ner": "labels", "rel": "label", "doc": "labels", "sim": "score", "qa": "answers"}


def jsonl(name: str) -> str:
    return jsonl_of({"id": one.id, KEYS[name]: gold(one)} for one in examples(name))


def conll(scheme: Callable[[list[str]], list[str]] = list, ids: bool = False) -> str:
    text = ""
    for one in examples("ner"):
        assert isinstance(one, TokensExample)
        rows = zip(one.words, scheme(one.labels), strict=True)
        text += f"# id = {one.id}\n" * ids + "".join(f"{word}\t{label}\n" for word, label in rows) + "\n"
    return text


def ioe(labels: list[str]) -> list[str]:
    """Return BIO labels as IOE2: E ends each mention."""
    made = ["O"] * len(labels)
    for start, end, kind in to_mentions(labels):
        made[start:end] = [f"I-{kind}"] * (end - start - 1) + [f"E-{kind}"]
    return made


def iobes(labels: list[str]) -> list[str]:
    bioul = to_labels(to_mentions(labels), len(labels), "bioul")
    return [{"L": "E", "U": "S"}.get(label[0], label[0]) + label[1:] for label in bioul]


def blurb_tsv() -> str:
    text = ""
    for one in examples("rel"):
        assert isinstance(one, SequenceExample)
        shown = dummies(one.text, one.entities, DUMMIES.types, DUMMIES.overlap).text
        text += f"{one.id}\t{shown}\t{one.label}\n"
    return text


def indexed_tsv() -> str:
    """Return the gold of `rel` in BLURB's form of GAD: row number, text, label."""
    rows = [line.split("\t") for line in blurb_tsv().splitlines()]
    body = "".join(f"{number}\t{text}\t{label}\n" for number, (_, text, label) in enumerate(rows))
    return "index\tsentence\tlabel\n" + body


def spans(example: TokensExample, shift: int = 0) -> list[dict[str, Any]]:
    """Return the gold mentions of a sentence as characters of its words joined by blanks."""
    starts = [0]
    for word in example.words:
        starts.append(starts[-1] + len(word) + 1)
    return [
        {"start": starts[first] + shift, "end": starts[last] - 1 + shift, "type": kind}
        for first, last, kind in to_mentions(example.labels)
    ]


def span_lines(shift: int = 0) -> str:
    rows: Any = examples("ner")
    return jsonl_of({"id": one.id, "mentions": spans(one, shift)} for one in rows)


def named(one: Any) -> list[tuple[str, str]]:
    return [(kind, " ".join(one.words[start:end])) for start, end, kind in to_mentions(one.labels)]


def bioc(name: str, results: Path) -> dict[str, Any]:
    """Return the gold of `ner` or `rel` as a BioC collection, annotated in the inputs of the dataset."""
    rows: Any = examples(name)
    made = bioc_collection(rows, recipe(results, name))
    for one, document in zip(rows, made["documents"], strict=True):
        [passage] = document["passages"]
        if name == "rel":
            nodes = [{"refid": "T1", "role": ""}, {"refid": "T2", "role": ""}]
            relation = {"id": "R1", "infons": {"type": one.label}, "nodes": nodes}
            passage["relations"] = [relation] if one.label != "none" else []
            continue
        passage["annotations"] = [
            {
                "id": f"T{number}",
                "infons": {"type": span["type"]},
                "text": passage["text"][span["start"] : span["end"]],
                "locations": [{"offset": span["start"], "length": span["end"] - span["start"]}],
            }
            for number, span in enumerate(spans(one), 1)
        ]
    return made


def bioc_xml(results: Path) -> str:
    return as_xml(bioc("ner", results))


def pubtator() -> str:
    """Return the gold of `ner` as PubTator documents by PMID: the text of all sentences of a document."""
    text, blocks = "", dict[str, list[Any]]()
    rows: Any = examples("ner")
    for one in rows:
        blocks.setdefault(one.document, []).append(one)
    for document, sentences in blocks.items():
        body, lines, offset = [], "", 0
        for one in sentences:
            sentence = " ".join(one.words)
            for span in spans(one, offset):
                start, end = span["start"], span["end"]
                named = sentence[start - offset : end - offset]
                lines += f"{document}\t{start}\t{end}\t{named}\t{span['type']}\n"
            body.append(sentence)
            offset += len(sentence) + 1
        text += f"{document}|t|{' '.join(body)}\n{lines}\n"
    return text


def brat(path: Path) -> Path:
    """Write the gold of `ner` as an archive of brat's files, a text and its mentions for each sentence."""
    rows: Any = examples("ner")
    with zipfile.ZipFile(path, "w") as archive:
        for one in rows:
            text = " ".join(one.words)
            lines = [
                f"T{number}\t{of['type']} {of['start']} {of['end']}\t{text[of['start'] : of['end']]}\n"
                for number, of in enumerate(spans(one), 1)
            ]
            archive.writestr(f"{one.id}.txt", text)
            archive.writestr(f"{one.id}.ann", "".join(lines))
    return path
