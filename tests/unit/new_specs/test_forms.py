"""Forms of a dataset's files, found from their content: converter, options and counts."""

import gzip
import io
import json
from collections.abc import Mapping
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from pubmill.new_specs.file_forms import Given
from tests.unit.new_specs import files as toy
from tests.unit.new_specs.conftest import Found

NAMED = {
    "text": "Aspirin harms mice.",
    "entities": [{"id": 1, "start_offset": 0, "end_offset": 7, "label": "Drug"},
     {"id": 2, "start_offset": 14, "end_offset": 18, "label": "Species"}],
}  # fmt: skip
SPANS = {"id": 3, "text": "Aspirin harms mice.", "label": [[0, 7, "Drug"], [14, 18, "Species"]]}
PAIR = '<QAPair pid="{0}"><Question qtype="{1}">Of what {0}?</Question><Answer>It is {0}.</Answer></QAPair>'
PAIRS = [
    f"<Document><QAPairs>{''.join(PAIR.format(*pair) for pair in pairs)}</QAPairs></Document>"
    for pairs in ([("n0", "a")], [("n1", "b"), ("n2", "a")], [("n3", "b")])
]
OBJECT = '{{"id": "{0}", "text": "It is {0}.", "label": "{1}"}}'
OBJECTS = [OBJECT.format(n, label) for n, label in enumerate("abab")]
HALVES = ["text,label\nIt is.,a\nIt was.,b\n", "text,label\nIt were.,a\nIt has.,b\n"]
FOLDERS: list[tuple[str, list[str], dict[str, str]]] = [
    (".json", [f"[{one}]" for one in OBJECTS], {"id": "id"}), (".json", OBJECTS, {"id": "id"}),
    (".jsonl", ["\n".join(OBJECTS[:3]), OBJECTS[3]], {"id": "id"}), (".csv", HALVES, {}),
    (".tsv", [text.replace(",", "\t") for text in HALVES], {}),
]  # fmt: skip
SEVERAL = [{"abstract": f"Text {n}", "labels": ["a", "b"][: 1 + n % 2]} for n in range(4)]
SCORED = (
    "id\tfirst\tsecond\tscore\n1\tMice ran away.\tThe mice ran.\t3.5\n2\tRats sat down.\tNo rat ran.\t1.0\n"
)
JOINED = "pmid\ttext\tlabels\n" + "".join(
    f"{n}\tText {n} here.\t{label}\n" for n, label in enumerate(("a", "a;b", "b", "a;b", "b;a"))
)
QUOTED = 'text\tkind\n"Mice ran\naway."\tx\nRats sat.\tx\nNo rat.\ty\nNo mice.\ty\n'
TWO_TEXTS = [
    {"first": f"Many mice ran to {n}.", "second": f"Some of {n} rats.", "gold": "ab"[n % 2]} for n in range(4)
]
WORD_LISTS = [
    {"index": 0, "sentence": ["Mice", "ran"], "gold": ["B", "O"]},
    {"index": 1, "sentence": ["No"], "gold": ["O"]},
]
QUESTION = {
    "id": "q1", "question": "Who ran?", "context": "Mice ran.",
    "answers": {"text": ["Mice"], "answer_start": [0]},
}  # fmt: skip
QUESTION_KEYS = {"question": "question", "context": "context", "answers": "answers"}
RELATED = {
    "form": "pubtator", "sentences": "stops", "arguments": "concepts", "pairs": [["Chemical", "Disease"]],
    "labels": ["CID"],
}  # fmt: skip
PUBTATOR_WITHOUT = toy.PUBTATOR.replace("1\tCID\tD1\tD2\n", "")
SHARDS = ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001")
SPLITS = ("train", "validation", "Test")
AB = {"examples": 4, "labels.a": 2, "labels.b": 2}
BY_TYPE = {"label": "class", "text": "abstract", "id": "pmid", "labels": ["a", "b"]}


def parquet(names: Mapping[str, Any], **columns: Any) -> bytes:
    """Return a file of the `datasets` library, with the names of numbered labels."""
    table = pyarrow.table(columns).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": names}})}
    )
    pyarrow.parquet.write_table(table, sink := io.BytesIO())
    return sink.getvalue()


