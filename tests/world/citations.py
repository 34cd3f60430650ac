"""Citations that each PubMed file adds, revises and deletes, as plain data."""

from dataclasses import dataclass

from tests.world.dice import Dice
from tests.world.language import AMBIGUOUS, TYPED, choose_templates, running_text, sentence
from tests.world.lexicon import Lexicon

BASELINE = {"pubmed26n0001": 700, "pubmed26n0002": 700}
UPDATES = {"pubmed26n1335": 100, "pubmed26n1336": 80}
"""New PMIDs in each file, in NLM's order of loading."""

FIRST_PMID = 90_000_001
REVISED = {"pubmed26n1335": tuple(range(90_000_101, 90_000_121)),
           "pubmed26n1336": tuple(range(90_000_116, 90_000_126))}  # fmt: skip
"""PMIDs that are revised with another text; five of them twice."""
RETURNED = 90_000_203
"""Deleted in n1335, added again in n1336."""
DELETED = {"pubmed26n1335": (90_000_201, 90_000_202, RETURNED, 90_009_999),
           "pubmed26n1336": (90_000_204, 90_000_730, 90_001_401)}  # fmt: skip
"""One of them (90009999) never existed, as in real files; the last one was added in n1335."""
SECOND_VERSION = 90_000_301
"""PMID Version 1 in the baseline, Version 2 in n1335."""
BOTH_VERSIONS = 90_000_901
"""Versions 1 and 2 in the same file, n0002."""

AGAIN = {"pubmed26n0002": [(BOTH_VERSIONS, 2)], "pubmed26n1335": [(SECOND_VERSION, 2)],
         "pubmed26n1336": [(RETURNED, 1)]}  # fmt: skip
"""PMIDs and versions that these files repeat."""

OTHER_ABSTRACT_WORD = "Zusammenfassung"
COPYRIGHT_WORD = "Zzpress"
"""Words that occur only where a corpus must not take text from."""

_PRINTED = {"37 degrees C": "37 °C", "alpha-": "α-"}


@dataclass(frozen=True)
class Citation:
    """One PubmedArticle; `sections`: (label or "", text) pairs, none without an abstract.

    `revised` and `published` are years.
    """

    pmid: int
    version: int
    revised: int
    published: int
    language: str
    title: str
    sections: tuple[tuple[str, str], ...]
    other_abstract: bool
    copyright: bool


def _topic(dice: Dice, lexicon: Lexicon, subject: str) -> Lexicon:
    """Return the names in one paper: several of its subject, few of the other kinds."""
    return {kind: dice.sample(names, 5 if kind == subject else 1) for kind, names in lexicon.items()}


def _sentences(dice: Dice, topic: Lexicon, subject: str, words: int) -> list[str]:
    """Return sentences with at least this many words in total."""
    texts: list[str] = []
    while sum(len(text.split()) for text in texts) < words:
        templates = choose_templates(dice, subject, typed=0.7, ambiguous=0.25)
        text = running_text(sentence(dice, topic, templates))
        for plain, printed in _PRINTED.items():
            text = text.replace(plain, printed)
        texts.append(text)
    return texts


def _sections(texts: list[str], structured: bool) -> tuple[tuple[str, str], ...]:
    if not structured:
        return (("", " ".join(texts)),)
    cuts = [0, len(texts) // 4, len(texts) // 2, len(texts) * 7 // 8, len(texts)]
    labels = ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")
    parts = zip(labels, cuts, cuts[1:], strict=False)
    return tuple((label, " ".join(texts[start:stop])) for label, start, stop in parts if start < stop)


def _citation(
    dice: Dice, lexicon: Lexicon, revised: int, pmid: int, version: int = 1, special: bool = True
) -> Citation:
    """Return a citation; at fixed intervals of PMIDs one is short, without abstract, in French and so on."""
    subject = dice.pick(list(TYPED))
    topic = _topic(dice, lexicon, subject)
    title = running_text(sentence(dice, topic, AMBIGUOUS))
    short, silent, french = (special and pmid % n == k for n, k in ((25, 5), (40, 7), (50, 11)))
    texts = _sentences(dice, topic, subject, dice.between(40, 100) if short else dice.between(130, 240))
    if special and pmid % 60 == 2:
        texts.append("The rate constant was k=2 at rest.")
    return Citation(
        pmid=pmid, version=version, revised=revised, published=dice.between(1990, 2025),
        language="fre" if french else "eng", title=f"[{title[:-1]}]." if french else title,
        sections=() if silent else _sections(texts, pmid % 3 == 0 and not short),
        other_abstract=pmid % 30 == 13, copyright=pmid % 4 == 1,
    )  # fmt: skip


def make_citations(lexicon: Lexicon, seed: int) -> dict[str, list[Citation]]:
    """Return the citations of each file, in the order of the file."""
    dice = Dice(seed)
    files: dict[str, list[Citation]] = {}
    start = FIRST_PMID
    for name, number in (BASELINE | UPDATES).items():
        revised = 2025 if name in BASELINE else 2026
        new = [_citation(dice, lexicon, revised, pmid) for pmid in range(start, start + number)]
        again = [(pmid, 1) for pmid in REVISED.get(name, ())] + AGAIN.get(name, [])
        old = [_citation(dice, lexicon, revised, pmid, version, special=False) for pmid, version in again]
        files[name] = new + old
        start += number
    return files
