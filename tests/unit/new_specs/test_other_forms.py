"""Documents, rows and folders of many files as new datasets: form, counts, and what a wrong file says."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import yaml

from pubmill.convert.dataset import convert
from pubmill.errors import PubmillError
from pubmill.new_specs.file_forms import Given, label_of
from pubmill.new_specs.new_dataset import describe, new_dataset, write_dataset
from pubmill.specs import DatasetSpec
from pubmill.stages.dataset_recipes import conversion_recipe

PUBTATOR = (
    "1|t|Aspirin harms.\n1|a|It causes renal or liver failure. Mice died.\n1\t0\t7\tAspirin\tChemical\tD1\n"
    "1\t25\t47\trenal or liver failure\tDisease\tD2|D3\n1\t34\t47\tliver failure\tDisease\tD3\n"
    "1\tCID\tD1\tD2\n\n"
)
BIOC = {
    "documents": [{"id": "1", "passages": [{
        "offset": 0, "text": "Aspirin harms mice.",
        "annotations": [
            {"id": name, "infons": {"type": kind}, "text": text,
             "locations": [{"offset": start, "length": len(text)}]}
            for name, kind, text, start in (("T1", "Chemical", "Aspirin", 0), ("T2", "Species", "mice", 14))
        ],
        "relations": [{"id": "R1", "infons": {"type": "harms"},
                       "nodes": [{"refid": "T1", "role": "a"}, {"refid": "T2", "role": "b"}]}],
    }]}]
}  # fmt: skip
BRAT = {
    "a.txt": "Fever and chest pain.\nNone seen.\n",
    "a.ann": "T1\tSign 0 5\tFever\nT2\tSign 0 5;16 20\tFever pain\nT3\tSite 10 15\tchest\n"
    "R1\tAt Arg1:T1 Arg2:T3\nE1\tOnset:T1 Of:T3\n#1\tNote T1\tunclear\n",
}
WORDS = {
    "tokenized_text": ["Aspirin", "harms", "mice", "."],
    "ner": [[0, 0, "Drug"], [2, 2, "Species"]],
}
RCT = "###11\nAIM\tWe test.\nRESULT\tIt works.\n\n###12\nAIM\tWe try.\nRESULT\tIt fails.\n\n"
QUESTIONS = (
    "<Pairs>" + "".join(
        f'<Pair n="{n}"><Question qtype="{"ab"[n % 2]}">What is {n}?</Question>'
        f"<Answer>It is {n}.</Answer></Pair>"
        for n in range(4)
    ) + "</Pairs>"
)  # fmt: skip
FILES: dict[str, tuple[str, str]] = {
    "pubtator": (".PubTator", PUBTATOR),
    "bioc-json": (".json", json.dumps(BIOC)),
    "words": (".json", json.dumps(WORDS) + "\n"),
    "rct": (".txt", RCT),
    "csv": (".csv", 'note,kind\n"One, two",x\nThree,y\n"Fo""ur five six",x\nFive,y\n'),
    "xml": (".xml", QUESTIONS),
    "list": (
        ".json",
        json.dumps([{"abstract": f"Text {n}", "labels": ["a", "b"][: 1 + n % 2]} for n in range(4)]),
    ),
}  # fmt: skip


def described(folder: Path, root: Path, reading: str | None = None) -> tuple[DatasetSpec, dict[str, Any]]:
    """Describe a folder's files; return the spec as read again, and the first examples."""
    made = new_dataset([str(folder)], "mine", None, root, root / "data", access="public")
    found = describe(made, Given(reading))
    write_dataset(made, found, root)
    spec = DatasetSpec.model_validate(yaml.safe_load((root / "specs/datasets/mine.yaml").read_text()))
    convert(conversion_recipe(spec.name, spec), made.files, root / "converted")
    return spec, found.first


def written(folder: Path, form: str, change: tuple[str, str] = ("", "")) -> Path:
    suffix, text = FILES[form]
    (folder / "given").mkdir()
    for split in ("train", "test"):
        (folder / f"given/{split}{suffix}").write_text(text.replace(*change))
    return folder / "given"


