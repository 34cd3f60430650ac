"""HTTPS downloads into a part file, resumed from what an earlier attempt or process has received.

Built on requests. With `pooch` or `urllib3.Retry` this module would be shorter, but downloads would be worse:
pooch fetches an interrupted file from the start, and Retry repeats requests, not interrupted bodies. Neither
resumes only if the file is unchanged (If-Range), abandons a server that sends a byte a minute, refuses a
redirect into a private network, or limits a body of unstated length.
"""

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.progress import report_progress
from pubmill.storage.connections import is_public, session

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before the next attempt, while attempts bring no new bytes
LONGEST_PAUSE = 120.0  # seconds; upper limit for a server's Retry-After
TIMEOUT = (20, 60)  # seconds to connect, seconds without a byte
CHUNK = 1 << 16  # largest read in bytes; each is written at once, so that a kill loses little
LEAST_SPEED = 1024  # bytes per second; an attempt that is slower over `SPEED_OVER` seconds is abandoned
SPEED_OVER = 60.0
LARGEST = 100 << 30  # bytes of a file; the largest in any spec has about 15 GB
REDIRECTS = 10

_ETAG = re.compile(r'"[\x21\x23-\x7e]*"')
_CONNECTION = re.compile(r"^\w+\(host=[^()]*\): ")
_CONTENT_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15}|\*)")


class GoneError(PubmillError):
    """The server answers that the file does not exist."""


class _AgainError(Exception):
    """A failed attempt that may succeed if repeated, after at least `wait` seconds."""

    def __init__(self, reason: str, wait: float = 0.0, slow: bool = False):
        super().__init__(reason)
        self.wait, self.slow = wait, slow


class _Body(NamedTuple):
    """Sizes in bytes, None if unknown. `end`: of the part after this response; `total`: of the whole file."""

    end: int | None
    total: int | None


