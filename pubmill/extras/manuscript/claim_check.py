r"""Compare claims of a manuscript ("outperforms", "significantly") with the tests of the tables' comparisons.

A claim is a clause with such a word that names two columns and a row of a table. It is supported if, in each
row, the better column has the best score, and its paired bootstrap against the other column has an adjusted p
value below 1 minus the confidence of the comparisons. A "state-of-the-art" claim names one column: it must
pass this test against all others, and no published value of the row may exceed its score.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pubmill.extras.manuscript.latex_source import ManuscriptFault, Source, blanked
from pubmill.extras.manuscript.manuscript_sentences import (
    ManuscriptSentence,
    NameInSentence,
    TableNames,
    quotes,
    sentences,
)
from pubmill.extras.manuscript.study_tables import StudyTables
from pubmill.messages import commands
from pubmill.tables.cells import Table

_SCORE = r"(?:F1|F1-scores?|scores?|accuracy|accuracies|performance|results?|recall|precision|correlations?)"
_COST = r"(?:more|fewer|less|faster|slower|cheaper|larger|smaller|longer|shorter|costlier|harder|easier)"
_CLAIM = re.compile(
    rf"\b(?:(?P<best>state[- ]of[- ]the[- ]art|SOTA)"
    rf"|significantly(?!\s+(?:\w+ly\s+)?{_COST}\b)"
    r"|significant(?=\s*(?:$|[.,;:)(]|improve|differ|gain|advantage|drop|loss|increase|decrease|"
    r"(?:at|with|for|on|in)\b))"
    r"|(?:(?:is|are|was|were|been|be)\s+(?:\w+ly\s+)?)?out-?perform(?:s|ed|ing)?(?:\s+by\b)?"
    r"|surpass(?:es|ed|ing)?(?:\s+by\b)?|beats?|beaten\s+by|underperform(?:s|ed|ing)?"
    rf"|(?:better|worse|superior|inferior)\s+(?:{_SCORE}\s+)?(?:on\s+\S+\s+)?(?:than|to)"
    rf"|(?:higher|lower)\s+{_SCORE}\s+(?:on\s+\S+\s+)?than"
    r"|improve(?:s|d|ments?)?\s+(?:significantly\s+|substantially\s+)?(?:up)?(?:on|over))(?![\w-])",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|no|never|neither|nor|without|cannot|hardly|whether|if|may|might|could|would|should|can|fails?|"
    r"failed|few|rarely)\b|n't\b|\b(?:expect|hypothesi)\w*)(?:(?!\b(?:and|but)\b)(?:[^,;:]|,(?=\s\d))){0,60}$",
    re.IGNORECASE,
)
_REVERSED = re.compile(
    r"\bby\s*$|\b(?:worse|lower|inferior|underperform\w*|drops?|loss|decrease\w*)\b", re.IGNORECASE
)
_QUESTION = re.compile(r"[^.!?]*\?")
_SYMMETRIC = re.compile(r"^\s*(?:differ|different|difference)", re.IGNORECASE)
_REFERENCE = re.compile(
    r"(?:\bthan|\bover|\bagainst|\bversus|\bvs\.?|\bcompared\s+(?:with|to)|\brelative\s+to|\bin\s+contrast\s+to|"
    r"\bunlike)\s+(?:the\s+|that\s+of\s+|those\s+of\s+|both\s+|\\\w+\s*|\{)*$",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r";|,?\s+(?:but|while|whereas|although|though)\s|,\s+and\s", re.IGNORECASE)
CONTEXT = 120
"""Characters before a word or column that are searched for a negation ("not") or reference ("than")."""
_EVERYWHERE = re.compile(
    r"\b(?:on|in|for|across|over|of)\s+(?:all|every|each)\s+(?:of\s+)?(?:(?:the|our|these|its)\s+)?"
    r"(?:[\w-]+\s+){0,2}(?:datasets?|tasks?|benchmarks?|corpora|corpus|test\s+sets?|cases|rows)\b",
    re.IGNORECASE,
)
"""Words that extend a claim to all rows of a table, such as "on all datasets"."""


class Claim(NamedTuple):
    """A claim. `better`, `worse`, `rows`: keys of columns and rows; `ordered`: whether it states which is
    better; `best`: whether it compares with all columns and published values; `everywhere`: whether it covers
    all rows in which these columns have a value."""

    better: tuple[str, ...]
    worse: tuple[str, ...]
    rows: tuple[str, ...]
    ordered: bool
    best: bool
    everywhere: bool = False


def check_claims(
    source: Source, study: StudyTables, names: Mapping[str, TableNames]
) -> Iterator[ManuscriptFault]:
    """Yield the claims of a file that no table's comparisons support."""
    for sentence in sentences(source):
        if quotes(sentence.text, names.values()):
            continue
        for match in _claim_words(sentence, names.values()):
            claims = {name: claim for name in study.tables if (claim := _claim(sentence, match, names[name]))}
            reasons = {name: _objection(name, claim, study) for name, claim in claims.items()}
            refuted = [why for name, why in reasons.items() if why and claims[name].everywhere]
            if refuted or (reasons and all(reasons.values())):
                place, found = sentence.start + match.start(), f'"{" ".join(match[0].split())}"'
                why, to_do = [*refuted, *reasons.values()][0], "State what the test shows, or remove the word"
                yield source.fault(place, "claim", found, why, to_do)
                break


