"""What a table is recomputed from."""

from pubmill.extras.proof.basis import with_record_paths
from tests import full_tables


def test_records_are_in_the_order_in_which_the_program_of_tables_reads_them() -> None:
    """Recipes are written with sorted keys, so folds are read in the order of their names as text."""
    name = "lewis2020/table02"
    made, read = full_tables.graph().tables.recipe(name), full_tables.recipe(name)
    assert made.record_paths["roberta-base"]["gad"] != read.record_paths["roberta-base"]["gad"]
    for recipe in (made, read):
        found = with_record_paths(recipe)
        assert "others" not in found
        assert found["records"] == {
            column: {row: list(paths) for row, paths in rows.items()}
            for column, rows in read.record_paths.items()
        }
