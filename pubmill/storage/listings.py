"""Listings of NCBI's PubMed folders: the files of each year, gaps, and sizes where the server states them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import unescape
from itertools import zip_longest
from urllib.parse import unquote, urljoin, urlsplit

from pubmill.errors import PubmillError
from pubmill.storage.sources import path_in_mirror, read

_ANCHOR = re.compile(r"<a\s[^<>]*>", re.I)
_ADDRESS = re.compile(r"""href=["']?([^"'\s>]+)""", re.I)
_END = re.compile("</a>", re.I)
_TAG = re.compile(r"<[^<>]*>")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)([KMGT]?)", re.I)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def list_folder(url: str, mirror: str | None = None) -> dict[str, int | None]:
    """Return the names of the files directly in the folder at `url`, sorted, with their sizes in bytes. Over
    HTTPS the server must answer with a page of links, as NCBI's and any Apache server do for a folder. Sizes
    on such pages are rounded (`19M`); a size is None where the page has none."""
    url = url.rstrip("/") + "/"
    folder = path_in_mirror(url, mirror)
    if folder is not None:
        if not folder.is_dir():
            raise PubmillError(
                f"{url}: the mirror has no folder {folder}; expected it to hold copies of the files"
            )
        return {entry.name: entry.stat().st_size for entry in sorted(folder.iterdir()) if entry.is_file()}
    files = _files_in_page(read(url).decode("utf-8", errors="replace"), url)
    if not files:
        raise PubmillError(
            f"{url} does not answer with a page of links to files, so its files cannot be listed; "
            f"open it in a browser to see what it says"
        )
    return files


def _files_in_page(page: str, url: str) -> dict[str, int | None]:
    """Return the linked files directly below `url`; links to other places and to folders are left out."""
    anchors = list(_ANCHOR.finditer(page))
    files = {}
    for anchor, following in zip_longest(anchors, anchors[1:]):
        address = _ADDRESS.search(anchor[0])
        if name := _name_below(url, address[1]) if address else None:
            end = following.start() if following else len(page)
            closing = _END.search(page, anchor.end(), end)
            words = _TAG.sub(" ", page[(closing or anchor).end() : end].split("\n", 1)[0]).split()
            match = _SIZE.fullmatch(words[-1]) if words else None
            files[name] = round(float(match[1]) * _UNITS[match[2].upper()]) if match else None
    return dict(sorted(files.items()))


def _name_below(url: str, address: str) -> str | None:
    """Return the name of the file directly below `url` at an address; None for other places."""
    here = urlsplit(url)
    try:
        whole = urlsplit(urljoin(url, unescape(address)))
    except ValueError:  # no address
        return None
    name = unquote(whole.path.removeprefix(here.path))
    inside = whole.netloc == here.netloc and whole.path.startswith(here.path)
    return name if inside and name and "/" not in name and not whole.query else None


@dataclass(frozen=True)
class PubmedYear:
    """The files pubmedYYnNNNN.xml.gz of one year in one of NCBI's folders; sizes are in bytes or None."""

    year: int
    numbers: tuple[int, ...]
    without_md5: tuple[str, ...]
    sizes: tuple[int | None, ...] = ()

    def ranges(self) -> list[str]:
        """Return the numbers as corpus specs write them, e.g. `26n0001-26n1334`; a gap starts a new range."""
        return _number_ranges(self.year, self.numbers)

    def gaps(self) -> list[str]:
        """Return the ranges of numbers that are missing between the first and the last."""
        missing = set(range(self.numbers[0], self.numbers[-1])) - set(self.numbers)
        return _number_ranges(self.year, sorted(missing))

    def described(self, folder: str) -> list[str]:
        """Return lines on the number and bytes of the files, gaps, and files without an md5."""
        known = [size for size in self.sizes if size is not None]
        unknown = f", {len(self.sizes) - len(known)} of unknown size" * (len(known) < len(self.sizes))
        gaps = self.gaps()
        return [
            f"{folder} 20{self.year:02d}: {len(self.numbers)} files, {sum(known) / 1e6:,.1f} MB{unknown}",
            *([f"not there: {', '.join(gaps)}"] if gaps else []),
            *([f"without md5: {', '.join(self.without_md5)}"] if self.without_md5 else []),
        ]


def _number_ranges(year: int, numbers: Iterable[int]) -> list[str]:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    ends = [(f"{year:02d}n{first:04d}", f"{year:02d}n{last:04d}") for first, last in runs]
    return [first if first == last else f"{first}-{last}" for first, last in ends]


def pubmed_years(files: Mapping[str, int | None]) -> list[PubmedYear]:
    """Group a folder's listing by year (two coexist while a baseline changes); other names are left out."""
    years: dict[int, dict[int, str]] = {}
    for name in files:
        if match := re.fullmatch(r"pubmed(\d\d)n(\d{4,})\.xml\.gz", name):
            years.setdefault(int(match[1]), {})[int(match[2])] = name
    return [
        PubmedYear(
            year=year,
            numbers=tuple(sorted(named)),
            without_md5=tuple(name for _, name in sorted(named.items()) if f"{name}.md5" not in files),
            sizes=tuple(files[name] for _, name in sorted(named.items())),
        )
        for year, named in sorted(years.items())
    ]
