"""A sound file of each form of other people's files, and what reads it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from pubmill.convert.sentence_documents import read_documents
from pubmill.corpus import clinical, own_texts, packages
from pubmill.corpus.own_texts import Division, read_plain_text
from pubmill.corpus.pubmed_parser_reading import read_medline_with_pubmed_parser
from pubmill.examples.sentences import read_punkt
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.new_specs.new_dataset import NewDataset, describe, write_dataset
from pubmill.prediction.annotated_files import annotate_file
from pubmill.prediction.annotating import Annotator
from pubmill.tables.published_values import read_published
from tests.unit.prediction.toy_annotators import between, fake, tagger
from tests.world.archives import tarball
from tests.world.punkt import punkt_zip


@dataclass(frozen=True)
class Reader:
    """A reader of files.

    Attributes:
        name: The name of its file; if it ends with `.gz`, the file is compressed.
        sound: A content that it reads, or what makes it.
        read: Read all of a file.
        named: What messages may name in place of the file.
        unseen: Kinds of damage that need not be seen.
    """

    name: str
    sound: str | Callable[[], str | bytes]
    read: Callable[[Path], Any]
    named: tuple[str, ...] = ()
    unseen: frozenset[str] = frozenset()

    def content(self) -> str | bytes:
        return self.sound if isinstance(self.sound, str) else self.sound()


def _line(**values: Any) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


JSON_TEXTS = _line(abstract="Naïve.", title="T", pmid=7, date="2001-02-03", lang="en") + _line(
    text="B.\n\nC.", id="x", licence="CC0"
)
TEXT = "One naïve\ntext.\n\nTwo.\n"
NOTES = (
    '"ROW_ID","CATEGORY","ISERROR","TEXT"\n"1","Nursing","","Café ""au lait"", 2 cups.\n\nRest."\n'
    '"2","Physician ","1","A [**2151-7-16**] note."\n'
)
CITATIONS = "".join(
    f"<PubmedArticle><MedlineCitation><PMID Version='1'>{number}</PMID><Article><Journal><JournalIssue>"
    "<PubDate><Year>2001</Year></PubDate></JournalIssue><Title>J</Title></Journal>"
    "<ArticleTitle>Naïve T</ArticleTitle><Abstract><AbstractText>A <i>b</i> c.</AbstractText></Abstract>"
    "<Language>eng</Language></Article><MedlineJournalInfo/></MedlineCitation></PubmedArticle>\n"
    for number in (1, 2)
)
FILE_LIST = (
    "Article File,LastUpdated (YYYY-MM-DD HH:MM:SS),Article Citation,AccessionID,PMID,License,Retracted\n"
    "PMC000xxxxxx/PMC7.xml,2024-12-18 00:00:00,Café,PMC7,1,CC BY,no\n"
)
ARTICLE = {
    "pmcid": "PMC7", "version": 1, "is_manuscript": False, "is_historical_ocr": False, "is_retracted": False,
    "license_code": "CC BY", "pmid": 5,
}  # fmt: skip
DOCUMENTS = _line(
    id="1", text="A naïve B.", more=[1], annotations=[{"start": 0, "end": 1, "text": "A", "type": "x"}]
) + _line(id="2", text="")

_ARGUMENTS = [{"start": 0, "end": 3, "type": "x"}, {"start": 10, "end": 13, "type": "y"}]
PAIRS = _line(id="1", text="Ann binds Bob naïvely.", entities=_ARGUMENTS) + _line(
    id="2", text="Ann saw   Bob.", entities=_ARGUMENTS
)


def _bioc_mention(name: str, kind: str, start: int) -> dict[str, Any]:
    where = [{"offset": start, "length": 4}]
    return {"id": name, "infons": {"type": kind}, "text": kind, "locations": where}


BIOC = {
    "source": "s",
    "documents": [{"id": "7", "infons": {"k": "v"}, "passages": [
        {"offset": 0, "text": "Naïve", "annotations": []},
        {
            "offset": 10, "infons": {}, "text": "a drug binds a gene",
            "annotations": [_bioc_mention("T1", "drug", 12), _bioc_mention("T2", "gene", 25)],
            "relations": [
                {"id": "R1", "infons": {"type": "binds"}, "nodes": [{"refid": "T1", "role": "drug"}]}
            ],
        },
    ]}],
}  # fmt: skip
BIOC_XML = (
    '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE collection SYSTEM "BioC.dtd"><collection>'
    '<source>s</source><date>1</date><key>k</key><document><id>7</id><infon key="k">v</infon><passage>'
    '<offset>10</offset><text>a drug binds naïvely</text><annotation id="T1"><infon key="type">drug</infon>'
    '<location offset="12" length="4"/><text>drug</text></annotation></passage><relation id="R1">'
    '<infon key="type">b</infon><node refid="T1" role="drug"/></relation></document></collection>\n'
)
PUBTATOR = (
    "1|t|Naïve drug\n1|a|A drug binds.\n1\t6\t10\tdrug\tChemical\tD1\n1\tCID\tD1\tD2\n\n"
    "2|t|Gene\n2|a|\n2\t0\t4\tGene\tGene\t9\n\n"
)
TOKENIZER: dict[str, Any] = {
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
    "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "naïve": 1, "a": 2}},
}  # fmt: skip
PUBLISHED = 'column,row,metric,value,note\nBERT,A,F1,81.5,\nNaïve,A,F1,,"not\nreported, there"\nB,C,F1,+3,\n'
TABLE = "sentence\tid\tgold\n" + "".join(
    f"The gené {number} binds.\ta{number}\t{'yes' if number % 2 else 'no'}\n" for number in range(6)
)
WORDS = "Micé\tB-Species\nran\tO\n.\tO\n\nNo\tO\nHela\tB-Cell\ncells\tI-Cell\n\n"
LABELLED = "".join(_line(pmid=10 + n, abstract=f"Text {n} on micé.", kind="ab"[n % 2]) for n in range(6))
_QUESTION = {"id": "q1", "question": "Who?", "answers": [{"text": "Micé", "answer_start": 0}]}
_PARAGRAPH = {"context": "Micé ran.", "qas": [_QUESTION]}
SQUAD = json.dumps(
    {"version": "1.1", "data": [{"title": "t", "paragraphs": [_PARAGRAPH]}]}, ensure_ascii=False
)


def _texts(path: Path) -> bytes:
    """Return the texts as they are written, which must be UTF-8."""
    return json.dumps(list(own_texts.read_text(path, "notes")), ensure_ascii=False).encode()


def _plain_text(documents: Division, path: Path) -> Any:
    return list(read_plain_text(path, "notes", documents))


def _packages(path: Path) -> Any:
    archive = path.with_name("oa_comm_xml.PMC000xxxxxx.baseline.2024-12-18.tar.gz")
    archive.write_bytes(tarball({"PMC000xxxxxx/PMC7.xml": b"<article/>"}))
    return list(packages.read_package(archive, path))


def _fetched(path: Path) -> Any:
    archive = path.with_name("PMC00000xxxx.tar.gz")
    archive.write_bytes(tarball({path.name: path.read_bytes(), "PMC7.1.xml": b"<article/>"}))
    return list(packages.read_fetched(archive))


def _annotated(form: str, path: Path) -> str:
    target = path.with_name("annotated")
    annotate_file(tagger(), path, target, form)
    return target.read_text()


def _new_dataset(path: Path) -> Any:
    """Describe a dataset of a sound file for training and this one as test set, or of this one alone."""
    files = {"train": path}
    if path.stem == "test":
        train = path.with_name(f"train{path.suffix}")
        train.write_text({".tsv": TABLE, ".txt": WORDS, ".jsonl": LABELLED, ".json": SQUAD}[path.suffix])
        files = {"train": train, "test": path}
    data = NewDataset("mine", files, "public", folder=path.parent)
    found = describe(data)
    write_dataset(data, found, Path(mkdtemp(dir=path.parent)))
    return found.card["counts"]


def _related(path: Path) -> str:
    """Predict the relation of each row of a file."""
    target = path.with_name("related")
    annotator = Annotator(fake("sequence", between, "no", ["binds", "no"]), [], None)
    annotate_file(annotator, path, target, "jsonl")
    return target.read_text()


def _encoded(path: Path) -> Any:
    return load_tokenizer(path.parent).encode("a naïve b").ids


_DATASETS = {"tsv": TABLE, "txt": WORDS, "jsonl": LABELLED, "json": SQUAD}
_REPEATS = frozenset({"a key repeated"})

READERS = (
    Reader("notes.jsonl", JSON_TEXTS, _texts),
    Reader("notes.jsonl.gz", JSON_TEXTS, _texts),
    Reader("notes.txt", TEXT, partial(_plain_text, "blank-line")),
    Reader("lines.txt.gz", TEXT, partial(_plain_text, "line")),
    Reader("NOTEEVENTS.csv", NOTES, lambda path: list(clinical.read_notes(path, "normalise"))),
    Reader("NOTEEVENTS.csv.gz", NOTES, lambda path: list(clinical.read_notes(path))),
    Reader(
        "pubmed26n0001.xml.gz",
        f"<PubmedArticleSet>{CITATIONS}</PubmedArticleSet>",
        lambda path: list(read_medline_with_pubmed_parser(path)),
        unseen=_REPEATS,  # several labels, sections and languages are usual
    ),
    Reader("filelist.csv", FILE_LIST, _packages),
    Reader("PMC7.1.json", json.dumps(ARTICLE), _fetched, named=("PMC00000xxxx.tar.gz",)),
    Reader("documents.txt", TEXT, partial(_annotated, "text")),
    Reader("documents.jsonl", DOCUMENTS, partial(_annotated, "jsonl")),
    Reader("documents.jsonl.gz", DOCUMENTS, partial(_annotated, "jsonl")),
    Reader("words.jsonl", _line(id="1", words=["Ann", "ïs", "here"]), partial(_annotated, "jsonl")),
    Reader("pairs.jsonl", PAIRS, _related),
    Reader("bioc.json", json.dumps(BIOC, ensure_ascii=False, indent=1), partial(_annotated, "bioc-json")),
    Reader("bioc.xml", BIOC_XML, partial(_annotated, "bioc-xml")),
    Reader("bioc.xml.gz", BIOC_XML, partial(_annotated, "bioc-xml")),
    Reader("documents.pubtator", PUBTATOR, partial(_annotated, "pubtator")),
    Reader("corpus.pubtator", PUBTATOR, lambda path: list(read_documents(path))),
    Reader("punkt_tab.zip", punkt_zip, lambda path: vars(read_punkt(path))),
    Reader(
        "tokenizer.json",
        json.dumps(TOKENIZER, ensure_ascii=False),
        _encoded,
        unseen=_REPEATS,  # tokenizers reads the file
    ),
    Reader("table01.published.csv", PUBLISHED, lambda path: read_published(path).to_csv()),
    *(
        Reader(f"{name}.{suffix}", content, _new_dataset, named=("dataset mine", "example '"))
        for suffix, content in _DATASETS.items()
        for name in ("train", "test")
    ),
)