def _claim_words(sentence: ManuscriptSentence, names: Iterable[TableNames]) -> Iterator[re.Match[str]]:
    """Yield the claim words of a sentence that are neither negated nor part of a question. The "no" in a
    column's name, such as "No pretraining", is not a negation."""
    mentions = [one for of_table in names for one in of_table.columns(sentence.text)]
    text = blanked(sentence.text, [(one.start, one.end) for one in mentions])
    for match in _CLAIM.finditer(sentence.text):
        denied = _DENIED.search(text, max(0, match.start() - CONTEXT), match.start())
        if not denied and not _QUESTION.match(text, match.end()):
            yield match


def _claim(sentence: ManuscriptSentence, word: re.Match[str], names: TableNames) -> Claim | None:
    """Return the claim of a word by the names of one table; None if the table does not have them."""
    text = sentence.text
    clauses = [0, *(end for one in _CLAUSES.finditer(text) for end in one.span()), len(text)]
    start = max(end for end in clauses if end <= word.start())
    end = min(end for end in clauses if end > word.start())
    columns = _unambiguous(names.columns(text), start, end, 1 if word["best"] else 2)
    rows = _unambiguous(names.rows(text), start, end, 1)
    everywhere = rows is None and not word["best"] and bool(_EVERYWHERE.search(text, start, end))
    rows = [] if everywhere else rows
    if columns is None or rows is None:
        return None
    keys = tuple(dict.fromkeys(key for one in rows for key in one.keys))
    if word["best"]:
        before = dict.fromkeys(one.keys[0] for one in columns if one.start < word.start())
        return Claim((*columns[0].keys, *before)[-1:], (), keys, True, True)
    better, worse, ordered = _sides(text, word, columns)
    return Claim(better, worse, keys, ordered, False, everywhere) if better and worse else None


def _unambiguous(
    mentions: Sequence[NameInSentence], start: int, end: int, least: int
) -> list[NameInSentence] | None:
    """Return the mentions in the clause `start` to `end`; if these name fewer than `least` different things,
    all mentions of the sentence; None if these are also too few, or if one is ambiguous."""
    within = [one for one in mentions if start <= one.start < end]
    chosen = within if len({one.keys for one in within}) >= least else list(mentions)
    if len({one.keys for one in chosen}) < least or any(len(one.keys) > 1 for one in chosen):
        return None
    return chosen


