"""HTTPS downloads into a part file, resumed from what an earlier attempt or process has received.

Built on requests. pooch fetches an interrupted file from the start, and urllib3's Retry repeats requests, not
interrupted bodies; neither resumes only if the file is unchanged (If-Range).
"""

import re
import shutil
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import requests
import urllib3

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.progress import report_progress

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before the next attempt, while attempts bring no new bytes
LONGEST_PAUSE = 120.0  # seconds; upper limit for a server's Retry-After
TIMEOUT = (20, 60)  # seconds to connect, seconds without a byte
CHUNK = 1 << 16  # largest read in bytes; each is written at once, so that a kill loses little
LARGEST = 100 << 30  # bytes of a file; the largest in any spec has about 15 GB

_CONNECTION = re.compile(r"^\w+\(host=[^()]*\): ")
_CONTENT_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")
_VALIDATOR = re.compile(r"[ -~]{1,1000}")


class _Here(threading.local):
    """This thread's session, so that many small files share one connection."""

    def __init__(self) -> None:
        self.session = requests.Session()


_HERE = _Here()


class GoneError(PubmillError):
    """The server answers that the file does not exist."""


class _AgainError(Exception):
    """A failed attempt that may succeed if repeated, after at least `wait` seconds."""

    def __init__(self, reason: str, wait: float = 0.0):
        super().__init__(reason)
        self.wait = wait


def fetch(url: str, part: Path, largest: int = LARGEST) -> None:
    """Download the body of `url` to `part`, resuming an existing part; refuse more than `largest` bytes.
    Gives up when `len(PAUSES)` attempts in a row have added nothing to the longest part."""
    _check_scheme(url, url)
    address, longest, failures = urlsplit(url), _size_of(part), 0
    while True:
        try:
            return _request_rest(url, part, largest)
        except _AgainError as problem:
            if _size_of(part) > longest:
                longest, failures = _size_of(part), 0
            if failures == len(PAUSES):
                raise PubmillError(
                    f"{url}: {problem}; gave up after {failures + 1} attempts with {_size_of(part):,} "
                    f"bytes received. Run the same command again to resume; without a network connection, "
                    f"set `mirror:` in the config (--mirror by hand) to a folder that holds "
                    f"{address.netloc}{address.path}"
                ) from None
            pause = max(PAUSES[failures], min(problem.wait, LONGEST_PAUSE))
            report_progress(f"{url}: {problem}; trying again in {pause:.0f} s")
            time.sleep(pause)
            failures += 1


def discard(part: Path) -> None:
    """Delete the received bytes, so that the next fetch starts from the beginning."""
    part.unlink(missing_ok=True)
    _validator_file(part).unlink(missing_ok=True)


def _check_scheme(url: str, target: str) -> None:
    """Refuse plain HTTP, over which a file could be changed on the way; only the local machine may use it."""
    address = urlsplit(target)
    if address.scheme != "https" and (address.scheme, address.hostname) != ("http", "127.0.0.1"):
        where = "" if target == url else f" redirects to {target[:200]!a}:"
        raise PubmillError(f"{url}:{where} only https:// and file:// are fetched; expected such a URL")


