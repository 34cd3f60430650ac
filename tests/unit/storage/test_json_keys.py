"""Repeated keys in JSON objects."""

import json

import pytest

from pubmill.storage.json_keys import RepeatedKeyError, unique_keys


def test_objects_without_repeated_keys_are_as_json_reads_them() -> None:
    text = '{"a": 1, "b": {"a": [{"a": 2}, {}]}}'
    assert json.loads(text, object_pairs_hook=unique_keys) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "key"),
    [('{"a": 1, "a": 1}', "a"), ('{"x": [{"a": 1, "b": 2, "b": 3, "a": 4}]}', "b"), ('{"": 1, "": 2}', "")],
)
def test_the_first_repeated_key_is_named(text: str, key: str) -> None:
    with pytest.raises(RepeatedKeyError) as caught:
        json.loads(text, object_pairs_hook=unique_keys)
    assert caught.value.key == key and f"the key {key!r} occurs twice" in str(caught.value)


def test_a_large_object_is_searched_once() -> None:
    pairs = [(str(number), 0) for number in range(300_000)]
    with pytest.raises(RepeatedKeyError) as caught:
        unique_keys([*pairs, pairs[-1]])
    assert caught.value.key == "299999"
