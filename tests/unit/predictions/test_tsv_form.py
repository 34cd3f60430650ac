"""Tables of predictions: which column is the id, which the prediction, and which the text."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.hoc import HALLMARKS
from pubmill.errors import PubmillError
from pubmill.predictions.tsv_form import GOLD, read
from tests.unit.predictions import toy_datasets as toy


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["id\ttext\tlabel", "7\tsome\tyes"], [("f:2", "7", "yes", ("some",))]),
        (["Label \t Text", "yes\tsome"], [("f:2", None, "yes", ("some",))]),
        (["id\ty_pred", "7\tyes"], [("f:2", "7", "yes", ())]),
        (["0\ta\tyes", "1\tb\tno"], [("f:1", None, "yes", ("a",)), ("f:2", None, "no", ("b",))]),
        (["0\tyes", "1\tno"], [("f:1", "0", "yes", ()), ("f:2", "1", "no", ())]),
        (["1\ta\tyes", "0\tb\tno"], [("f:1", "1", "yes", ("a",)), ("f:2", "0", "no", ("b",))]),
        (["a1\tyes", "", "a2\tno"], [("f:1", "a1", "yes", ()), ("f:3", "a2", "no", ())]),
        (["sent1\tprediction\tpair_id\tsent2", "a\t3\t5\tb"], [("f:2", "5", "3", ("a", "b"))]),
    ],
)
def test_columns(lines: list[str], expected: list[tuple[str, str | None, str, tuple[str, ...]]]) -> None:
    rows = list(read(lines, "f"))
    assert [(one.where, one.id, one.value, one.texts) for one in rows] == expected
    assert {one.key for one in rows} == {"prediction"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a\tb", "c"], "f:2: expected 2 columns, found 1"),
        (["a\tb", "c\td\te"], "f:2: expected 2 columns, found 3"),
        (["a"], "f:1: expected 2 columns, found 1"),
        (["", ""], "f: no lines"),
        (["id\tindex\tlabel"], r"f:1: .* at most one of ids \(id, index, pair_id\)"),
        (["id\ttext"], "f:1: .* columns of predictions: none"),
        (["id\tlabel\tscore"], "f:1: .* columns of predictions: label, score"),
        (["id\tlabel\ttarget"], "f:1: the column target holds gold labels"),
        (["a\tyes", "b\t?"], "f:2: no prediction, only the"),
    ],
)
def test_other_tables_are_refused(lines: list[str], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        list(read(lines, "f"))


def test_flags_of_sentences_are_labels_of_documents() -> None:
    def flags(*set_flags: int) -> str:
        return ",".join(f"{number}_{int(number in set_flags)}" for number in range(10))

    first, second = read([f"5_s0\tA.\t{flags(2)}", f"5_s1\tB.\t{flags(0, 2)}", f"6_s0\tC.\t{flags()}"], "f")
    names = list(HALLMARKS)
    assert (first.where, first.id, first.value) == ("f:1", "5", sorted([names[0], names[2]]))
    assert (first.texts, second.texts) == (("A. B.",), ("C.",))
    assert (second.where, second.id, second.key, second.value) == ("f:3", "6", "labels", [])
    [bare] = read([f"5_s0\t{flags(9)}"], "f")
    assert bare.texts == () and bare.value == [names[9]]
    for lines in ([f"s0\t{flags()}"], [f"5_s1\t{flags()}"], [f"5_s0\t{flags()}", f"5_s0\t{flags()}"]):
        with pytest.raises(PubmillError, match="f:1: "):
            list(read(lines, "f"))
    with pytest.raises(PubmillError, match="f:2: expected a flag for each of 10 hallmarks"):
        list(read(["text\tlabel", f"A.\t{flags()}"], "f"))


def test_csv_has_headings_and_quoted_cells(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    rows: Any = toy.examples("rel")
    content = "id,sentence,prediction\n" + "".join(f'{one.id},"{one.text}",{one.label}\n' for one in rows)
    found = toy.score(tmp_path, "rel", content)
    assert (found.submission.form, found.metrics["micro_f1"]) == ("csv", 1.0)
    answers = "id,response\n" + "".join(f'{one.id},"- {one.label}\n"\n' for one in rows)
    said = toy.score(tmp_path, "rel", answers, mapping={label: label for label in toy.LABELS})
    assert (said.metrics["micro_f1"], said.submission.reading.by_rule["bullets"]) == (1.0, 12)
    for wrong, message in (
        (content.removesuffix("\n"), "does not end with a line end"),
        (content.replace("prediction", "gold"), "the column gold holds gold labels"),
        (content + '1,"a\n', ":1[45]: not valid CSV"),
        (content + "1\n", ":14: expected 3 columns, found 1"),
    ):
        with pytest.raises(PubmillError, match=message):
            toy.score(tmp_path, "rel", wrong)
    with pytest.raises(PubmillError, match=":1: unknown headings 1000.T1, activates in the first line"):
        toy.score(tmp_path, "rel", "1000.T1,activates\n", form="csv")


@pytest.mark.parametrize("comma", [",", "\t"])
def test_other_headings_are_named_beside_those_that_are_read(comma: str, tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    content = "".join(f"{comma.join(row)}\n" for row in (["id", "guess"], ["1000.T1", "none"]))
    unknown = r":1: unknown headings guess in the first line; expected an id"
    with pytest.raises(PubmillError, match=unknown) as no:
        toy.score(tmp_path, "rel", content)
    assert not any(name in str(no.value) for name in {*GOLD} - {"expected"})
    assert "such as id,prediction" in str(no.value)
    with pytest.raises(PubmillError, match=":1: unknown headings docid in the first line"):
        toy.score(tmp_path, "rel", "docid,pred\n1000.T1,none\n")
