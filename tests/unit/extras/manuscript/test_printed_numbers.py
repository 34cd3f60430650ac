"""Numbers in a text, and exact values at their precision."""

import pytest

from pubmill.extras.manuscript.printed_numbers import RIGHT, ROUNDING, WRONG, PrintedNumber, numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("84.5 and 3, then .845.", ["84.5", "3", ".845"]),
        ("-3.5 +2.10 \N{MINUS SIGN}4", ["-3.5", "+2.10", "\N{MINUS SIGN}4"]),
        ("x4 1.2.3 12,500 5th 12345 0.1234567", []),
        ("(1234) {0.123456}", ["1234", "0.123456"]),
    ],
)
def test_numbers_stand_alone(text: str, expected: list[str]) -> None:
    found = numbers(text, 100)
    assert [one.text for one in found] == expected
    assert all(text[one.start - 100 :].startswith(one.text) for one in found)


def test_the_value_of_a_number_has_its_sign() -> None:
    assert [PrintedNumber(text, 0).value for text in ("\N{MINUS SIGN}4.5", "+2", ".5")] == [-4.5, 2, 0.5]


@pytest.mark.parametrize(
    ("text", "exact", "expected"),
    [
        ("84.52", 84.525, RIGHT), ("84.52", 84.515, RIGHT), ("84.52", 84.5251, ROUNDING),
        ("84.52", 84.5349, ROUNDING), ("84.52", 84.535, WRONG), ("84.52", 84.505, WRONG),
        ("85", 84.5, RIGHT), ("85", 84.4, ROUNDING), ("85", 83.4, WRONG), ("84.5", 84.518, RIGHT),
        ("0.845", 84.52, RIGHT), (".845", 84.56, ROUNDING), ("0.845", 84.4, ROUNDING),
        ("1.000", 99.96, RIGHT),
        ("1.001", 100.1, WRONG), ("0.84", 84.0, WRONG), ("0.041", 0.0412, RIGHT), ("1.000", 1.0, RIGHT),
    ],
)  # fmt: skip
def test_an_exact_value_in_points_is_compared_at_the_printed_precision(
    text: str, exact: float, expected: str
) -> None:
    assert PrintedNumber(text, 0).against(exact) == expected


@pytest.mark.parametrize(
    ("text", "exact", "expected"),
    [("84.1", 84.518, "84.5"), ("+3.1", 3.52, "+3.5"), ("0.840", 84.518, "0.845"), ("0.050", 0.04, "0.040"),
     ("85", 84.518, "85"), ("-3.10", -3.5, "-3.50"), ("0.999", 1.0, "1.000"), ("0.999", 1.1, "0.011")],
)  # fmt: skip
def test_the_right_number_has_the_form_of_the_printed_one(text: str, exact: float, expected: str) -> None:
    assert PrintedNumber(text, 0).rounded(exact) == expected