KINDS = {"kind": {"names": ["no", "yes"], "_type": "ClassLabel"}}
SHARD = parquet(KINDS, text=[f"Text {n}" for n in range(4)], kind=[0, 1, 0, 1])
TAGS = {"ner_tags": {"feature": {"names": ["O", "B-S"], "_type": "ClassLabel"}, "_type": "Sequence"}}


def many(suffix: str, texts: list[str]) -> dict[str, str]:
    return {f"train/{number}{suffix}": text for number, text in enumerate(texts)}


@pytest.mark.parametrize(("files", "reading", "converter", "options", "expected"), [
    ({"train.tsv": toy.CONLL}, None, "conll:read", {"labels": "as_written"},
     {"sentences": 2, "tokens": 6, "mentions": 2}),
    ({"train.txt": toy.CONLL.replace("\t", " NN ")}, None, "conll:read",
     {"labels": "as_written", "separator": "blank", "columns": ["word", "column2", "label"]},
     {"sentences": 2, "tokens": 6, "mentions": 2}),
    ({"train.tsv": "Mice\tI-X\nran\tO\n\n"}, None, "conll:read", {"labels": "as_written", "scheme": "io"},
     None),
    ({"train.tsv": "Mice\tB\nran\tI\n\n"}, None, "conll:read", {"labels": "as_written"}, None),
    ({"train.tsv": "a\tB\nb\tL\nc\tO\n"}, None, "conll:read", {"labels": "as_written", "scheme": "bioul"},
     None),
    ({"train.tsv": "Mice\tI-S\nran\tO\n\nrats\tI-S\nmice\tB-S\n\n"}, None, "conll:read",
     {"labels": "as_written", "scheme": "iob1"}, None),
    ({"train.tsv": "-DOCSTART- -X- O\n\nMice\tB-S\nran\tO\n\n"}, None, "conll:read",
     {"labels": "as_written", "documents": "unnamed"}, None),
    ({"train.tsv": "-DOCSTART- 12\n\nMice\tB-S\nran\tO\n\n"}, None, "conll:read", {"labels": "as_written"},
     None),
    ({"train/1.txt": "Fever\tB-Sign\nrose\tO\n", "train/2.txt": "No\tO\npain\tB-Sign\n\n",
      "train/3.txt": "It\tO\n\nis\tO"},
     None, "conll:read", {"labels": "as_written"}, {"sentences": 4, "tokens": 6, "mentions": 2}),
    ({"train.conllu": toy.CONLLU}, None, "conll:read",
     {"labels": "as_written", "documents": "conllu", "columns": ["number", "word", "column3", "label"]},
     {"sentences": 2, "tokens": 5, "mentions": 1}),
    ({"train.conllu": toy.CONLLU.replace("\tO\n", "\tSpaceAfter=No\n").replace(
          "B-Drug", "NER=B-Drug|SpaceAfter=No",
      )},
     None, "conll:read",
     {"labels": "as_written", "documents": "conllu", "columns": ["number", "word", "column3", "label"],
      "misc": "NER"},
     {"sentences": 2, "tokens": 5, "mentions": 1}),
    ({"train.tsv": toy.TABLE}, None, "tsv:read",
     {"columns": ["text", "id", "label"], "header": ["sentence", "id", "gold"], "labels": ["no", "yes"]},
     {"examples": 4, "labels.no": 2, "labels.yes": 2}),
    ({"train.jsonl": toy.LINES}, None, "row_examples:sequence", BY_TYPE,
     {"examples": 6, "labels.a": 3, "labels.b": 3}),
    ({"train.jsonl": toy.LINES, "dev.jsonl": toy.LINES.replace('"class": "a"', '"class": "c"')}, None,
     "row_examples:sequence", BY_TYPE | {"labels": ["a", "b", "c"]},
     {"examples": 6, "labels.a": 3, "labels.b": 3}),
    ({"given/data/train.jsonl.gz": gzip.compress(toy.lines(toy.labelled(4)).encode()),
      "README.md": "---\n---\n"},
     None, "row_examples:sequence", {"text": "text", "label": "label", "labels": ["a", "b"]}, AB),
    (
        {f"{name}.jsonl": toy.lines(toy.labelled(4)) for name in SHARDS[:2]}, None, "row_examples:sequence",
        {"text": "text", "label": "label", "labels": ["a", "b"]},
        {"examples": 8, "labels.a": 4, "labels.b": 4},
    ),
    ({f"{name}.parquet": SHARD for name in SHARDS}, None, "row_examples:sequence",
     {"text": "text", "label": "kind", "labels": {"0": "no", "1": "yes"}},
     {"examples": 8, "labels.no": 4, "labels.yes": 4}),
    ({"train.parquet": parquet(TAGS, tokens=[["Mice", "ran"]], ner_tags=[[1, 0]])}, None,
     "row_examples:tokens", {"words": "tokens", "label": "ner_tags", "labels": ["O", "B-S"]},
     {"sentences": 1, "tokens": 2, "mentions": 1}),
    ({"train.json": toy.SQUAD}, None, "squad:read", {}, {"examples": 1, "questions": 1}),
    ({"train.txt": toy.RCT}, None, "pubmed_rct:read", {"labels": ["AIM", "RESULT"]},
     {"examples": 4, "labels.AIM": 2, "labels.RESULT": 2}),
    ({"train.jsonl": toy.lines(toy.MARKED)}, None, "scibert:read", {"labels": ["FALSE", "HARMS"]}, None),
    ({"train.jsonl": toy.lines(TWO_TEXTS)}, None, "row_examples:sequence",
     {"text": "first", "text_pair": "second", "label": "gold", "labels": ["a", "b"]}, AB),
    ({"train.jsonl": toy.lines([*toy.labelled(3), toy.labelled(4, more="x")[3]])}, None,
     "row_examples:sequence", {"text": "text", "label": "label", "labels": ["a", "b"]}, AB),
    ({"train.csv": 'note,kind\n"One, two",x\nThree,y\n"Fo""ur five six",x\nFive,y\n'}, None,
     "row_examples:sequence", {"label": "kind", "text": "note", "labels": ["x", "y"]},
     {"examples": 4, "labels.x": 2, "labels.y": 2}),
    ({"train.xml": toy.XML}, None, "row_examples:sequence",
     {
         "label": "Question/@qtype", "text": "Question", "text_pair": "Answer", "id": "@n",
         "labels": ["a", "b"], "record": "Pair",
     },
     AB),
    (many(".xml", PAIRS), None, "row_examples:sequence",
     {
         "record": "QAPair", "label": "Question/@qtype", "text": "Question", "text_pair": "Answer",
         "id": "@pid", "labels": ["a", "b"],
     },
     AB),
    (
        many(
            ".xml",
            [f'<case label="{label}"><text>It is {n}.</text></case>' for n, label in enumerate("abab")],
        ),
        None, "row_examples:sequence",
        {"record": ".", "label": "@label", "text": "text", "labels": ["a", "b"]}, AB,
    ),
    *((many(suffix, texts), None, "row_examples:sequence",
     {"label": "label", "text": "text", "labels": ["a", "b"], **more}, AB)
    for suffix, texts, more in FOLDERS),
    ({"train.json": json.dumps(SEVERAL)}, None, "row_examples:multilabel",
     {"text": "abstract", "label": "labels", "labels": ["a", "b"]}, {"examples": 4}),
    ({"train.tsv": SCORED}, None, "row_examples:regression",
     {"text": "first", "text_pair": "second", "score": "score", "id": "id"}, {"examples": 2}),
    ({"train.tsv": JOINED}, None, "row_examples:multilabel",
     {"text": "text", "label": "labels", "separator": ";", "labels": ["a", "b"], "id": "pmid"},
     {"examples": 5}),
    ({"train.tsv": QUOTED}, None, "row_examples:sequence",
     {"text": "text", "label": "kind", "labels": ["x", "y"]}, {"examples": 4, "labels.x": 2, "labels.y": 2}),
    *(({"train.json": json.dumps([row, row])}, None, "row_examples:tokens",
{"words": words, "label": label, "labels": "as_written"}, None)
for row, words, label in (({"tokens": ["a", "b"], "labels": ["B", "O"]}, "tokens", "labels"),
    ({"words": ["a"], "tags": ["B"], "more": ["x"]}, "words", "tags"),
    ({"gold": ["B", "O"], "sentence": ["a", "b"]}, "sentence", "gold"))),
    ({"train.json": json.dumps(WORD_LISTS)}, None, "row_examples:tokens",
     {"words": "sentence", "label": "gold", "labels": "as_written", "id": "index"},
     {"sentences": 2, "tokens": 3, "mentions": 1}),
    ({"train.json": json.dumps([QUESTION, {**QUESTION, "id": "q2"}])}, None, "row_examples:span",
     {**QUESTION_KEYS, "id": "id"}, {"examples": 2, "questions": 2}),
    ({"train.json": json.dumps([QUESTION, QUESTION])}, None, "row_examples:span", QUESTION_KEYS,
     {"examples": 2, "questions": 2}),
    ({"train.json": json.dumps(
          {
              f"q{n}": {
                  "Type": "xy"[n % 2], "Statement": f"Patient {n} rests", "Label": "abc"[n % 3],
              }
              for n in range(12)
          },
          indent=1,
      )},
     None, "row_examples:sequence",
     {"text": "Statement", "label": "Label", "id": "id", "labels": ["a", "b", "c"]},
     {"examples": 12, "labels.a": 4, "labels.b": 4, "labels.c": 4}),
    ({
         f"{split}.csv": "part,note,kind\n" + "".join(
             f"{part[n % 2]},Patient {n} rests,{'ab'[n % 2]}\n"
             for n in range(4)
         )
         for split, part in (("train", "xy"), ("test", "zw"))
     },
     None, "row_examples:sequence", {"text": "note", "label": "kind", "labels": ["a", "b"]}, AB),
    *(
        (
            {"corpus" + suffix: text}, None, "row_examples:sequence",
            {
                "text": "text", "label": "label", "labels": ["a", "b"], "split_column": "part",
                "split_values": {"train": "train", "validation": "dev", "Test": "test"},
            },
            AB,
        )
        for suffix, text in (
            (".jsonl", toy.lines(toy.labelled(12, part=SPLITS))),
            (
                ".tsv",
                "text\tlabel\tpart\n" + "".join(
                    "\t".join(row.values()) + "\n"
                    for row in toy.labelled(12, part=SPLITS)
                ),
            ),
        )
    ),
    ({"train.jsonl": toy.lines(toy.asked(answer=toy.TEXTS, options=[toy.CHOICES], answer_idx=toy.LETTERS))},
     None, "row_examples:sequence",
     {"text": "question", "choices": "options", "label": "answer_idx", "labels": [*toy.LETTERS]},
     {"examples": 8, **{f"labels.{letter}": 2 for letter in toy.LETTERS}}),
    ({"train.jsonl": toy.lines(toy.asked(options=[toy.TEXTS], answer=toy.TEXTS))}, None,
     "row_examples:sequence",
     {"text": "question", "choices": "options", "label": "answer", "labels": [*toy.LETTERS]},
     {"examples": 8, **{f"labels.{letter}": 2 for letter in toy.LETTERS}}),
    *(
        (
            {
                "train.jsonl": toy.lines(
                    toy.asked(
                        opa=toy.TEXTS[:1], opb=toy.TEXTS[1:2], opc=toy.TEXTS[2:3], opd=toy.TEXTS[3:],
                        cop=range(start, start + 4),
                    ),
                ),
            },
            None, "row_examples:sequence",
            {
                "text": "question", "choices": ["opa", "opb", "opc", "opd"], "label": "cop",
                "labels": {str(at + start): letter for at, letter in enumerate(toy.LETTERS)},
            },
            {"examples": 8, **{f"labels.{letter}": 2 for letter in toy.LETTERS}},
        )
        for start in (0, 1)
    ),
    (
        {"train.jsonl": toy.lines(toy.asked(options=[toy.CHOICES], correct_answers=[["A"], ["A", "B"]]))},
        None, "row_examples:multilabel",
        {"text": "question", "choices": "options", "label": "correct_answers", "labels": [*toy.LETTERS]},
        {"examples": 8},
    ),
    *(({"train.jsonl": toy.lines([row, {"text": "None here.", "label": [], "entities": []}])}, None,
     "annotated_texts:mentions", {"form": "spans", "sentences": "stops"},
     {"sentences": 2, "tokens": 7, "mentions": 2})
    for row in (SPANS, NAMED)),
    ({"train.json": json.dumps(toy.WORDS) + "\n"}, None, "annotated_texts:mentions", {"form": "word-spans"},
     {"sentences": 1, "tokens": 4, "mentions": 2}),
    ({"train.json": json.dumps([toy.WORDS, toy.WORDS])}, None, "annotated_texts:mentions",
     {"form": "word-spans"}, {"sentences": 2, "tokens": 8, "mentions": 4}),
    ({"train.json": json.dumps(toy.BIOC)}, None, "annotated_texts:mentions",
     {"form": "bioc-json", "sentences": "stops"}, {"sentences": 1, "tokens": 4, "mentions": 2}),
    ({f"train/{name}": text for name, text in toy.BRAT.items()}, None, "annotated_texts:nested_mentions",
     {"form": "brat", "sentences": "stops", "discontinuous": "covers"},
     {"sentences": 2, "tokens": 8, "mentions": 3, "nested": 2, "left_out.events.Onset": 1}),
    ({"train.PubTator": toy.PUBTATOR}, None, "document_relations:read", RELATED,
     {"documents": 1, "mentions": 3, "pairs": 2, "relations": 1, "novel": 0, "without_pair": 0,
      "labels.CID": 1}),
    (
        {"train.PubTator": toy.PUBTATOR.replace(
             "1\tCID\tD1\tD2\n", "1\tCID\tD2\tD1\n1\tCID\tD1\tD2\n1\tOTHER\tD1\tD2\n",
         )},
        "pairs", "annotated_relations:read",
        {**RELATED, "labels": ["CID", "OTHER"], "negative": "none", "several": "each"},
        {"examples": 3, "labels.CID": 1, "labels.OTHER": 1, "labels.none": 1,
         "left_out.repeated_relations": 1},
    ),
    ({"train.PubTator": toy.PUBTATOR.replace("D2|D3", "p|SUB|Y").replace("\tD2\n", "\tp|SUB|Y\tNovel\n")},
     None, "document_relations:read", {**RELATED, "separators": ",;", "novelty": True},
     {"documents": 1, "mentions": 3, "pairs": 2, "relations": 1, "novel": 1, "without_pair": 0,
      "labels.CID": 1}),
    ({"train.PubTator": toy.PUBTATOR}, "mentions", "annotated_texts:mentions",
     {"form": "pubtator", "sentences": "stops", "overlaps": "longest"},
     {"sentences": 3, "tokens": 13, "mentions": 2, "left_out.overlapping_mentions": 1}),
    ({"train.PubTator": PUBTATOR_WITHOUT}, None, "annotated_texts:nested_mentions",
     {"form": "pubtator", "sentences": "stops"}, {"sentences": 3, "tokens": 13, "mentions": 3, "nested": 1}),
    ({"BioASQ-training7b.json": json.dumps(toy.QUESTIONS), "7B1_golden.json": json.dumps(toy.QUESTIONS)},
     "list", "bioasq:list_questions", {}, {"examples": 2, "questions": 1, "left_out.factoid_questions": 1}),
    ({"BioASQ-training7b.json": json.dumps(toy.QUESTIONS).replace('"factoid"', '"summary"')}, None,
     "bioasq:list_questions", {}, None),
    ({"BioASQ-training7b.json": json.dumps(toy.QUESTIONS)}, "factoid", "bioasq:factoid", {},
     {"examples": 1, "questions": 1, "left_out.list_questions": 1}),
])  # fmt: skip
def test_the_form_options_and_counts_of_files_are_found(
    found: Found,
    files: dict[str, str | bytes],
    reading: str | None,
    converter: str,
    options: dict[str, Any],
    expected: dict[str, int] | None,
) -> None:
    made = found(files, Given(reading))
    assert made.form.converter == f"pubmill.convert.{converter}"
    assert made.form.options == options
    assert expected is None or made.values["expect"]["train"] == expected