def _sides(
    text: str, word: re.Match[str], columns: Sequence[NameInSentence]
) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Return the columns that are claimed to be better and worse, and whether the direction is stated."""
    references = [one for one in columns if _REFERENCE.search(text, max(0, one.start - CONTEXT), one.start)]
    before = [one for one in columns if one.start < word.start() and one not in references]
    after = [one for one in columns if one.start >= word.start() or one in references]
    ordered = bool(before and after) and not _SYMMETRIC.match(text[word.end() :])
    if not before or not after:
        before, after = list(columns[:1]), list(columns[1:])
    claimed = text[word.start() : word.end() + 12].split(",")[0]
    if _REVERSED.search(claimed) or word[0].lower().endswith(" by"):
        before, after = after, before
    better, worse = ({one.keys[0]: None for one in side} for side in (before, after))
    return tuple(better), tuple(key for key in worse if key not in better), ordered


def _objection(name: str, claim: Claim, study: StudyTables) -> str:
    """Return why the comparisons of a table do not support a claim; empty if they do."""
    table = study.tables[name]
    for row in _rows_with_all(table, claim) if claim.everywhere else claim.rows:
        pairs = [(one, other) for one in claim.better for other in claim.worse]
        if claim.best:
            tests = (pair for one in study.compared[name].rows if one.row == row for pair in one.pairs)
            pairs = [(claim.better[0], pair.other) for pair in tests]
            if why := _published_objection(name, claim.better[0], row, table):
                return why
        if not pairs:
            return f"{name} has no test for {row}"
        for one, other in pairs:
            ways = [(one, other)] if claim.ordered else [(one, other), (other, one)]
            objections = [_pair_objection(name, first, second, row, study) for first, second in ways]
            if all(objections):
                return objections[0]
    return ""


def _rows_with_all(table: Table, claim: Claim) -> list[str]:
    """Return the rows of datasets in which all columns of a claim have a value; those where a better column
    has a lower one come first, because they refute it."""
    holds: dict[str, bool] = {}
    for row in (one.key for one in table.rows if one.shown):
        values = [table.cells[key][row].value for key in (*claim.better, *claim.worse)]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            holds[row] = min(known[: len(claim.better)]) >= max(known[len(claim.better) :])
    return sorted(holds, key=lambda row: holds[row])


def _published_objection(name: str, column: str, row: str, table: Table) -> str:
    value = table.cells[column][row].value
    for other in table.columns:
        published = table.cells[other.key][row].published
        decimals = len(published.printed.partition(".")[2]) if published else 0
        if published and (value is None or published.value > round(value, decimals)):
            shown = "no value" if value is None else f"{value:.2f}"
            published_text = f"{published.printed} is published for {other.label}"
            return f"{name} has {shown} for {column} on {row}, but {published_text}"
    return ""


def _pair_objection(name: str, better: str, worse: str, row: str, study: StudyTables) -> str:
    """Return why no test shows that one column is better than another; empty if one does."""
    table, compared = study.tables[name], study.compared[name]
    values = [table.cells[key][row].value for key in (better, worse)]
    if None not in values and values[0] < values[1]:  # type: ignore[operator]
        return f"{name} has {values[0]:.2f} for {better} and {values[1]:.2f} for {worse} on {row}"
    tests = next((one for one in compared.rows if one.row == row), None)
    if tests is None:
        return f"{name} has no test for {row}"
    pair = next((one for one in tests.pairs if one.other == worse), None)
    if tests.best != better or pair is None:
        return (
            f"{name} tests on {row} only against the best, {tests.best}; to test {better} against {worse}: "
            f"{commands.pubmill('compare', name, better, worse, '--study', study.study)}"
        )
    if pair.bootstrap_adjusted >= 1 - compared.confidence:
        return f"{name} has p = {pair.bootstrap_adjusted:.2g} for {better} against {worse} on {row}"
    return ""
