"""Questions with choices, files with a column of splits, labelled spans and CoNLL-U as new datasets."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.new_specs.new_dataset import Described, describe, new_dataset
from pubmill.new_specs.row_forms import choice_form, choice_keys

LETTERS = "ABCD"
TEXTS = ["aspirin", "heparin", "rest", "none of these"]


def asked(**keys: Any) -> list[dict[str, Any]]:
    """Return eight questions; a value that is a function gets the number of the question."""
    return [
        {"question": f"What helps patient {n}?"} | {key: make(n) for key, make in keys.items()}
        for n in range(8)
    ]


def found(folder: Path, rows: list[dict[str, Any]], name: str = "train.jsonl") -> Described:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return describe(new_dataset([str(folder / name)], "mine", None, folder, access="public"))


def by_letter(n: int) -> dict[str, str]:
    return dict(zip(LETTERS, TEXTS, strict=True))


PAIR = "(A) aspirin (B) heparin (C) rest (D) none of these"
KEYS = {
    f"op{letter.lower()}": (lambda n, text=text: text) for letter, text in zip(LETTERS, TEXTS, strict=True)
}


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (
            {"answer": lambda n: TEXTS[n % 4], "options": by_letter, "answer_idx": lambda n: LETTERS[n % 4]},
            {"choices": "options", "label": "answer_idx", "labels": [*LETTERS]},
        ),
        (
            {"options": lambda n: TEXTS, "answer": lambda n: TEXTS[n % 4]},
            {"choices": "options", "label": "answer", "labels": [*LETTERS]},
        ),
        (
            {**KEYS, "cop": lambda n: n % 4 + 1},
            {
                "choices": ["opa", "opb", "opc", "opd"], "label": "cop",
                "labels": {"1": "A", "2": "B", "3": "C", "4": "D"},
            },
        ),
    ],
)  # fmt: skip
def test_choices_become_the_second_text(
    tmp_path: Path, keys: dict[str, Any], options: dict[str, Any]
) -> None:
    made = found(tmp_path, asked(**keys))
    assert made.form.options == {"text": "question", **options}
    assert (made.form.kind, made.form.metric) == ("sequence", "accuracy")
    first = made.first["train"]
    assert (first["text"], first["text_pair"], first["label"]) == ("What helps patient 0?", PAIR, "A")
    assert made.values["expect"]["train"]["labels.D"] == 2


def test_numbers_of_answers_begin_at_0_or_1_and_a_key_of_other_values_is_no_label() -> None:
    options = {"choices": "options", "labels": {"0": "A", "1": "B", "2": "C", "3": "D"}}
    rows = asked(options=by_letter, answer=lambda n: f"note {n}", cop=lambda n: n % 4)
    form = choice_form(rows)
    assert form and form.options == {"text": "question", "label": "cop", **options}
    assert "answer" not in form.options.values()
    assert choice_form([row | {"cop": 1 + row["cop"]} for row in rows]) == replace(
        form, options={**form.options, "labels": {"1": "A", "2": "B", "3": "C", "4": "D"}}
    )
    assert choice_form([row | {"cop": 2 + row["cop"]} for row in rows]) is None


def test_choices_without_a_question_are_no_form_and_the_longest_text_is_one() -> None:
    rows = asked(options=by_letter, answer_idx=lambda n: LETTERS[n % 4], note=lambda n: "short")
    form = choice_form(rows)
    assert form and form.options["text"] == "question"
    for row in rows:
        row["what"] = row.pop("question")
    form = choice_form(rows)
    assert form and form.options["text"] == "what"
    assert choice_form([{key: row[key] for key in ("options", "answer_idx")} for row in rows]) is None


@pytest.mark.parametrize(
    ("keys", "groups"),
    [
        (("op_a", "op_b", "op_c"), [["op_a", "op_b", "op_c"]]), (("op_a", "op_b"), []),
        (("op_a", "op_b", "op_d"), []), (("end0", "end1", "end2"), [["end0", "end1", "end2"]]),
        (("end6", "end7", "end8"), []), (("opF", "opG", "opH"), [["opF", "opG", "opH"]]),
    ],
)  # fmt: skip
def test_three_keys_with_following_letters_or_numbers_are_choices(
    keys: tuple[str, ...], groups: list[list[str]]
) -> None:
    assert choice_keys(dict.fromkeys(keys, "text") | {"more": 1}) == groups


def test_several_right_choices_are_labels_of_the_question_with_them(tmp_path: Path) -> None:
    rows = asked(options=by_letter, correct_answers=lambda n: [*LETTERS[: 1 + n % 2]])
    made = found(tmp_path, rows)
    assert made.form.kind == "multilabel"
    assert made.first["train"]["text"] == f"What helps patient 0? {PAIR}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer_idx": "E"}, r"train.jsonl:8: .*'answer_idx' with one of the choices \(A, B, C, D\)"),
        ({"options": {"A": "aspirin"}}, r"train.jsonl:8: .*'options' with at least two texts"),
        ({"options": {"A": "aspirin", "B": 3}}, r"train.jsonl:8: .*'options' with at least two texts"),
    ],
)
def test_rows_unlike_the_others_are_errors(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    rows = asked(options=by_letter, answer_idx=lambda n: LETTERS[n % 4])
    form = found(tmp_path, rows)
    (tmp_path / "train.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in [*rows[:7], rows[7] | change])
    )
    from pubmill.new_specs.new_dataset import _converted

    with pytest.raises(PubmillError, match=message):
        _converted(
            new_dataset([str(tmp_path)], "mine", None, tmp_path, access="public"), form.form, tmp_path / "out"
        )


def test_one_file_has_all_splits_in_a_column(tmp_path: Path) -> None:
    splits = ["train", "validation", "Test"]
    rows = [{"text": f"Some text {n}", "label": "ab"[n % 2], "split": splits[n % 3]} for n in range(12)]
    made = found(tmp_path, rows, "corpus.jsonl")
    assert made.form.options["split_column"] == "split"
    assert made.form.options["split_values"] == {"train": "train", "validation": "dev", "Test": "test"}
    assert made.values["splits"] == ["train", "dev", "test"]
    assert [made.values["expect"][split]["examples"] for split in ("train", "dev", "test")] == [4, 4, 4]
    assert made.first["test"] == {"document": None, "id": "test-000001", "label": "a", "text": "Some text 2"}


def test_a_table_with_headings_has_all_splits_in_a_column(tmp_path: Path) -> None:
    rows = [f"Some text {n}\t{'ab'[n % 2]}\t{('train', 'dev', 'test')[n % 3]}\n" for n in range(12)]
    table = tmp_path / "corpus.tsv"
    table.write_text("".join(["text\tlabel\tpart\n", *rows]))
    made = describe(new_dataset([str(table)], "mine", None, tmp_path, access="public"))
    assert made.form.options["split_column"] == "part"
    assert [made.values["expect"][split]["examples"] for split in ("train", "dev", "test")] == [4, 4, 4]
    table.write_text("".join(rows))
    with pytest.raises(PubmillError, match=r"corpus.tsv: its name shows no split, and no column"):
        describe(new_dataset([str(table)], "mine", None, tmp_path, access="public"))


@pytest.mark.parametrize("values", [["one", "two"], ["dev", "test"], ["train", ""]])
def test_one_file_without_a_column_of_splits_is_refused(tmp_path: Path, values: list[str]) -> None:
    rows = [{"text": f"Some text {n}", "label": "ab"[n // 4], "part": values[n % 2]} for n in range(8)]
    with pytest.raises(PubmillError, match=r"corpus.jsonl: its name shows no split, and no column"):
        found(tmp_path, rows, "corpus.jsonl")


SPANS = {"id": 3, "text": "Aspirin harms mice.", "label": [[0, 7, "Drug"], [14, 18, "Species"]]}
NAMED = {
    "text": "Aspirin harms mice.",
    "entities": [
        {"id": 1, "start_offset": 0, "end_offset": 7, "label": "Drug"},
        {"id": 2, "start_offset": 14, "end_offset": 18, "label": "Species"},
    ],
}


@pytest.mark.parametrize("row", [SPANS, NAMED])
def test_spans_of_annotation_tools_are_mentions(tmp_path: Path, row: dict[str, Any]) -> None:
    made = found(tmp_path, [row, {"text": "None here.", "label": [], "entities": []}])
    assert made.form.options == {"form": "spans", "sentences": "stops"}
    assert made.values["expect"]["train"] == {"sentences": 2, "tokens": 7, "mentions": 2}
    assert made.first["train"]["labels"] == ["B-Drug", "O", "B-Species", "O"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": [[0, 70, "Drug"]]}, r"1 of 1 mentions differ .* the first .*jsonl:1, 0 to 70 of Drug"),
        ({"label": [[7, 7, "Drug"]]}, "1 of 1 mentions differ .* 7 to 7 of Drug"),
    ],
)  # fmt: skip
def test_spans_outside_of_the_text_are_errors(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        found(tmp_path, [SPANS | change])


CONLLU = (
    "# newdoc id = d1\n# text = Don't take aspirin\n1-2\tDon't\t_\t_\n1\tDo\t_\tO\n2\tn't\t_\tO\n"
    "3\ttake\t_\tO\n3.1\t_\t_\t_\n4\taspirin\t_\tB-Drug\n\n# newdoc id = d2\n1\tRest\t_\tO\n\n"
)
IN_MISC = CONLLU.replace("\tO\n", "\tSpaceAfter=No\n").replace("B-Drug", "NER=B-Drug|SpaceAfter=No")


@pytest.mark.parametrize(("text", "misc"), [(CONLLU, {}), (IN_MISC, {"misc": "NER"})])
def test_labels_of_conllu_are_a_column_or_a_key(tmp_path: Path, text: str, misc: dict[str, str]) -> None:
    (tmp_path / "train.conllu").write_text(text)
    made = describe(new_dataset([str(tmp_path)], "mine", None, tmp_path, access="public"))
    columns = ["number", "word", "column3", "label"]
    assert made.form.options == {"labels": "as_written", "documents": "conllu", "columns": columns, **misc}
    assert made.values["expect"]["train"] == {"sentences": 2, "tokens": 5, "mentions": 1}
    assert made.first["train"]["words"] == ["Do", "n't", "take", "aspirin"]
    assert made.first["train"]["document"] == "d1"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("\tB-Drug", "\tDrug"), "neither a column nor a key of its last has BIO labels"),
        (("\tB-Drug", "\tI-Drug"), r"train.conllu:8: I continues no mention"),
        (("3\ttake\t_\tO", "3\ttake\tO"), "different numbers of columns"),
    ],
)  # fmt: skip
def test_wrong_conllu_is_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    (tmp_path / "train.conllu").write_text(CONLLU.replace(*change))
    with pytest.raises(PubmillError, match=message):
        describe(new_dataset([str(tmp_path)], "mine", None, tmp_path, access="public"))


def test_a_column_named_as_labels_are_goes_before_others(tmp_path: Path) -> None:
    rows = [
        {"Type": "xy"[n % 2], "Statement": f"Patient {n} rests", "Label": "abc"[n % 3]} for n in range(12)
    ]
    (tmp_path / "train.json").write_text(json.dumps({f"q{n}": row for n, row in enumerate(rows)}, indent=1))
    made = describe(new_dataset([str(tmp_path)], "mine", None, tmp_path, access="public"))
    assert (made.form.options["label"], made.form.options["id"]) == ("Label", "id")
    assert made.form.unread == ("Type",)


def test_a_label_has_the_same_values_in_all_files(tmp_path: Path) -> None:
    for split, part in (("train", "xy"), ("test", "zw")):
        rows = [{"part": part[n % 2], "note": f"Patient {n} rests", "kind": "ab"[n % 2]} for n in range(8)]
        text = "part,note,kind\n" + "".join(",".join(row.values()) + "\n" for row in rows)
        (tmp_path / f"{split}.csv").write_text(text)
    made = describe(new_dataset([str(tmp_path)], "mine", None, tmp_path, access="public"))
    assert (made.form.options["label"], made.form.options["labels"]) == ("kind", ["a", "b"])
