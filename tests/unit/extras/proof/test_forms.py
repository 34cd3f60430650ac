"""Forms of what a proof states, and comparison with what was recomputed."""

import re
from typing import Any

import pytest

from pubmill.extras.proof.verifier.container import RefusedError
from pubmill.extras.proof.verifier.forms import HASH, Stated, check_form, same


@pytest.mark.parametrize(
    ("value", "form"),
    [("a" * 64, HASH), (None, (str, None)), ("x", (str, None)), (2, float), ([1, 2], [int]),
     ({"a": 1}, {"a": int, "b?": str}), ({"x": "1"}, {"*": str}), ([7], (int, [int])), (True, object)],
)  # fmt: skip
def test_a_value_of_its_form_is_taken(value: Any, form: Any) -> None:
    check_form(value, form, "here")


@pytest.mark.parametrize(
    ("value", "form", "message"),
    [("a" * 63, HASH, "here: expected [0-9a-f]{64}, found"), (5, HASH, "found 5"), (None, HASH, "found None"),
     (None, (int, [int]), "here: expected int, found None"), (True, int, "here: expected int, found True"),
     (True, float, "expected float, found True"), ([1, "x"], [int], "here 2: expected int, found 'x'"),
     ({}, {"a": int}, "expected the fields ['a'], found []"),
     ({"a": 1, "c": 1}, {"a": int}, "found ['a', 'c']"),
     ({"a": 1, "b": 2}, {"a": int, "b?": str}, "here, b: expected str, found 2"),
     (["x"], (int, [int]), "here 1")],
)  # fmt: skip
def test_a_value_of_another_form_is_refused(value: Any, form: Any, message: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(message)):
        check_form(value, form, "here")


@pytest.mark.parametrize(
    ("found", "shown"),
    [(1.0, 1.0 + 5e-8), (10, 10.0), (0, 0), ([1, (2,)], [1, [2]]), (Stated(str), "any"), (0.0, 9e-10)],
)
def test_floats_may_differ_in_their_last_bits(found: Any, shown: Any) -> None:
    same(found, shown, "here")


@pytest.mark.parametrize(
    ("found", "shown", "message"),
    [(1.0, 1.0 + 2e-7, "here: recomputed 1.0, shown 1.0000002"), (10**9, 10**9 + 1, "shown 1000000001"),
     (0.0, 2e-9, "shown 2e-09"), (1, True, "recomputed 1, shown True"), ({"a": 1}, [], "shown []"),
     ({"a": 1}, {"b": 1}, "here: its fields are not those recomputed: a, b"), ("x", "y", "shown 'y'"),
     ([1, 2], [1], "here: recomputed 2 parts, shown [1]"), ([1, 2], "12", "recomputed 2 parts, shown '12'"),
     (Stated(str), 1, "expected str, found 1"), ({"a": [0, 1]}, {"a": [0, 2]}, "here, a 2: recomputed 1")],
)  # fmt: skip
def test_a_shown_value_that_differs_is_refused(found: Any, shown: Any, message: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(message)):
        same(found, shown, "here")
