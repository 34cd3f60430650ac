"""HTTP sessions for untrusted host names: only public addresses, and a time limit for answers.

The address is checked once the connection is open, not when the name is resolved, because a second lookup may
give another address. A proxy resolves names itself, so behind one only addresses in URLs can be checked.
"""

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from pubmill.errors import PubmillError

ANSWER = 120.0  # seconds within which status line and headers must arrive

_HERE = threading.local()


def session(public: bool) -> requests.Session:
    """Return this thread's own session, so that many small files share one connection. A session for `public`
    hosts raises a `PubmillError` instead of connecting to any other address."""
    sessions: dict[bool, requests.Session] = _HERE.__dict__.setdefault("sessions", {})
    if public not in sessions:
        sessions[public] = _Session()
        for scheme in ("https://", "http://"):
            sessions[public].mount(scheme, _Adapter(_PUBLIC if public else _ANY))
    return sessions[public]


def is_public(host: str) -> bool:
    """Return whether a URL's host may be public: a name, or an address of the public internet."""
    try:
        return _is_global(ip_address(host))
    except ValueError:
        return host != "localhost" and not host.endswith(".localhost")


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_global


class _Timely(HTTPConnection):
    """A connection that is closed if the headers of a response take longer than `ANSWER`."""

    def getresponse(self) -> urllib3.HTTPResponse:  # type: ignore[override]  # as urllib3's own
        late = threading.Event()
        timer = threading.Timer(ANSWER, self._hang_up, [late])
        timer.daemon = True
        timer.start()
        try:
            return super().getresponse()
        finally:
            timer.cancel()
            if late.is_set():  # Python's client accepts headers that end with the connection
                raise TimeoutError(f"no complete answer within {ANSWER:g} seconds")

    def _hang_up(self, late: threading.Event) -> None:
        late.set()
        if sock := self.sock:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


class _Public(HTTPConnection):
    """A connection to public addresses only."""

    def _new_conn(self) -> socket.socket:
        sock = super()._new_conn()
        address = sock.getpeername()[0].partition("%")[0]
        if not _is_global(ip_address(address)):
            sock.close()
            raise PubmillError(
                f"{self.host} is at {address}, which is not a public address; a redirect must not lead there"
            )
        return sock


class _Https(_Timely, HTTPSConnection):
    pass


class _PublicHttps(_Public, _Timely, HTTPSConnection):
    pass


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _Timely


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _Https


class _PublicHttpsPool(HTTPSConnectionPool):
    ConnectionCls = _PublicHttps


_ANY = {"http": _HttpPool, "https": _HttpsPool}
_PUBLIC = {"https": _PublicHttpsPool}
"""Connection pools by scheme; a redirect to plain HTTP is not followed."""


class _Session(requests.Session):
    """A session that never follows a redirect itself: requests would first read the whole body."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


class _Adapter(HTTPAdapter):
    """An adapter of requests that uses the connections above."""

    def __init__(self, pools: Mapping[str, type[HTTPConnectionPool]]) -> None:
        super().__init__()
        self.poolmanager.pool_classes_by_scheme = pools
