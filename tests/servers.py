"""HTTP servers on the loopback interface whose answers a test defines."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Asked:
    """Requests to a server: one (path, range, if-range) each."""

    url: str
    requests: list[tuple[str, str | None, str | None]] = field(default_factory=list)

    def ranges(self) -> list[str | None]:
        return [asked for _, asked, _ in self.requests]


class Talk:
    """One request to a server, with methods to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, number: int) -> None:
        self.path, self.number = handler.path, number
        self.method, self.headers = handler.command, handler.headers
        self.range, self.if_range = self.headers.get("Range"), self.headers.get("If-Range")
        self._handler = handler

    @property
    def start(self) -> int:
        return int((self.range or "bytes=0-").removeprefix("bytes=").removesuffix("-"))

    def sent(self) -> bytes:
        return self._handler.rfile.read(int(self.headers["Content-Length"]))

    def raw(self, data: bytes) -> None:
        with suppress(OSError):
            self._handler.wfile.write(data)

    def head(self, status: str, *headers: tuple[str, object]) -> None:
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers), "Connection: close"]
        self.raw("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def body(self, data: bytes, etag: str, status: str = "200 OK") -> None:
        """Send a whole body, as a correct server does."""
        self.head(status, ("ETag", etag), ("Content-Length", len(data)))
        self.raw(data)

    def part(self, data: bytes, etag: str, content_range: str | None = None) -> None:
        """Send the bytes from `start`, as a correct server does, or with another Content-Range."""
        reported = content_range or f"bytes {self.start}-{len(data) - 1}/{len(data)}"
        rest = data[self.start :]
        self.head("206 Partial", ("ETag", etag), ("Content-Range", reported), ("Content-Length", len(rest)))
        self.raw(rest)

    def sound(self, data: bytes, etag: str) -> None:
        """Answer as a correct server does."""
        if self.range is None or self.if_range != etag:
            self.body(data, etag)
        elif self.start < len(data):
            self.part(data, etag)
        else:
            self.head("416 No", ("Content-Range", f"bytes */{len(data)}"), ("Content-Length", 0))

    def waiting(self) -> bool:
        """Whether the client is still connected."""
        with suppress(OSError):
            self._handler.connection.setblocking(False)
            try:
                return bool(self._handler.connection.recv(1, socket.MSG_PEEK))
            except BlockingIOError:
                return True
            finally:
                self._handler.connection.setblocking(True)
        return False


@contextmanager
def serving(answer: Callable[[Talk], None]) -> Iterator[Asked]:
    """Serve at `Asked.url`: call `answer` for each request, then close the connection."""
    asked = Asked("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            talk = Talk(self, len(asked.requests))
            asked.requests.append((talk.path, talk.range, talk.if_range))
            answer(talk)
            self.close_connection = True

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    asked.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.002}, daemon=True).start()
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()