def _request_rest(url: str, part: Path, largest: int) -> None:
    """Request the rest of the body if the server confirms that the file is unchanged, else all of it."""
    have, stored = _size_of(part), _validator_file(part)
    validator = stored.read_text(encoding="ascii", errors="replace") if stored.is_file() else ""
    validator = validator if _VALIDATOR.fullmatch(validator) else ""
    headers = {"User-Agent": "pubmill", "Accept-Encoding": "identity"}
    asked = {"Range": f"bytes={have}-", "If-Range": validator} if have and validator else {}
    try:
        with _HERE.session.get(url, headers=headers | asked, stream=True, timeout=TIMEOUT) as response:
            _check_scheme(url, response.url)
            complete = response.headers.get("Content-Range") == f"bytes */{have}"
            if asked and response.status_code == 416 and complete:
                return
            _check_status(response, url, part)
            have, total = _read_head(response, part, validator if asked else "")
            _receive_body(response, url, part, have, total, largest)
    except requests.exceptions.SSLError as error:
        raise PubmillError(f"{url}: no trusted connection: {error}") from None
    except (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError) as error:
        inner = error.args[0] if error.args else error
        reason = _CONNECTION.sub("", str(getattr(inner, "reason", None) or inner))
        raise _AgainError(f"connection failed: {reason}") from None
    except (requests.RequestException, ValueError) as error:  # a redirect to a text that is no URL
        raise PubmillError(f"{url}: cannot be fetched: {error}") from None
    size = _size_of(part)
    if not size and total is None:  # an answer that was cut before its length was sent is empty, too
        raise _AgainError("the answer is empty")
    if total is not None and size < total:
        raise _AgainError(f"cut short after {size:,} of {total:,} bytes")


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
    advice = "If it has moved or been replaced, correct the spec, or use a mirror that has it"
    if re.search(r"/pubmed\d\dn\d{4,}\.xml\.gz", url):
        advice = (
            "NCBI replaces its files every year and numbers them anew. Write the files that there are now "
            f"({commands.pubmill('sources', 'pubmed')}) into the corpus spec; to get the same documents as "
            "before out of them, name the old corpus's corpus.lock as its `lock:`. Or use a mirror that "
            "still has the old files"
        )
    raise (GoneError if status in (404, 410) else PubmillError)(f"{url}: {said}; expected the file. {advice}")


def _read_head(response: requests.Response, part: Path, validator: str) -> tuple[int, int | None]:
    """Return after how many bytes of the part the response goes on, and how long the file is, if it says so;
    store its validator. `validator`: that of the range request, "" if there was none."""
    if response.status_code == 200:
        _validator_file(part).write_text(_strong_validator(response), encoding="ascii")
        length = response.headers.get("Content-Length", "")
        return 0, int(length) if re.fullmatch(r"[0-9]{1,15}", length) else None
    have, answered = _size_of(part), _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if not validator or answered is None or int(answered[1]) != have or not have < int(answered[3]):
        discard(part)
        wanted = f"bytes from {have}" if validator else "the whole file"
        raise _AgainError(f"asked for {wanted}, got {response.headers.get('Content-Range')!a:.100}")
    if _strong_validator(response) not in ("", validator):
        discard(part)
        raise _AgainError("the file has changed since the first part of it came; fetching all of it anew")
    return have, int(answered[3])


def _receive_body(
    response: requests.Response, url: str, part: Path, size: int, total: int | None, largest: int
) -> None:
    """Write the body as it was sent: a .gz file stays one, even if it is declared as encoded. Refuse a size
    that exceeds what the server states, the limit for files or the space on the disk."""
    room, most = _size_of(part) + shutil.disk_usage(part.parent).free, largest if total is None else total
    if most > largest:
        discard(part)
        raise PubmillError(f"{url}: the server announces {most:,} bytes; expected at most {largest:,}")
    if total is not None and total > room:
        raise PubmillError(
            f"{url}: has {total:,} bytes; the disk of {part.parent} has room for {room:,}. Free some space, "
            f"or point `results:` at another disk"
        )
    with part.open("ab" if size else "wb", buffering=0) as file:
        while block := response.raw.read1(CHUNK, decode_content=False):
            size += len(block)
            if size > most:
                break
            file.write(block)
    if size > most:
        discard(part)
        raise PubmillError(f"{url}: more than {most:,} bytes came; expected at most that many")


def _strong_validator(response: requests.Response) -> str:
    """Return a validator for If-Range; a weak ETag does not guarantee equal bytes (RFC 9110, 13.1.5)."""
    etag, modified = response.headers.get("ETag", ""), response.headers.get("Last-Modified", "")
    strong = etag if re.fullmatch(r'"[\x21\x23-\x7e]*"', etag) else modified
    return strong if _VALIDATOR.fullmatch(strong) else ""


def _validator_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.validator")


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