@pytest.mark.parametrize(
    ("form", "converter", "options", "expected"),
    [
        (
            "pubtator", "document_relations:read",
            {
                "form": "pubtator", "sentences": "stops", "arguments": "concepts",
                "pairs": [["Chemical", "Disease"]], "labels": ["CID"],
            },
            {
                "documents": 1, "mentions": 3, "pairs": 2, "relations": 1, "novel": 0, "without_pair": 0,
                "labels.CID": 1,
            },
        ),
        (
            "bioc-json", "annotated_texts:mentions", {"form": "bioc-json", "sentences": "stops"},
            {"sentences": 1, "tokens": 4, "mentions": 2},
        ),
        (
            "words", "annotated_texts:mentions", {"form": "word-spans"},
            {"sentences": 1, "tokens": 4, "mentions": 2},
        ),
        (
            "rct", "pubmed_rct:read", {"labels": ["AIM", "RESULT"]},
            {"examples": 4, "labels.AIM": 2, "labels.RESULT": 2},
        ),
        (
            "csv", "row_examples:sequence", {"label": "kind", "text": "note", "labels": ["x", "y"]},
            {"examples": 4, "labels.x": 2, "labels.y": 2},
        ),
        (
            "xml", "row_examples:sequence",
            {
                "label": "Question/@qtype", "text": "Question", "text_pair": "Answer", "id": "@n",
                "labels": ["a", "b"], "record": "Pair",
            },
            {"examples": 4, "labels.a": 2, "labels.b": 2},
        ),
        (
            "list", "row_examples:multilabel", {"text": "abstract", "label": "labels", "labels": ["a", "b"]},
            {"examples": 4},
        ),
    ],
)  # fmt: skip
def test_forms_are_found_and_read(
    tmp_path: Path, form: str, converter: str, options: object, expected: dict[str, int]
) -> None:
    spec, _ = described(written(tmp_path, form), tmp_path)
    assert spec.converter == f"pubmill.convert.{converter}"
    assert spec.options == options
    assert spec.expect == {"train": expected, "test": expected}


@pytest.mark.parametrize(
    ("reading", "kind", "options", "expected"),
    [
        (
            "mentions",
            "tokens",
            {"overlaps": "longest"},
            {"sentences": 3, "tokens": 13, "mentions": 2, "left_out.overlapping_mentions": 1},
        ),
        ("nested", "mentions", {}, {"sentences": 3, "tokens": 13, "mentions": 3, "nested": 1}),
    ],
)
def test_documents_are_read_as_one_says(
    tmp_path: Path, reading: str, kind: str, options: dict[str, str], expected: dict[str, int]
) -> None:
    spec, _ = described(written(tmp_path, "pubtator"), tmp_path, reading)
    assert spec.kind == kind
    assert spec.options == {"form": "pubtator", "sentences": "stops", **options}
    assert spec.expect["train"] == expected


def test_overlapping_mentions_are_proposed_as_such_and_other_readings_named(tmp_path: Path) -> None:
    folder = written(tmp_path, "pubtator", ("1\tCID\tD1\tD2\n", ""))
    form = describe(new_dataset([str(folder)], "mine", None, tmp_path, access="public")).form
    assert (form.kind, form.converter) == ("mentions", "pubmill.convert.annotated_texts:nested_mentions")
    assert form.others == {"mentions": "the longest of 6 mentions, one label a word"}


def test_concepts_whose_identifiers_have_bars_and_novelty_are_found(tmp_path: Path) -> None:
    text = PUBTATOR.replace("D2|D3", "p|SUB|Y").replace("\tD2\n", "\tp|SUB|Y\tNovel\n")
    (tmp_path / "given").mkdir()
    (tmp_path / "given/train.PubTator").write_text(text)
    spec, first = described(tmp_path / "given", tmp_path)
    assert (spec.options["separators"], spec.options["novelty"]) == (",;", True)
    assert first["train"]["relations"] == [["D1", "p|SUB|Y", "CID", "Novel"]]


@pytest.mark.parametrize(
    ("form", "reading", "change", "message"),
    [
        ("pubtator", "pair", ("", ""), r"--as pair: expected mentions, nested, relations, pairs, list"),
        ("pubtator", "pairs", ("1\tCID\tD1\tD2\n", ""), r"no relations .*; use --as nested \(all of 6"),
        ("pubtator", "list", ("", ""), r"no questions; use --as relations \(2 relations between concepts"),
        ("pubtator", "relations", ("CID\tD1\tD2", "CID\tD8\tD9"), r"no relation of these files has two"),
        ("bioc-json", "nested", ("", ""), r"no mentions that overlap; use --as mentions"),
        ("csv", "nested", ("", ""), r"--as nested is for documents with annotations and for BioASQ's"),
    ],
)  # fmt: skip
def test_readings_that_files_do_not_have_are_refused(
    tmp_path: Path, form: str, reading: str, change: tuple[str, str], message: str
) -> None:
    with pytest.raises(PubmillError, match=message):
        described(written(tmp_path, form, change), tmp_path, reading)


