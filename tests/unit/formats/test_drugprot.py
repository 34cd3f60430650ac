"""DrugProt's three tables as documents, and what contradicts itself in them."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.formats.documents import InputDocument
from pubmill.formats.drugprot import ROLES, documents_of

TABLES = {
    "abstracts": "7\tOld drug.\tDrug binds gene.\n8\tNone.\tNothing.\n",
    "entities": "7\tT2\tGENE-Y\t21\t25\tgene\n7\tT1\tCHEMICAL\t4\t8\tdrug\n",
    "relations": "7\tINHIBITOR\tArg1:T1\tArg2:T2\n7\tAGONIST\tArg1:T1\tArg2:T2\n",
}


def read(folder: Path, **changes: str) -> list[InputDocument]:
    for name, text in (TABLES | changes).items():
        (folder / f"{name}.tsv").write_text(text)
    return list(documents_of(*(folder / f"{name}.tsv" for name in ROLES)))


def test_documents_have_mentions_by_passage_and_relations_between_them(tmp_path: Path) -> None:
    first, second = read(tmp_path)
    assert [(one.text, one.offset) for one in first.passages] == [("Old drug.", 0), ("Drug binds gene.", 10)]
    assert [[(one.id, one.text) for one in part.mentions] for part in first.passages] == [
        [("T1", "drug")], [("T2", "gene")],
    ]  # fmt: skip
    assert [(one.type, one.arguments) for one in first.relations] == [
        ("INHIBITOR", ("T1", "T2")), ("AGONIST", ("T1", "T2")),
    ]  # fmt: skip
    assert second.id == "8" and not second.relations and not any(part.mentions for part in second.passages)


@pytest.mark.parametrize(("table", "text", "message"), [
    ("entities", "7\tT1\tCHEMICAL\t4\t4\t\n", "entities.tsv:1: expected two offsets, the first one"),
    ("relations", "7\tINHIBITOR\tArg1:T1\n", "relations.tsv:1: expected 4 or 6 columns, found 3"),
    ("relations", "7\tINHIBITOR\tArg1:T1\tT2\n", "relations.tsv:1: expected the arguments Arg1:ID and"),
    ("relations", "9\tINHIBITOR\tArg1:T1\tArg2:T2\n", "abstracts.tsv: there is no abstract of 9, which"),
])  # fmt: skip
def test_what_contradicts_itself_is_an_error(tmp_path: Path, table: str, text: str, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        read(tmp_path, **{table: text})
