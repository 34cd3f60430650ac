"""Sentence splitting with NLTK's Punkt, whose tables are read directly from the published archive.

Nothing is unpacked or downloaded: the four tables of `punkt_tab.zip` are read into memory, in NLTK's own
format and with NLTK's own decoder.
"""

import re
from io import StringIO
from pathlib import Path

from nltk.tabdata import PunktDecoder
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from pubmill.errors import PubmillError
from pubmill.storage.archives import members

_PLAIN_STOP = re.compile(r"([A-Za-z]{2,})\. +[A-Za-z0-9]")
# the only places where Punkt looks for the end of a sentence
_MAY_END = re.compile("[.?!][^A-Za-z0-9]")

FOLDER = "punkt_tab/english"
TABLES = ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab")


def read_punkt(archive: Path) -> PunktParameters:
    """Read Punkt's English tables from `punkt_tab.zip`; a `PubmillError` names a missing or broken one."""
    tables = dict(members(archive))
    decoder, parameters, read = PunktDecoder(), PunktParameters(), []
    decoders = (decoder.tab2tups, decoder.txt2set, decoder.txt2set, decoder.tab2intdict)
    for name, decode in zip(TABLES, decoders, strict=True):
        where = f"{FOLDER}/{name}"
        if where not in tables:
            raise PubmillError(f"{archive}: {where} is missing; it is no punkt_tab.zip of NLTK")
        try:
            read.append(decode(StringIO(tables[where].decode("utf-8"), newline=None)))
        except ValueError as error:
            raise PubmillError(f"{archive}:{where}: {error}; fetch it again") from None
    if any(len(words) != 2 for words in read[0]):
        raise PubmillError(f"{archive}:{FOLDER}/{TABLES[0]}: a collocation is not two words; fetch it again")
    parameters.collocations = set(read[0])
    parameters.sent_starters, parameters.abbrev_types = read[1:3]
    parameters.ortho_context = _Contexts(read[3])
    return parameters


class _Contexts(dict[str, int]):
    """Orthographic contexts that return 0 for an unknown word without storing it. A `defaultdict` would store
    every word that Punkt looks up before a full stop, millions in a corpus."""

    def __missing__(self, word: str) -> int:
        return 0


class _Punkt(PunktSentenceTokenizer):  # type: ignore[misc]
    """NLTK's splitter with a fast path for its most common case; the sentences are the same.

    A full stop after a plain word, followed by an ordinary word, ends a sentence unless Punkt knows the first
    word as an abbreviation or from a collocation; its other rules concern initials, numbers and ellipses. At
    such a stop Punkt uses no other context, so the text is cut there, and NLTK only gets the pieces that may
    contain several sentences.
    """

    def __init__(self, parameters: PunktParameters) -> None:
        super().__init__(parameters)
        self._known = parameters.abbrev_types | {first for first, _ in parameters.collocations}

    def tokenize(self, text: str, realign_boundaries: bool = True) -> list[str]:
        sentences: list[str] = []
        begin, stop = 0, text.find(". ")
        while stop >= 0:
            following = stop + 2
            while text.startswith(" ", following):
                following += 1
            if self._certainly_ends(text, begin, stop, following):
                sentences += self._sentence_texts(text[begin : stop + 1], realign_boundaries)
                begin = following
            stop = text.find(". ", following)
        return sentences + self._sentence_texts(text[begin:], realign_boundaries)

    def _certainly_ends(self, text: str, begin: int, stop: int, following: int) -> bool:
        """Return whether a stop certainly ends a sentence; `following` is where the next word begins."""
        start = max(begin, text.rfind(" ", begin, stop) + 1)
        word, after = text[start:stop], text[following : following + 1]
        plain = len(word) > 1 and word.isascii() and word.isalpha()
        # A single space that begins a text belongs to its first word.
        ends = plain and start != 1 and after.isascii() and after.isalnum()
        return ends and word.lower() not in self._known

    def _sentence_texts(self, text: str, realign_boundaries: bool) -> list[str]:
        if _MAY_END.search(text):
            return list(super().tokenize(text, realign_boundaries))
        return [whole] if (whole := text.rstrip()) else []

    def text_contains_sentbreak(self, text: str) -> bool:
        plain = _PLAIN_STOP.match(text)
        if plain and plain[1].lower() not in self._known:
            return True
        return bool(super().text_contains_sentbreak(text))


class SentenceSplitter:
    """Splitter of documents into sentences; a line break (the end of a section) always ends a sentence."""

    def __init__(self, archive: Path) -> None:
        self._punkt = _Punkt(read_punkt(archive))

    def split(self, text: str) -> list[str]:
        """Return the sentences of `text` in order, without surrounding white space."""
        return [sentence for line in text.split("\n") for sentence in self._punkt.tokenize(line)]