ASKED = {
    "questions": [
        {
            "id": f"q{kind}", "type": kind, "body": "Which drugs?", "exact_answer": answer,
            "snippets": [{"text": "Aspirin and heparin.", "document": "http://x/pubmed/12"}],
        }
        for kind, answer in (("list", [["aspirin"], ["heparin"]]), ("factoid", ["aspirin"]))
    ]
}  # fmt: skip


def asked(folder: Path, change: tuple[str, str] = ("", "")) -> Path:
    (folder / "given").mkdir()
    for name in ("BioASQ-training7b.json", "7B1_golden.json"):
        (folder / "given" / name).write_text(json.dumps(ASKED).replace(*change))
    return folder / "given"


@pytest.mark.parametrize(
    ("reading", "change", "counts"),
    [
        ("list", ("", ""), {"train": 2, "test": 1}),
        (None, ('"factoid"', '"summary"'), {"train": 2, "test": 1}),
        ("factoid", ("", ""), {"train": 1, "test": 1}),
    ],
)
def test_questions_of_bioasq_are_read_by_their_type(
    tmp_path: Path, reading: str | None, change: tuple[str, str], counts: dict[str, int]
) -> None:
    spec, first = described(asked(tmp_path, change), tmp_path, reading)
    assert (spec.kind, spec.task) == ("span", reading or "list")
    assert {split: expected["examples"] for split, expected in spec.expect.items()} == counts
    assert first["test"]["document"] == "12"


@pytest.mark.parametrize(
    ("reading", "change", "message"),
    [
        (None, ("", ""), r"several types; choose one: --as list \(2 list questions\) or --as fac"),
        ("list", ('"type": "list"', '"type": "yesno"'), r"no list questions in .*: 2 factoid, 2 yesno. For"),
        ("list", ('[["aspirin"], ["heparin"]]', '[["aspirin"], 3]'), r"qlist: exact_answer is not a list"),
        ("list", ('"body"', '"text"'), r"questions.0.body: Field required"),
        ("list", ('"document": "http://x/pubmed/12"', '"document": "12"'), r"snippets.0.document"),
    ],
)  # fmt: skip
def test_wrong_questions_are_errors(
    tmp_path: Path, reading: str | None, change: tuple[str, str], message: str
) -> None:
    with pytest.raises(PubmillError, match=message):
        described(asked(tmp_path, change), tmp_path, reading)


@pytest.mark.parametrize(
    ("form", "argument", "labels", "types"),
    [
        ("pubtator", "concepts", ["CID", "none", "none"], ["Chemical", "Disease"]),
        ("bioc-json", "mentions", ["harms"], ["Chemical", "Species"]),
    ],
)
def test_relations_are_read_if_asked_for(
    tmp_path: Path, form: str, argument: str, labels: list[str], types: list[str]
) -> None:
    text = FILES[form][1] + (
        PUBTATOR.replace("1\tCID\tD1\tD2\n", "").replace("1|", "2|").replace("1\t", "2\t")
        if form == "pubtator"
        else ""
    )
    (tmp_path / "given").mkdir()
    (tmp_path / f"given/train{FILES[form][0]}").write_text(text)
    if form == "pubtator":
        spec, first = described(tmp_path / "given", tmp_path, reading="pairs")
        assert spec.negative == "none"
        assert spec.expect["train"] == {"examples": 4, "labels.CID": 1, "labels.none": 3}
    else:
        with pytest.raises(PubmillError, match="negative: there is no label 'none'"):
            described(tmp_path / "given", tmp_path, reading="pairs")
        return
    assert (spec.options["arguments"], spec.options["pairs"]) == (argument, [types])
    assert first["train"]["label"] == labels[0]
    assert [one["type"] for one in first["train"]["entities"]] == types