def fetch(url: str, part: Path, largest: int = LARGEST) -> None:
    """Download the body of `url` to `part`, resuming an existing part; refuse more than `largest` bytes.
    Gives up when `len(PAUSES)` attempts in a row have added nothing to the longest part, or were too slow."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname == "127.0.0.1"):
        # Over plain HTTP, a file could be changed on the way; only the local machine may use it.
        raise PubmillError(f"{url}: only https:// and file:// are fetched; expected such a URL")
    longest, failures = _existing_size(part), 0
    while True:
        try:
            return _request_rest(url, part, largest)
        except _AgainError as problem:
            if _existing_size(part) > longest:
                longest, failures = _existing_size(part), failures if problem.slow else 0
            if failures == len(PAUSES):
                raise PubmillError(
                    f"{url}: {problem}; gave up after {failures + 1} attempts with {_existing_size(part):,} "
                    f"bytes received. Run the same command again to resume; without a network connection, "
                    f"set `mirror:` in the config (--mirror by hand) to a folder that holds {parts.netloc}"
                    f"{parts.path}"
                ) from None
            pause = max(PAUSES[failures], min(problem.wait, LONGEST_PAUSE))
            report_progress(f"{url}: {problem}; trying again in {pause:.0f} s")
            time.sleep(pause)
            failures += 1


def discard(part: Path) -> None:
    """Delete the received bytes, so that the next fetch starts from the beginning."""
    part.unlink(missing_ok=True)
    _validator_file(part).unlink(missing_ok=True)


def _request_rest(url: str, part: Path, largest: int) -> None:
    """Request the rest of the body if the server confirms that the file is unchanged, else all of it."""
    have, validator = _existing_size(part), _validator(part)
    headers = {"User-Agent": "pubmill", "Accept-Encoding": "identity"}
    asked = {"Range": f"bytes={have}-", "If-Range": validator} if have and validator else {}
    try:
        with _open_response(url, headers | asked) as response:
            whole = f"bytes */{have}"
            if asked and response.status_code == 416 and response.headers.get("Content-Range") == whole:
                return
            _check_status(response, url, part)
            body = _start_part(response, part, have, validator if asked else "")
            _check_size(url, body, part, largest)
            _receive_body(response, url, part, body, largest)
    except requests.exceptions.SSLError as error:
        raise PubmillError(f"{url}: no trusted connection: {error}") from None
    except (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError) as error:
        raise _AgainError(f"connection failed: {_underlying_error(error)}") from None
    except requests.RequestException as error:
        raise PubmillError(f"{url}: cannot be fetched: {error}") from None
    size = _existing_size(part)
    if body.end is None and not size:  # an answer that was cut before its length was sent is empty, too
        raise _AgainError("the answer is empty")
    if body.total is not None and size < body.total:
        raise _AgainError(f"cut short after {size:,} of {body.total:,} bytes")
    if body.end is not None and body.total is None:
        raise _AgainError(f"the server sent a part that ends at byte {size:,} and didn't say of how many")


@contextmanager
def _open_response(url: str, headers: dict[str, str]) -> Iterator[requests.Response]:
    """Yield the response to a request, following redirects within a host or to HTTPS at a public address."""
    at, public = url, False
    for _ in range(REDIRECTS + 1):
        with session(public).get(
            at, headers=headers, stream=True, timeout=TIMEOUT, allow_redirects=False
        ) as response:
            if not response.is_redirect:
                yield response
                return
            before, at = at, _redirect_target(url, at, response)
        public = public or _scheme_host_port(before) != _scheme_host_port(at)
    raise PubmillError(f"{url}: redirected more than {REDIRECTS} times, at last to {at}; correct the URL")


def _redirect_target(url: str, at: str, response: requests.Response) -> str:
    """Return the target of a redirect; raise a `PubmillError` if it must not be followed."""
    try:
        target = urljoin(at, response.headers["Location"].encode("latin-1").decode())
        parts, same = urlsplit(target), _scheme_host_port(target) == _scheme_host_port(at)
        allowed = same or (parts.scheme == "https" and is_public(parts.hostname or "localhost"))
    except ValueError:
        raise PubmillError(f"{url}: {at} redirects to a target that is not a URL") from None
    if not allowed:
        raise PubmillError(
            f"{url}: {at} redirects to {target[:200]!a}; expected https:// and a public address. If the file "
            f"has moved, correct the URL, or use a mirror"
        )
    return target


def _scheme_host_port(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _underlying_error(error: Exception) -> str:
    """Return the text of the underlying error, without wrappers and connections of requests and urllib3."""
    inner = error.args[0] if error.args else error
    return _CONNECTION.sub("", str(getattr(inner, "reason", None) or inner))


def _check_status(response: requests.Response, url: str, part: Path) -> None:
    status, said = response.status_code, f"the server answers {response.status_code} {response.reason}"
    if status in (200, 206):
        return
    if status == 416:
        discard(part)
        raise _AgainError(said)
    if status in (408, 429) or status >= 500:
        wait = response.headers.get("Retry-After", "")
        raise _AgainError(said, float(wait) if wait.isdecimal() else 0.0)
    raise (GoneError if status in (404, 410) else PubmillError)(
        f"{url}: {said}; expected the file. {_where_it_went(url)}"
    )


def _where_it_went(url: str) -> str:
    """Return advice about a file that is missing on its server."""
    match = re.search(r"/pubmed(\d\d)n\d{4,}\.xml\.gz", url)
    if not match:
        return "If it has moved or been replaced, correct the spec, or use a mirror that has it"
    year = 2000 + int(match[1])
    if year < date.today().year:
        why = f"NCBI replaces its files every year and numbers them anew: those of {year} are gone for good"
    else:
        why = "It is not out yet, or the next year's baseline has replaced it"
    listing = commands.pubmill("sources", "pubmed")
    return (
        f"{why}. Write the files that there are now ({listing}) into the corpus "
        "spec; to get the same documents as before out of them, name the old corpus's corpus.lock as its "
        "`lock:`. Or use a mirror that still has the old files"
    )


def _start_part(response: requests.Response, part: Path, have: int, validator: str) -> _Body:
    """Prepare `part` for appending; `validator` is that of the range request, "" if there was none."""
    if response.status_code != 206:
        part.write_bytes(b"")
        _validator_file(part).write_text(_strong_validator(response), encoding="ascii")
        length = response.headers.get("Content-Length", "")
        size = int(length) if re.fullmatch(r"[0-9]{1,15}", length) else None
        return _Body(size, size)
    content_range = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    end = int(content_range[2]) + 1 if content_range else 0
    total = int(content_range[3]) if content_range and content_range[3] != "*" else None
    starts_here = content_range is not None and int(content_range[1]) == have
    if not starts_here or not validator or not have < end <= (total or end):
        discard(part)
        wanted = f"bytes from {have}" if validator else "the whole file"
        raise _AgainError(f"asked for {wanted}, got {response.headers.get('Content-Range')!a:.100}")
    name = "ETag" if validator.startswith('"') else "Last-Modified"
    if response.headers.get(name, validator) != validator:
        discard(part)
        raise _AgainError("the file has changed since the first part of it came; fetching all of it anew")
    return _Body(end, total)


def _check_size(url: str, body: _Body, part: Path, largest: int) -> None:
    """Refuse a body whose stated size exceeds the limit for files or the space on the disk."""
    size = max(body.end or 0, body.total or 0)
    room = _existing_size(part) + shutil.disk_usage(part.parent).free
    if size > largest:
        discard(part)
        raise PubmillError(f"{url}: the server announces {size:,} bytes; expected at most {largest:,}")
    if size > room:
        raise PubmillError(
            f"{url}: has {size:,} bytes; the disk of {part.parent} has room for {room:,}. Free some space, "
            f"or point `results:` at another disk"
        )


def _receive_body(response: requests.Response, url: str, part: Path, body: _Body, largest: int) -> None:
    """Append the body as it was sent: a .gz file stays one, even if it is declared as encoded."""
    size, most = _existing_size(part), largest if body.end is None else body.end
    since, received = time.monotonic(), 0
    with part.open("ab", buffering=0) as file:
        while block := response.raw.read1(CHUNK, decode_content=False):
            size, received = size + len(block), received + len(block)
            if size > most:
                break
            file.write(block)
            if (passed := time.monotonic() - since) > SPEED_OVER:
                if received < LEAST_SPEED * passed:
                    raise _AgainError(f"only {received:,} bytes came in {passed:.0f} seconds", slow=True)
                since, received = time.monotonic(), 0
    if size > most:
        discard(part)
        raise PubmillError(f"{url}: more than {most:,} bytes came; expected at most that many")


def _strong_validator(response: requests.Response) -> str:
    """Return a validator for If-Range; a weak ETag does not guarantee equal bytes (RFC 9110, 13.1.5)."""
    etag, modified = response.headers.get("ETag", ""), response.headers.get("Last-Modified", "")
    return etag if _ETAG.fullmatch(etag) else modified if _is_validator(modified) else ""


def _is_validator(text: str) -> bool:
    return re.fullmatch(r"[ -~]{1,1000}", text) is not None


def _validator_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.validator")


def _validator(part: Path) -> str:
    path = _validator_file(part)
    text = path.read_text(encoding="ascii", errors="replace") if path.is_file() else ""
    return text if _is_validator(text) else ""


def _existing_size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
