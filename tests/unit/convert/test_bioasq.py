"""BioASQ's archives: yes/no questions, factoids in snippets or abstracts, and errors."""

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.convert import bioasq
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Answer, Example, SequenceExample, SpanExample
from pubmill.messages.quotations import withholding

PUBMED = "http://www.ncbi.nlm.nih.gov/pubmed/"
Read = Callable[..., tuple[list[Any], Counter[str]]]
TWICE = b'{"questions": [], "Qzcanary": 1, "Qzcanary": 2}'


def question(name: str, kind: str, exact: Any = None, *texts: str) -> dict[str, Any]:
    snippets = [{"text": text, "document": f"{PUBMED}{number}"} for number, text in enumerate(texts, 101)]
    made = {"id": name, "type": kind, "body": f"Body\nof {name}?", "snippets": snippets, "concepts": ["x"]}
    return made if exact is None else {**made, "exact_answer": exact}


def archive(path: Path, *files: list[dict[str, Any]], **members: bytes) -> Path:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as zipped:
        for number, questions in enumerate(files):
            zipped.writestr(f"Folder/{number}.json", json.dumps({"questions": questions}))
        for name, content in members.items():
            zipped.writestr(name, content)
    path.write_bytes(packed.getvalue())
    return path


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read a split of archives (and other files) with some questions each."""

    def run(
        converter: Any, split: str, options: dict[str, Any] | None = None, **files: Any
    ) -> tuple[list[Example], Counter[str]]:
        inputs = {
            role: content if isinstance(content, Path) else archive(tmp_path / f"{role}.zip", content)
            for role, content in files.items()
        }
        left_out = Counter[str]()
        return list(converter(ConverterInput(split, inputs, options or {}, left_out))), left_out

    return run


# --- Yes/no

ASKED = [
    question("a1", "yesno", "yes", "One\tsnippet.", " Two\nlines "), question("b2", "factoid", ["x"], "x"),
    question("c3", "yesno", "No", "Three."), question("d4", "summary"),
]  # fmt: skip


def test_yes_no_questions_take_all_snippets_and_dev_is_listed(read: Read) -> None:
    options = {"dev_questions": ["c3"]}
    train, left_out = read(bioasq.yes_no, "train", options, train=ASKED)
    assert train == [
        SequenceExample(
            id="a1", document=None, text="Body of a1?", text_pair="One snippet.  Two lines ", label="yes"
        )
    ]
    assert left_out == {"factoid_questions": 1, "summary_questions": 1}
    dev, left_out = read(bioasq.yes_no, "dev", options, train=ASKED)
    assert [(example.id, example.label) for example in dev] == [("c3", "no")]
    assert not left_out
    test, _ = read(bioasq.yes_no, "test", options, test=ASKED[:2])  # has no question of dev
    assert [example.id for example in test] == ["a1"]


@pytest.mark.parametrize(("dev", "changed", "message"), [
    (["zz"], {}, "dev questions are not among its yes/no questions"),
    (["b2"], {}, "dev questions are not among"), (["c3", "c3"], {}, "distinct question ids"),
    ("c3", {}, "list of distinct question ids"), (None, {}, "list of distinct question ids"),
    ([], {"exact_answer": "maybe"}, "a1: exact_answer is neither yes nor no but 'maybe'"),
    ([], {"exact_answer": ["yes"]}, "a1: exact_answer is neither yes nor no$"),
    ([], {"exact_answer": None}, "a1: exact_answer is neither yes nor no$"),
    ([], {"snippets": []}, "a1 has no snippets"),
])  # fmt: skip
def test_what_yes_no_refuses(read: Read, dev: Any, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        read(bioasq.yes_no, "train", {"dev_questions": dev}, train=[{**ASKED[0], **changed}, *ASKED[1:]])


# --- Lists

LISTED = [
    question("e5", "list", [["First", "1st"], "second"], "The first, then\tSECOND.", "None.", "Only 1st."),
    question("f6", "list", [[" "]], "Text."), question("g7", "list", [["third"]], "Nothing."), ASKED[0],
]  # fmt: skip


def test_a_list_question_is_learnt_answer_by_answer_and_asked_of_every_snippet(read: Read) -> None:
    train, left_out = read(bioasq.list_questions, "train", train=LISTED)
    assert [(one.id, [answer.text for answer in one.answers]) for one in train] == [
        ("e5_000_0", ["first"]), ("e5_000_1", ["SECOND"]), ("e5_002_0", ["1st"]),
    ]  # fmt: skip
    assert {one.group for one in train} == {"e5"} and train[0].items == [["First", "1st"], ["second"]]
    assert left_out == {
        "yes_no_questions": 1, "questions_without_gold": 1, "questions_without_answer": 1,
        "snippets_without_answer": 2,
    }  # fmt: skip
    test, _ = read(bioasq.list_questions, "test", test=LISTED)
    assert [one.id for one in test] == ["e5_000", "e5_001", "e5_002", "g7_000"]
    assert [answer.text for answer in test[0].answers] == ["first", "SECOND"]
    assert test[3].answers == [] and test[3].items == [["third"]]


# --- The archive


def test_archives_are_read_whole_and_others_refused(tmp_path: Path) -> None:
    files = {"__MACOSX/Folder/._0.json": b"\0\1", "Folder/._1.json": b"\0", "README.txt": b"\xff"}
    path = archive(tmp_path / "a.zip", ASKED[:2], ASKED[2:], **files)
    assert list(bioasq.questions(path, Counter())) == ["a1", "b2", "c3", "d4"]
    left_out = Counter[str]()
    path = archive(tmp_path / "a.zip", ASKED, ASKED[:1])
    assert len(bioasq.questions(path, left_out)) == 4
    assert left_out == {"repeated_questions": 1}
    with pytest.raises(PubmillError, match=r"no \.json file"):
        bioasq.questions(archive(tmp_path / "a.zip", **{"a.txt": b"x"}), Counter())
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04")
    with pytest.raises(PubmillError, match="not a whole"):
        bioasq.questions(tmp_path / "a.zip", Counter())


@pytest.mark.parametrize("changed", [{"body": "Other?"}, {"exact_answer": "no"}, {"snippets": []}])
def test_a_question_repeated_otherwise_is_reported(tmp_path: Path, changed: dict[str, Any]) -> None:
    path = archive(tmp_path / "a.zip", ASKED, [{**ASKED[0], **changed}])
    with pytest.raises(PubmillError, match=r"a\.zip:Folder/1\.json: question a1 occurred before"):
        bioasq.questions(path, Counter())


@pytest.mark.parametrize(("changed", "message"), [
    ({"type": "factiod"}, r"questions\.0\.type"), ({"id": "free text"}, r"questions\.0\.id"),
    ({"id": 5}, r"questions\.0\.id"), ({"body": None}, r"questions\.0\.body"),
    ({"snippets": [{"text": "x"}]}, r"questions\.0\.snippets\.0\.document: Field required"),
    ({"snippets": [{"text": "secret", "document": "somewhere secret"}]}, r"snippets\.0\.document"),
    ({"snippets": [{"document": f"{PUBMED}1"}]}, r"snippets\.0\.text: Field required"),
    ({"snippets": "secret"}, r"questions\.0\.snippets"),
])  # fmt: skip
def test_another_form_is_refused_without_text(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    path = archive(tmp_path / "a.zip", [{**ASKED[0], **changed}])
    with pytest.raises(PubmillError, match=rf"Folder/0\.json: .*{message}") as error:
        bioasq.questions(path, Counter())
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(("licensed", "content", "message"), [
    *((True, {**ASKED[1], "id": planted}, r"a\.json: questions\.0\.id: expected an id of at most 40")
      for planted in ("Qzcanary", "Qzcanary_" * 5 + "1")),
    (False, TWICE, r"a\.zip:a\.json: the key Qzcanary occurs twice"),
    (True, TWICE, r"the key <8 characters, not shown"),
    (False, b'{"questions":\n', r"a\.zip:a\.json: Invalid JSON.*line 2"),
])  # fmt: skip
def test_broken_json_is_refused(tmp_path: Path, licensed: bool, content: Any, message: str) -> None:
    """And nothing of a licensed dataset is shown."""
    made = content if isinstance(content, bytes) else json.dumps({"questions": [content]}).encode()
    path = archive(tmp_path / "a.zip", **{"a.json": made})
    with withholding(licensed), pytest.raises(PubmillError, match=message) as error:
        bioasq.questions(path, Counter())
    assert not licensed or "Qzcanary" not in str(error.value)


# --- Factoids


def test_a_factoid_is_asked_of_each_snippet(read: Read) -> None:
    asked = [question("f1", "factoid", ["IL-2", "interleukin 2"], "Nothing.", "INTERLEUKIN\n2, (il-2)")]
    train, left_out = read(bioasq.factoid, "train", train=asked)
    assert train == [
        SpanExample(
            id="f1_001",
            document="102",
            question="Body of f1?",
            context="INTERLEUKIN 2, (il-2)",
            answers=[Answer(text="il-2", start=16), Answer(text="INTERLEUKIN 2", start=0)],
            group="f1",
            golds=["IL-2", "interleukin 2"],
        )
    ]
    assert left_out == {"snippets_without_answer": 1}
    test, left_out = read(bioasq.factoid, "test", test=asked)
    assert [(example.id, len(example.answers), example.golds) for example in test] == [
        ("f1_000", 0, ["IL-2", "interleukin 2"]),
        ("f1_001", 2, ["IL-2", "interleukin 2"]),
    ]
    assert not left_out


def test_what_factoids_leave_out_is_counted(read: Read) -> None:
    asked = [
        *ASKED, question("e1", "factoid", ["absent"], "Here.", "There."),
        question("e2", "factoid", ["found"]), question("e3", "factoid", None, "Here."),
        question("e4", "factoid", ["", " "], "Here."), question("e5", "factoid", "Here", " \n", "here"),
        question("e6", "list", [["Here"]], "here"),
    ]  # fmt: skip
    others = {"yes_no_questions": 2, "summary_questions": 1, "list_questions": 1, "empty_snippets": 1}
    without = {"questions_without_snippets": 1, "questions_without_gold": 2}
    train, left_out = read(bioasq.factoid, "train", train=asked)
    assert [example.id for example in train] == ["b2_000", "e5_001"]
    assert left_out == {**others, **without, "questions_without_answer": 1, "snippets_without_answer": 2}
    test, left_out = read(bioasq.factoid, "test", test=asked)
    assert [example.id for example in test] == ["b2_000", "e1_000", "e1_001", "e5_001"]
    assert left_out == {**others, **without}


@pytest.mark.parametrize(("exact", "golds"), [
    ("one", ["one"]), (["one", "two"], ["one", "two"]), ([["one", "two"]], ["one", "two"]),
    ([["one"], ["two", "one"]], ["one", "two"]), ([" one\n", "", "One"], ["one", "One"]), ([], []),
    (None, []),
])  # fmt: skip
def test_forms_of_exact_answers(tmp_path: Path, exact: Any, golds: list[str]) -> None:
    asked = bioasq.BioasqQuestion.model_validate_json(json.dumps(question("f", "factoid", exact)))
    assert bioasq.synonyms(bioasq.answer_items(asked, tmp_path)) == golds


@pytest.mark.parametrize(("converter", "kind", "exact"), [
    *((bioasq.list_questions, "list", exact) for exact in ("first", [3], [["a"], [4]])),
    *((bioasq.factoid, "factoid", exact) for exact in (5, [5], {"a": "b"}, [["a", None]], [[["a"]]])),
])  # fmt: skip
def test_other_answers_are_refused(read: Read, converter: Any, kind: str, exact: Any) -> None:
    with pytest.raises(PubmillError, match="question f1: exact_answer is not a list of strings"):
        read(converter, "train", train=[question("f1", kind, exact, "x")])


@pytest.mark.parametrize(("gold", "context", "text"), [
    ("il-2", "The IL-2 gene", "IL-2"), ("a+b (c)", "x A+B (C) y", "A+B (C)"),
    ("two  words", "x two\u00a0 \u2009words", "two\u00a0 \u2009words"),
    ("İstanbul", "iı İSTANBUL", "İSTANBUL"), ("ΑΣ", "x ας", "ας"), ("TNF-α", "\U0001f9ec tnf-Α", "tnf-Α"),
    ("twowords", "two words", None), ("β", "b", None), ("x", "", None), (" ", " ", None),
])  # fmt: skip
def test_answers_are_found_whatever_their_case_and_blanks(gold: str, context: str, text: str | None) -> None:
    found = bioasq.find([gold], context)
    assert found == ([] if text is None else [Answer(text=text, start=context.index(text))])
    # the first place counts, and each place once
    assert bioasq.find(["b", "B", "c"], "a b B") == [Answer(text="b", start=2)]


@settings(max_examples=40)
@given(
    before=st.text(max_size=10),
    words=st.lists(
        st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1), min_size=1, max_size=3
    ),
    blank=st.sampled_from([" ", "  ", "\u00a0", "\n"]),
    after=st.text(max_size=10),
    others=st.lists(st.text(max_size=5), max_size=3),
)
def test_offsets_always_point_at_their_text(
    before: str, words: list[str], blank: str, after: str, others: list[str]
) -> None:
    gold, planted = " ".join(words), blank.join(words)
    context = before + planted + after
    found = bioasq.find([gold, *others], context)
    assert all(context[one.start : one.start + len(one.text)] == one.text != "" for one in found)
    assert found[0].start <= len(before)
    assert len(found[0].text.split()) == len(gold.split())


# --- Factoids in SQuAD's form


def in_squad_form(path: Path, answered: bool, *asked: tuple[str, str]) -> Path:
    paragraphs = []
    for name, context in asked:
        qa: dict[str, Any] = {"question": "Which?", "id": name}
        if answered:
            qa["answers"] = [{"text": context[:3], "answer_start": 0}]
        paragraphs.append({"context": context, "qas": [qa]})
    path.write_text(
        json.dumps({"version": "BioASQ6b", "data": [{"title": "BioASQ6b", "paragraphs": paragraphs}]}),
        encoding="utf-8",
    )
    return path


GOLDEN = [question("f1", "factoid", [["IL-2"]]), question("f2", "factoid", ["x"]), ASKED[0]]


def test_squads_questions_are_grouped_and_get_their_golds_from_bioasq(read: Read, tmp_path: Path) -> None:
    path = in_squad_form(tmp_path / "train.json", True, ("f1_000", "IL2 is it."), ("f1_001", "TNF too."))
    train, _ = read(bioasq.factoid_squad, "train", train=path)
    assert [(example.id, example.group, example.document, example.golds) for example in train] == [
        ("f1_000", "f1", None, []),
        ("f1_001", "f1", None, []),
    ]
    assert train[1].answers == [Answer(text="TNF", start=0)]
    path = in_squad_form(tmp_path / "test.json", False, ("f1_000", "It is il-2."), ("f1_001", "None."))
    test, left_out = read(bioasq.factoid_squad, "test", test=path, golden=GOLDEN)
    assert [(example.id, example.group, example.golds, example.answers) for example in test] == [
        ("f1_000", "f1", ["IL-2"], [Answer(text="il-2", start=6)]),
        ("f1_001", "f1", ["IL-2"], []),
    ]
    assert left_out == {"questions_without_context": 1}
    (path.parent / "golden.zip").unlink()
    _, left_out = read(bioasq.factoid_squad, "test", test=path, golden=GOLDEN[:1])
    assert not list(left_out)  # no count of none


@pytest.mark.parametrize(("split", "answered", "name", "message"), [
    ("test", False, "f9_000", "question f9 has no factoid answer"),
    ("test", False, "a1_000", "question a1 has no factoid answer"),
    ("test", False, "f1", "question f1: expected an id like QUESTION_000"),
    ("test", True, "f1_000", "question f1 has answers of its own"),
    ("train", True, "f1", "question f1: expected an id like QUESTION_000"),
    ("train", False, "f1_000", "question f1_000 has 0 answers but is marked as possible"),
])  # fmt: skip
def test_what_the_squad_form_refuses(
    read: Read, tmp_path: Path, split: str, answered: bool, name: str, message: str
) -> None:
    path = in_squad_form(tmp_path / "asked.json", answered, (name, "IL-2 is it."))
    with pytest.raises(PubmillError, match=message):
        read(bioasq.factoid_squad, split, **{split: path}, golden=GOLDEN)