def test_a_folder_of_many_files_is_packed_and_its_events_are_counted(tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        for name, text in BRAT.items():
            path = tmp_path / "given" / split / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    spec, _ = described(tmp_path / "given", tmp_path)
    assert spec.options == {"form": "brat", "sentences": "stops", "discontinuous": "covers"}
    assert spec.kind == "mentions"
    assert spec.splits == ("train", "dev", "test")
    card = json.loads((tmp_path / "converted/card.json").read_text())
    assert card["counts"]["dev"]["left_out.events.Onset"] == 1
    first = (tmp_path / "data/mine/train.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "data/mine/train.zip") as archive:
        assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    (tmp_path / "again").mkdir()
    new_dataset([str(tmp_path / "given")], "mine", None, tmp_path, tmp_path / "again", access="public")
    assert (tmp_path / "again/mine/train.zip").read_bytes() == first


def test_shards_of_parquet_are_one_split_and_numbers_get_their_names(tmp_path: Path) -> None:
    names = {"info": {"features": {"kind": {"names": ["no", "yes"], "_type": "ClassLabel"}}}}
    table = pyarrow.table({"text": [f"Text {n}" for n in range(4)], "kind": [0, 1, 0, 1]})
    table = table.replace_schema_metadata({"huggingface": json.dumps(names)})
    (tmp_path / "given").mkdir()
    for name in ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001"):
        pyarrow.parquet.write_table(table, tmp_path / f"given/{name}.parquet")
    spec, first = described(tmp_path / "given", tmp_path)
    assert spec.expect["train"] == {"examples": 8, "labels.no": 4, "labels.yes": 4}
    assert spec.options["labels"] == {"0": "no", "1": "yes"}
    assert set(spec.sources) == {"train", "train_2", "test"} and first["test"]["label"] == "no"


@pytest.mark.parametrize(
    ("form", "change", "message"),
    [
        ("pubtator", ("1\t0\t7\tAspirin", "1\t0\tAspirin"), r"train.PubTator:3: a mention has the columns"),
        ("pubtator", ("1\tCID\tD1\tD2\n", "2\tCID\tD1\tD2\n"), r"train.PubTator:6: expected tab-separated"),
        ("pubtator", ("1|t|", "1|x|"), r"train.PubTator:1: "),
        ("bioc-json", ('"id": "1", "passages"', '"x": "1", "passages"'), r"1: a document needs an `id`"),
        ("bioc-json", ('"passages"', '"parts"'), r"train.json"),
        ("bioc-json", ('"offset": 0, "text"', '"offset": "0", "text"'), r"passage 1: needs an `offset`"),
        ("words", ('[2, 2, "Sp', '[2, 9, "Sp'), r"json:1: the words 2 to 9 are not among the 4"),
        ("rct", ("AIM\tWe test.", "AIM We test."), r"train.txt:2: expected `###ID`, then"),
        ("rct", ("###12", "###11"), r"train.txt:5: expected `###` and an identifier that occurs once"),
        ("rct", ("AIM\tWe test.\nRESULT\tIt works.\n", ""), r"train.txt:3: no sentence follows the mark"),
        ("csv", ("Three,y", "Three,y,z"), r"train.csv:3: expected 2 columns, found 3"),
        ("csv", ("note,kind", "note,note"), r"train.csv:1: expected at least two headings, all different"),
        ("csv", ('"One, two"', '"One, two'), r"train.csv:\d: "),
        ("xml", ("</Pairs>", ""), r"train.xml:1: not well-formed XML"),
        ("xml", ("<Pairs>", "<!DOCTYPE p [<!ENTITY e 'x'>]><Pairs>"), r"declares a document type"),
        ("xml", ('<Question qtype="a">', "<Question>"), r"train.xml: no column or key looks like a label"),
        ("list", ("[{", "{"), r"train.json"),
        ("list", ('"labels"', '"abstract"'), r"the key abstract occurs twice"),
        ("list", ("Text 1", "Text \\ud800"), r"half of a pair of surrogates"),
    ],
)  # fmt: skip
def test_wrong_files_are_errors_with_their_place(
    tmp_path: Path, form: str, change: tuple[str, str], message: str
) -> None:
    folder = written(tmp_path, form, change)
    with pytest.raises(PubmillError, match=message):
        described(folder, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("0 5\tFever\n", "1 6\tFever\n"), r"1 of 3 mentions differ .*train.zip:a.ann:1: it says 'Fever'"),
        (("Sign 0 5\tFever", "Sign 0-5\tFever"), r"train.zip:a.ann:1: expected `Type start end"),
        (("Arg1:T1", "T1"), r"train.zip:a.ann:4: expected `Type Arg1:T1 Arg2:T2`"),
        (("T3\tSite", "Site"), r"train.zip:a.ann:3: expected `T1<tab>...`"),
        (("T3\tSite", "T1\tSite"), r"train.zip:a.ann:3: a second T1"),
    ],
)
def test_wrong_annotations_of_brat_are_errors(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    for name, text in BRAT.items():
        path = tmp_path / "given/train" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(*change))
    with pytest.raises(PubmillError, match=message):
        described(tmp_path / "given", tmp_path)
    (tmp_path / "given/train/a.ann").unlink()
    (tmp_path / "given/train/b.ann").write_text("")
    with pytest.raises(PubmillError, match=r"there are annotations, but no text b.txt"):
        described(tmp_path / "given", tmp_path)


def test_words_are_labels_before_numbers_that_may_count() -> None:
    columns = {"place": ["1", "1", "2", "2"], "qtype": ["a", "b", "a", "b"]}
    assert label_of(columns, "f", "key") == "qtype"
    assert label_of({**columns, "label": ["0", "1", "0", "0"]}, "f", "key") == "label"
