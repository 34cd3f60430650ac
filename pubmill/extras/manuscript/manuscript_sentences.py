r"""Sentences of a manuscript, with the rows and columns of a table that each names."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from pubmill.extras.manuscript.latex_source import Source, blanked, find_end, group_ends
from pubmill.tables.cells import Table

_ENVIRONMENT = re.compile(
    r"\\begin\{((?:long)?tabular[a-zA-Z]*\*?|longtable\*?|tblr|tikzpicture|thebibliography|equation\*?|align\*?|"
    r"displaymath|eqnarray\*?|algorithm\*?|algorithmic)\}"
)
_HIDDEN_ARGUMENT = re.compile(
    r"\\(?:[a-zA-Z]*cite[a-zA-Z]*|[a-zA-Z]*ref|label|url|path|includegraphics|input|include|subfile|hspace|vspace|"
    r"bibliography|bibliographystyle|usepackage|documentclass|setlength|begin|end|texttt|href|color|textcolor)"
    r"\*?\s*(?:\[[^\]\n]*\]\s*)*(?=\{)"
)
_DEFINITION = re.compile(
    r"\\(?:(?:re|provide)?newcommand|providecommand|DeclareRobustCommand|def)(?![a-zA-Z])[^\n]*"
)
_CITE = re.compile(r"\\[a-zA-Z]*cite[a-zA-Z]*(?![a-zA-Z])|\\bibentry(?![a-zA-Z])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:al|vs|e\.g|i\.e|cf|Fig|Figs|Tab|Sec|Eq|Eqs|Ref|approx|resp|ca|No|Dr|St|incl|w\.r\.t)|\b[A-Z])\.$"
)
_BREAK = re.compile(
    r"(?<=[.!?])[)}'\"]*(?:\s+|~)(?=[\\A-Z0-9$({`\"'])|\n[ \t]*\n|\\item(?![a-zA-Z])|\\par(?![a-zA-Z])"
    r"|\\(?:sub)*(?:section|paragraph)\*?(?=[\[{])|\\chapter\*?(?=[\[{])|\\(?:begin|end)\{[^{}\n]*\}"
    r"|\\caption\*?(?:\[[^\]\n]*\])?(?=\{)|\\footnote(?=\{)|\\\\"
)
LONGEST = 3_000
"""Characters after which a sentence is cut."""


class ManuscriptSentence(NamedTuple):
    """A sentence. `start`: its offset in the file; `text`: without hidden parts, at the same length."""

    start: int
    text: str


def sentences(source: Source) -> Iterator[ManuscriptSentence]:
    """Yield the sentences of a file, except those that a comment exempts."""
    text = visible_text(source.code)
    ignored = [one.start for one in source.marks if one.kind == "ignore"]
    place = 0
    for end in [*_sentence_ends(text), len(text)]:
        one = text[place:end]
        last = place + len(one.rstrip())
        if one.strip() and not any(place <= start <= find_end(text, "\n", last) for start in ignored):
            yield ManuscriptSentence(place, one)
        place = end


def visible_text(code: str) -> str:
    """Return code without preamble, tabulars, displayed formulas and names in arguments; `~` is a space."""
    begin = re.search(r"\\begin\{document\}", code)
    hidden = [(0, begin.end())] if begin else []
    for match in _ENVIRONMENT.finditer(code):
        hidden.append((match.start(), find_end(code, f"\\end{{{match[1]}}}", match.end())))
        if hidden[-1][1] == len(code):
            break
    ends = group_ends(code)
    hidden += [(one.end(), ends.get(one.end(), one.end())) for one in _HIDDEN_ARGUMENT.finditer(code)]
    hidden += [match.span() for match in _DEFINITION.finditer(code)]
    separating = re.compile(r"\\(?:begin|end)\*?\s*$")  # their arguments stay: they separate sentences
    hidden = [span for span in hidden if not separating.search(code[max(0, span[0] - 10) : span[0]])]
    return blanked(code, hidden).replace("~", " ")


def _sentence_ends(text: str) -> Iterator[int]:
    """Yield where sentences end; a text without an end is cut, so that the checks take linear time."""
    last = 0
    for match in _BREAK.finditer(text):
        if not _ABBREVIATION.search(text[max(0, match.start() - 12) : match.start()]):
            yield from range(last + LONGEST, match.end(), LONGEST)
            last = match.end()
            yield last
    yield from range(last + LONGEST, len(text), LONGEST)


def is_name(word: str) -> bool:
    """Return whether a word looks like the name of a model or dataset: two capitals, or one and a digit."""
    capitals = sum(letter.isupper() for letter in word)
    return len(word) > 2 and (capitals > 1 or (capitals > 0 and any(letter.isdigit() for letter in word)))


class NameInSentence(NamedTuple):
    """A name in a sentence. `keys`: the rows or columns that it may mean; `start`, `end`: in the sentence."""

    keys: tuple[str, ...]
    start: int
    end: int


class TableNames:
    """Names of the rows and columns of a table. `rows`, `columns`: text -> the mentions in it, in order."""

    def __init__(self, table: Table, own: Mapping[str, str]) -> None:
        self.rows = _finder([(row.key, row.label) for row in (*table.rows, *table.composites)], own)
        self.columns = _finder([(column.key, column.label) for column in table.columns], own)

    def end_with_name(self, text: str) -> bool:
        """Return whether a text ends with the name of a row or column."""
        return any(one.end == len(text) for one in (*self.columns(text), *self.rows(text)))


def quotes(text: str, names: Iterable[TableNames]) -> bool:
    """Return whether a citation in a sentence stands elsewhere than directly after a name (`BERT [1]`)."""
    for match in _CITE.finditer(text):
        before = text[: match.start()].rstrip(" \n{}(")
        word = before[max(before.rfind(space) for space in " \n{(") + 1 :]
        if not is_name(word) and not any(one.end_with_name(before) for one in names):
            return True
    return False


def _names(named: Iterable[tuple[str, str]], own: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return name -> keys of rows or columns. The names are labels, beginnings of labels and keys that look
    like names; labels of several words, also with a small first letter; and the manuscript's own names."""
    by_name: dict[str, dict[str, None]] = {}
    exact: dict[str, tuple[str, ...]] = {}
    for key, label in named:
        words = re.split(r"(?<=[\s,])", label)
        starts = ("".join(words[: number + 1]).strip(" ,(") for number in range(len(words)))
        for name in filter(is_name, starts):
            by_name.setdefault(name, {})[key] = None
        if re.search(r"[-@\d]", key) and len(key) > 2:
            by_name.setdefault(key, {})[key] = None
        if is_name(label):
            exact[label] = (key,)
        elif len(label.split()) > 1:
            exact |= {label: (key,), label[0].lower() + label[1:]: (key,)}
        exact |= {name: (key,) for name, of in own.items() if of == key}
    return {name: tuple(keys) for name, keys in by_name.items()} | exact


def _finder(
    named: Iterable[tuple[str, str]], own: Mapping[str, str]
) -> Callable[[str], list[NameInSentence]]:
    """Return the function that finds the mentions of rows or columns in a text."""
    names = _names(named, own)
    ways = (r"[\s-]+".join(map(re.escape, name.split())) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(ways) or '(?!)'})(?![\w@]|[-.]\w)")
    keys = {re.sub(r"[\s-]+", " ", name): of_name for name, of_name in names.items()}
    return lambda text: [
        NameInSentence(keys[re.sub(r"[\s-]+", " ", match[0])], *match.span())
        for match in pattern.finditer(text)
    ]
