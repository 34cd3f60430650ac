"""Sentence splitting with NLTK's Punkt, its tables read straight from the published archive.

Nothing is unpacked and nothing downloaded: the four tables of `punkt_tab.zip` are read in memory, in NLTK's
own format, with NLTK's own decoder.
"""

import zipfile
from io import StringIO
from pathlib import Path

from nltk.tabdata import PunktDecoder
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from pubmill.errors import PubmillError

FOLDER = "punkt_tab/english"
TABLES = ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab")
# ten times the largest table of the archive published in 2024; a larger one is not what it says it is
LARGEST_TABLE = 10_000_000


def read_punkt(archive: Path) -> PunktParameters:
    """Read Punkt's English tables from `punkt_tab.zip`; a `PubmillError` names a missing or broken one."""
    try:
        with zipfile.ZipFile(archive) as tables:
            return _parameters(*(_table(tables, archive, name) for name in TABLES))
    except FileNotFoundError:
        raise PubmillError(f"{archive} does not exist; it is NLTK's punkt_tab.zip") from None
    except (zipfile.BadZipFile, UnicodeDecodeError, ValueError) as error:
        raise PubmillError(f"{archive}: not a whole punkt_tab.zip: {error}; fetch it again") from None


def _table(tables: zipfile.ZipFile, archive: Path, name: str) -> StringIO:
    try:
        size = tables.getinfo(f"{FOLDER}/{name}").file_size
    except KeyError:
        raise PubmillError(f"{archive}: {FOLDER}/{name} is missing; it is no punkt_tab.zip of NLTK") from None
    if size > LARGEST_TABLE:
        raise PubmillError(f"{archive}: {FOLDER}/{name} has {size} bytes; no table is that large")
    return StringIO(tables.read(f"{FOLDER}/{name}").decode("utf-8"), newline=None)


def _parameters(
    collocations: StringIO, starters: StringIO, abbreviations: StringIO, contexts: StringIO
) -> PunktParameters:
    decoder, parameters = PunktDecoder(), PunktParameters()
    parameters.collocations = set(decoder.tab2tups(collocations))
    parameters.sent_starters = decoder.txt2set(starters)
    parameters.abbrev_types = decoder.txt2set(abbreviations)
    parameters.ortho_context = _Contexts(decoder.tab2intdict(contexts))
    return parameters


class _Contexts(dict[str, int]):
    """Orthographic contexts that answer 0 for an unknown word without keeping it, as a `defaultdict` would:
    Punkt asks about every word before a full stop, and a corpus has millions of different ones."""

    def __missing__(self, word: str) -> int:
        return 0


class SentenceSplitter:
    """Split a document into sentences; a line break (the end of a section) always ends one."""

    def __init__(self, archive: Path) -> None:
        self._punkt = PunktSentenceTokenizer(read_punkt(archive))

    def split(self, text: str) -> list[str]:
        """The sentences of `text` in order, without the white space around them."""
        return [sentence for line in text.split("\n") for sentence in self._punkt.tokenize(line)]
