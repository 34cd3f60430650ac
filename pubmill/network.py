"""A file over HTTPS into a part file, going on from what an earlier attempt or process has left there."""

import re
import sys
import threading
import time
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

import requests
import urllib3

from pubmill import commands
from pubmill.errors import PubmillError

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before another attempt, while attempts bring nothing new
LONGEST_PAUSE = 120.0  # seconds; a server's Retry-After is obeyed up to this
TIMEOUT = (20, 60)  # seconds to connect, seconds without a byte
CHUNK = 1 << 16  # bytes at a time; what a kill in the middle can lose

_HERE = threading.local()


class GoneError(PubmillError):
    """The server says that it has no such file."""


class _AgainError(Exception):
    """An attempt failed in a way that another one may mend, `wait` seconds later at the earliest."""

    def __init__(self, reason: str, wait: float = 0.0):
        super().__init__(reason)
        self.wait = wait


def fetch(url: str, part: Path) -> None:
    """Bring `part` to the whole body of `url`, going on from what is there.

    Attempts end when `len(PAUSES)` of them in a row have added nothing to the longest part seen.
    """
    _refuse_plain_http(url)
    longest, failures = _size(part), 0
    while True:
        try:
            return _attempt(_session(), url, part)
        except _AgainError as problem:
            if _size(part) > longest:
                longest, failures = _size(part), 0
            if failures == len(PAUSES):
                raise PubmillError(_explain_failure(url, part, problem)) from None
            pause = max(PAUSES[failures], min(problem.wait, LONGEST_PAUSE))
            say(f"{url}: {problem}; trying again in {pause:.0f} s")
            time.sleep(pause)
            failures += 1


def _session() -> requests.Session:
    """This thread's own, so that many small files come over one connection."""
    if not hasattr(_HERE, "session"):
        _HERE.session = requests.Session()
    session: requests.Session = _HERE.session
    return session


def discard(part: Path) -> None:
    """Forget what was received, so that the next fetch begins anew."""
    part.unlink(missing_ok=True)
    _validator_file(part).unlink(missing_ok=True)


def say(text: str) -> None:
    """Tell the person at the keyboard (standard error) what goes on."""
    print(f"pubmill: {text}", file=sys.stderr, flush=True)


def _explain_failure(url: str, part: Path, problem: _AgainError) -> str:
    return (
        f"{url}: {problem}; gave up after {len(PAUSES) + 1} attempts with {_size(part):,} bytes received. "
        f"Run the same command again to go on from there; without a network connection, set `mirror:` in the "
        f"config (--mirror by hand) to a folder that holds {urlsplit(url).netloc}{urlsplit(url).path}"
    )


def _attempt(session: requests.Session, url: str, part: Path) -> None:
    """One request: the rest of the body where the server vouches that it is the same file, else all of it."""
    have, validator = _size(part), _validator(part)
    headers = {"User-Agent": "pubmill", "Accept-Encoding": "identity"}
    if have and validator:
        headers |= {"Range": f"bytes={have}-", "If-Range": validator}
    try:
        with session.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            _refuse_plain_http(response.url)
            if response.status_code == 416 and response.headers.get("Content-Range") == f"bytes */{have}":
                return
            _check_status(response, url, part)
            total = _start_part(response, part, have)
            _receive(response, part)
    except requests.exceptions.SSLError as error:
        raise PubmillError(f"{url}: no trusted connection: {error}") from None
    except (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError) as error:
        raise _AgainError(f"connection failed: {_cause(error)}") from None
    except requests.RequestException as error:
        raise PubmillError(f"{url}: cannot be fetched: {error}") from None
    if total is not None and _size(part) != total:
        raise _AgainError(f"cut short after {_size(part):,} of {total:,} bytes")


def _cause(error: Exception) -> object:
    """What happened, without the wrappings of requests and urllib3."""
    inner = error.args[0] if error.args else error
    return getattr(inner, "reason", None) or inner


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
    """What to do about a file that its server does not have."""
    found = re.search(r"/pubmed(\d\d)n\d{4,}\.xml\.gz", url)
    if not found:
        return "If it has moved or been replaced, correct the spec, or use a mirror that has it"
    year = 2000 + int(found[1])
    if year < date.today().year:
        why = f"NCBI replaces its files every year and numbers them anew: those of {year} are gone for good"
    else:
        why = "It is not out yet, or the next year's baseline has replaced it"
    return (
        f"{why}. Write the files that there are now ({commands.script('list_pubmed')}) into the corpus spec; "
        f"to get the same documents as before out of them, name the old corpus's corpus.lock as its `lock:`. "
        f"Or use a mirror that still has the old files"
    )


def _start_part(response: requests.Response, part: Path, have: int) -> int | None:
    """Make `part` ready to be appended to; return the size that it must reach, where the server says it."""
    if response.status_code == 206:
        told = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
        if told is None or int(told[1]) != have:
            discard(part)
            raise _AgainError(f"asked for bytes from {have}, got {response.headers.get('Content-Range')}")
        return None if told[2] == "*" else int(told[2])
    part.write_bytes(b"")
    _validator_file(part).write_text(_strong_validator(response))
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


def _receive(response: requests.Response, part: Path) -> None:
    """Append the body as it was sent: a .gz file that is declared as encoded stays a .gz file."""
    with part.open("ab") as body:
        for block in response.raw.stream(CHUNK, decode_content=False):
            body.write(block)


def _strong_validator(response: requests.Response) -> str:
    """What If-Range can be asked with; a weak ETag does not vouch for equal bytes (RFC 9110, 13.1.5)."""
    etag = response.headers.get("ETag", "")
    return etag if etag.startswith('"') else response.headers.get("Last-Modified", "")


def _validator_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.validator")


def _validator(part: Path) -> str:
    path = _validator_file(part)
    return path.read_text() if path.is_file() else ""


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _refuse_plain_http(url: str) -> None:
    """Only HTTPS, so that nobody on the way can change a file; this machine itself may speak HTTP."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname == "127.0.0.1"):
        raise PubmillError(f"{url}: only https:// and file:// are fetched; expected such a URL")
