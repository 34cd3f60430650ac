"""Check in parallel which URLs still answer, without downloading their files."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import requests

from pubmill.planning.required_files import TIMEOUT

AT_ONCE = 8


class Links(NamedTuple):
    """Result of checking links. `network`: False if no host answers, so that nothing is known. `dead`: URL ->
    what is wrong with it."""

    network: bool
    dead: Mapping[str, str]


class _NoAnswerError(Exception):
    """The host cannot be reached."""


def check_links(urls: Iterable[str]) -> Links:
    """Request every URL and return the dead links. One URL of each host is tried first; if the host does not
    answer, its other URLs are not requested."""
    by_host: dict[str, list[str]] = {}
    for url in dict.fromkeys(urls):
        by_host.setdefault(urlsplit(url).netloc, []).append(url)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        tried = threads.map(_link_fault, (of_host[0] for of_host in by_host.values()))
        first = dict(zip(by_host, tried, strict=True))
        silent = {host for host, answer in first.items() if isinstance(answer, _NoAnswerError)}
        if by_host and silent == by_host.keys():
            return Links(False, {})
        others = [url for host, of_host in by_host.items() if host not in silent for url in of_host[1:]]
        answers = dict(zip(others, threads.map(_link_fault, others), strict=True))
    for host, of_host in by_host.items():
        answers |= dict.fromkeys(of_host, first[host]) if host in silent else {of_host[0]: first[host]}
    return Links(True, {url: str(answer) for url, answer in answers.items() if answer is not None})


def _link_fault(url: str) -> str | _NoAnswerError | None:
    """Return None if the URL exists, else what is wrong."""
    try:
        answer = _status_fault("HEAD", url, {})
        # Some servers do not support HEAD, or forbid it; requesting one byte of the file answers as well.
        return answer and _status_fault("GET", url, {"Range": "bytes=0-0"})
    except requests.exceptions.SSLError:
        return "no trusted connection"
    except (requests.ConnectionError, requests.Timeout):
        return _NoAnswerError(f"{urlsplit(url).netloc} does not answer")
    except requests.RequestException as error:
        return f"cannot be requested: {type(error).__name__}"


def _status_fault(method: str, url: str, headers: dict[str, str]) -> str | None:
    headers = {"User-Agent": "pubmill", **headers}
    options: dict[str, Any] = {"timeout": TIMEOUT, "stream": True, "allow_redirects": True}
    with requests.request(method, url, headers=headers, **options) as response:
        return None if response.status_code < 400 else f"{response.status_code} {response.reason}"
