"""Where sentences of a manuscript begin and end, and which names they have."""

import time
from pathlib import Path

import pytest

from pubmill.extras.manuscript.latex_source import source_of
from pubmill.extras.manuscript.manuscript_sentences import (
    LONGEST,
    TableNames,
    _names,
    is_name,
    quotes,
    sentences,
    visible_text,
)
from tests.unit.extras.manuscript.toy_study import CASED, NAME, relabelled, study


def found(text: str) -> list[str]:
    """Return the sentences of a text without blanks around them."""
    source = source_of("paper.tex", text)
    made = list(sentences(source))
    assert all(len(one.text) <= LONGEST for one in made)
    for one in made:
        start = one.start + len(one.text) - len(one.text.lstrip())
        assert one.text.strip()[:1] in (text[start], " ")
    return [" ".join(one.text.split()) for one in made]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is here. Two is there! Three?", ["One is here.", "Two is there!", "Three?"]),
        ("As Lee et al. Say, e.g. BERT of J. Lee has 1.5 in Fig. 3.", 1),
        ("It ends (here.) Then it goes on.", ["It ends (here.)", "Then it goes on."]),
        ("It has 84.5. it does.", 1),
        ("One~Two. $x$ is next.~Three.", ["One Two.", "$x$ is next.", "Three."]),
        ("A heading\n\nA text\n \nAnother\nline", ["A heading", "A text", "Another line"]),
        ("\\section{Results} Text", ["\\section", "{Results} Text"]),
        ("One \\item Two \\itemize \\par Three", ["One \\item", "Two \\itemize \\par", "Three"]),
        ("\\begin{a}One\\end{a} Two", ["\\begin{a}", "One\\end{a}", "Two"]),
        ("One\\footnote{Two} \\caption[x]{Three}", ["One\\footnote", "{Two} \\caption[x]", "{Three}"]),
        ("A \\\\ B", ["A \\\\", "B"]),
        (
            "Hidden.\\begin{document}Shown. \\begin{tabular}{l}No\\end{tabular} End.",
            ["Shown.", "\\end{tabular}", "End."],
        ),
        ("A \\begin{equation} x = 99.9", ["A"]),
        ("A \\label{b 1.5} \\href{c}{d} e", ["A \\label \\href {d} e"]),
    ],
)
def test_sentences(text: str, expected: list[str] | int) -> None:
    made = found(text)
    assert (len(made) if isinstance(expected, int) else made) == expected


def test_a_text_without_an_end_is_cut() -> None:
    text = "word " * (LONGEST // 2)
    assert [len(one.text) for one in sentences(source_of("x", text))] == [LONGEST, LONGEST, LONGEST // 2]
    ended = text + "end. Next"
    cut = [len(one.text) for one in sentences(source_of("x", ended))]
    assert cut == [LONGEST, LONGEST, LONGEST // 2 + len("end. "), len("Next")]


def test_sentences_that_end_on_the_line_of_the_comment_are_ignored() -> None:
    text = (
        "One is here. % pubmill: ignore\nTwo is there.\nThree\nis not. Four is. % pubmill: ignore\nFive is."
    )
    assert found(text) == ["Two is there.", "Five is."]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("BERT", True),
        ("GPT", True),
        ("Bio2", True),
        ("BIO", True),
        ("Bert", False),
        ("x2y", False),
        ("AB", False),
    ],
)
def test_names_have_two_capitals_or_a_digit(word: str, expected: bool) -> None:
    assert is_name(word) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PubMedBERT \\cite{a} has 1.5", False), ("(BERT\\citep{a}) has 1.5", False),
        ("\\textsc{GPT}~\\cite{a}", False), ("Lee et al. \\cite{a} report", True),
        ("AB \\cite{a}", True), ("with BC5 \\cite{a}", False), ("BERT has 1.5", False),
        ("BERT \\cite{a} and others \\cite{b}", True),
    ],
)  # fmt: skip
def test_a_citation_after_a_name_is_no_source_of_numbers(text: str, expected: bool) -> None:
    assert quotes(text, ()) is expected


@pytest.fixture
def names(tmp_path: Path) -> TableNames:
    table = relabelled(study(tmp_path), CASED, "No pretraining").tables[NAME]
    return TableNames(table, {"our system": "pubmedbert-base"})


def test_a_citation_after_a_label_of_the_table_is_no_source(names: TableNames) -> None:
    assert not quotes("On BC2GM, no pretraining \\cite{a} has 1.5", [names])
    assert not quotes("our system \\cite{a}", [names]) and quotes("their system \\cite{a}", [names])
    assert quotes("no pretraining is simple \\cite{a}", [names])


def test_names_are_labels_their_beginnings_keys_and_own_names(names: TableNames) -> None:
    def columns(text: str) -> list[tuple[str, ...]]:
        return [one.keys for one in names.columns(text)]

    assert columns("PubMedBERT and PubMedBERT uncased") == [("pubmedbert-base",)] * 2
    assert columns("BERT, bert-base-cased, our system") == [
        ("bert-base-uncased",), ("bert-base-cased",), ("pubmedbert-base",),
    ]  # fmt: skip
    assert columns("No pretraining, no\npretraining") == [("bert-base-cased",)] * 2
    assert columns("pretraining, No, BERT-large, XBERT, BERT.x") == []
    text = "On BC2GM and ChemProt, chemprot@blurb"
    found = names.rows(text)
    assert [text[one.start : one.end] for one in found] == ["BC2GM", "ChemProt", "chemprot@blurb"]
    assert names.end_with_name("on BC2GM") and not names.end_with_name("BC2GM is")


def test_keys_of_two_letters_are_no_names() -> None:
    assert _names([("t5", "Small"), ("b-1", "Other"), ("bert", "Plain")], {}) == {"b-1": ("b-1",)}
    assert _names([("t5", "Small")], {"Ours": "t5", "Theirs": "x"}) == {"Ours": ("t5",)}
    assert _names([("a", "BioX base"), ("b", "BioX large")], {}) == {
        "BioX": ("a", "b"), "BioX base": ("a",), "BioX large": ("b",),
    }  # fmt: skip


@pytest.mark.parametrize("unit", ["\\cite{", "\\cite{a}", "{\\cite{", "\\emph{}}"])
def test_time_is_linear_in_repeated_arguments(unit: str) -> None:
    def seconds(number: int) -> float:
        text = unit * number
        start = time.process_time()
        assert len(visible_text(text)) == len(text)
        return time.process_time() - start

    seconds(100)
    assert seconds(40_000) < 40 * max(seconds(4_000), 0.01)


@pytest.mark.parametrize(
    ("code", "seen"), [(r"a \cite{b{c}\}d} e", "e"), (r"\cite{a \cite{b} c", "c"), (r"\cite{\{} e", "e")]
)
def test_an_argument_ends_with_its_own_brace(code: str, seen: str) -> None:
    assert visible_text(code).split()[-1] == seen and "b" not in visible_text(code)
