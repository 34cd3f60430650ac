"""Mentions that are not at their offsets: refused with their number, the first, and what reads them."""

import json
from collections.abc import Callable

import pytest

from pubmill.errors import PubmillError
from pubmill.new_specs.file_forms import Given
from tests.unit.new_specs.conftest import Found

TITLE, ABSTRACT = "Aspirin 😀 in mice.", "It causes β fever, and heparin too."
TEXT = f"{TITLE}\n{ABSTRACT}"
MENTIONS = [(TEXT.index(one), one) for one in ("Aspirin", "mice", "fever", "heparin")]
Count = Callable[[int], int]
UTF_16: Count = lambda place: len(TEXT[:place].encode("utf-16-le")) // 2  # noqa: E731
BYTES: Count = lambda place: len(TEXT[:place].encode())  # noqa: E731
WAYS: dict[str, tuple[Count, int]] = {
    "utf-16": (UTF_16, 3), "bytes": (BYTES, 3), "shift=-1": (lambda place: place + 1, 4),
    "shift=40": (lambda place: place - 40, 4), "separator=0": (lambda place: place - (place > len(TITLE)), 2),
    "separator=2": (lambda place: place + (place > len(TITLE)), 2),
}  # fmt: skip


def pubtator(count: Count) -> str:
    rows = (f"7\t{count(at)}\t{count(at + len(one))}\t{one}\tName\n" for at, one in MENTIONS)
    return f"7|t|{TITLE}\n7|a|{ABSTRACT}\n{''.join(rows)}\n"


def spans(count: Count) -> str:
    rows = [
        {"start": count(at), "end": count(at + len(one)), "type": "Name", "text": one} for at, one in MENTIONS
    ]
    return json.dumps({"text": TEXT, "entities": rows}) + "\n"


def bioc(count: Count) -> str:
    nodes = []
    for at, one in MENTIONS:
        where = [{"offset": count(at), "length": count(at + len(one)) - count(at)}]
        nodes.append({"id": one, "infons": {"type": "Name"}, "text": one, "locations": where})
    passage = {"offset": 0, "text": TEXT, "annotations": nodes}
    return json.dumps({"documents": [{"id": "7", "passages": [passage]}]})


@pytest.mark.parametrize(("way", "name", "form"), [
    *((way, "train.txt", pubtator) for way in WAYS if way != "shift=40"),
    *((way, "train.jsonl", spans) for way in WAYS if "separator" not in way),
    *((way, "train.json", bioc) for way in WAYS if "separator" not in way),
])  # fmt: skip
def test_other_counts_need_an_option(found: Found, way: str, name: str, form: Callable[[Count], str]) -> None:
    count, wrong = WAYS[way]
    text = form(count)
    with pytest.raises(PubmillError) as caught:
        found({name: text})
    assert f"{wrong} of 4 mentions differ from the text at their offsets, the first" in str(caught.value)
    assert "All are at their places if" in str(caught.value) and f"--offsets '{way}'" in str(caught.value)
    made = found({name: text}, Given(offsets=way))
    assert made.form.options["offsets"] == way and made.card["counts"]["train"]["mentions"] == 4


def test_what_nothing_explains_is_left_out_by_request_alone_and_counted(found: Found) -> None:
    text = pubtator(lambda place: place).replace("7\t0\t7\tAspirin", "7\t3\t9\tAspirin")
    with pytest.raises(PubmillError) as caught:
        found({"train.txt": text})
    assert "1 of 4 mentions differ" in str(caught.value)
    assert "train.txt:3: it says 'Aspirin'" in str(caught.value)
    assert "--misplaced leave_out" in str(caught.value) and "--offsets" not in str(caught.value)
    made = found({"train.txt": text}, Given(misplaced=True))
    assert made.values["expect"]["train"]["left_out.misplaced_mentions"] == 1
    assert made.values["options"]["misplaced"] == "leave_out"


def test_local_text_is_not_shown_and_cut_words_are_refused(found: Found) -> None:
    with pytest.raises(PubmillError) as caught:
        found({"train.txt": pubtator(lambda place: place + 1)}, Given(), "local")
    assert "4 of 4 mentions" in str(caught.value) and "spirin" not in str(caught.value)
    made = found({"train.txt": pubtator(lambda place: place)}, Given(), "local")
    assert made.values["access"] == "local"
    assert "Xxxxxxx" in str(made.first) and "spirin" not in str(made.first)
    row = {"text": TEXT, "label": [[at + 1, at + 1 + len(one), "Name"] for at, one in MENTIONS]}
    with pytest.raises(PubmillError, match=r"4 of 4 mentions begin or end inside a word.*'shift=-1'"):
        found({"train.jsonl": json.dumps(row) + "\n"})
