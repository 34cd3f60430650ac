"""Connections to public addresses: which hosts and addresses are public."""

from types import SimpleNamespace
from typing import Any

import pytest
from urllib3.connection import HTTPConnection

from pubmill.errors import PubmillError
from pubmill.storage.connections import _Public, is_public


@pytest.mark.parametrize(
    ("host", "public"),
    [
        ("example.org", True), ("8.8.8.8", True), ("2001:4860:4860::8888", True), ("localhost", False),
        ("a.localhost", False), ("mylocalhost", True), ("127.0.0.1", False), ("10.0.0.1", False),
        ("::1", False), ("::ffff:10.0.0.1", False), ("::ffff:8.8.8.8", True), ("169.254.169.254", False),
    ],
)  # fmt: skip
def test_names_and_addresses_of_the_internet_may_be_public(host: str, public: bool) -> None:
    assert is_public(host) is public


@pytest.mark.parametrize(
    ("address", "kept"), [("8.8.8.8", True), ("10.0.0.1", False), ("fe80::1%eth0", False)]
)
def test_a_connection_that_led_to_a_private_address_is_closed(
    monkeypatch: pytest.MonkeyPatch, address: str, kept: bool
) -> None:
    closed: list[bool] = []
    made: Any = SimpleNamespace(getpeername=lambda: (address, 443), close=lambda: closed.append(True))
    monkeypatch.setattr(HTTPConnection, "_new_conn", lambda self: made)
    connection = _Public("files.example.org")
    if kept:
        assert connection._new_conn() is made and not closed
    else:
        bare = address.partition("%")[0]
        with pytest.raises(
            PubmillError, match=f"files.example.org is at {bare}, which is not a public addre"
        ):
            connection._new_conn()
        assert closed == [True]
