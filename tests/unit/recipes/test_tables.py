"""Tables as texts name them."""

import pytest

from pubmill.recipes.tables import printed_name, table_title


@pytest.mark.parametrize(
    ("name", "shown"), [("table06", "Table 6"), ("table10", "Table 10"), ("section3", "Section 3")]
)
def test_a_table_has_the_name_that_its_paper_prints(name: str, shown: str) -> None:
    assert printed_name(name) == shown
    assert table_title(f"lewis2020/{name}") == f"lewis2020 {shown}"
