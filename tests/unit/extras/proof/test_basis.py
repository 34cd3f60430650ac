"""What a table is recomputed from."""

from pubmill.extras.proof.basis import without_others
from tests import full_tables


def test_records_are_in_the_order_of_the_names_of_folds() -> None:
    name = "lewis2020/table02"
    made, read = full_tables.graph().tables.recipe(name), full_tables.recipe(name)
    folders = [path.rpartition("/")[0] for path in made.records["roberta-base"]["gad"]]
    assert folders == sorted(folders) and len(set(folders)) > 8
    for recipe in (made, read):
        found = without_others(recipe)
        assert "others" not in found
        assert found["records"] == {
            column: {row: list(paths) for row, paths in rows.items()} for column, rows in read.records.items()
        }
