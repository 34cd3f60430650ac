"""Converter between CoNLL column files and tokens examples.

One line per word, with columns separated by a tab or a space; a blank line ends a sentence; a document mark
starts a document and is not a word. Without options, a file is `word<TAB>label` in BIO (IOB2) with marks
`-DOCSTART- ID`, the form that BLURB's generator writes.

Options of `read`, of which only `labels` is required:

- `labels`: `first_character` or `as_written`. BLURB keeps the first character (B, I, O): all types become
  one, and a B directly after an entity of another type stays a B.
- `types`: the allowed types (`[]`: none); any other is an error. Without it any word is a type, which is not
  allowed with `as_written` for a dataset that isn't public, because in a damaged file the word may be part of
  its text.
- `keep`: the types to keep; words of other types become O, and their mentions are counted as
  `left_out.mentions_of_other_types`.
- `separator`: `tab`, `blank`, or `white_space` (any number of tabs and blanks).
- `spelling`: how labels are written, one of `SPELLINGS` (`B_TYPE`, `TYPE-B`).
- `columns`: the names of all columns, with `word` and `label` (SciBERT: `[word, pos, chunk, label]`).
- `outside`: the file's label for O.
- `scheme`: one of `SCHEMES`; all except `iob2`, which must be well-formed, are converted to BIO.
- `documents`: one of `MARKS`. With `conllu`, the file is CoNLL-U: other comments, ranges of words (`1-2`) and
  empty nodes (`1.1`) are not read.
- `misc`: the key whose value is the label, if the column `label` has `KEY=VALUE|...`, as CoNLL-U's last one;
  a word without it is outside of mentions.
- `files`: split -> `{source, member, from, before}`, for a split that is not a source of its own: `source` is
  the role, `member` the file in an archive (its name, or the end of its path), and the split consists of the
  documents from the identifier `from` on, up to but excluding the identifier `before`.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import chain, dropwhile, takewhile
from pathlib import Path
from typing import Literal, NamedTuple

from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput, SpecError, lines
from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import to_labels, to_mentions
from pubmill.messages.quotations import quote, show, withheld
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.storage.archives import decode, members

SEPARATORS = {"tab": "\t", "blank": " ", "white_space": None}
SCHEMES: dict[str, dict[str, str]] = {
    "iob2": {"B": "B", "I": "I"},
    "iob1": {"B": "B", "I": "I"},
    "io": {"I": "I"},
    "bioul": {"B": "B", "I": "I", "L": "L", "U": "U"},
    "iobes": {"B": "B", "I": "I", "E": "L", "S": "U"},
    "bmes": {"B": "B", "M": "I", "E": "L", "S": "U"},
    "bmewo": {"B": "B", "M": "I", "E": "L", "W": "U"},
    "bare": {},
}
"""Scheme -> the prefixes in its files, and the corresponding ones of `pubmill.examples.tagging`.

In `iob1` a B occurs only if a mention touches another of its type, so an I that continues nothing begins a
mention, as in conlleval; `bare` labels are types without prefix, one per word. `iob2` and those with ends
(`bioul`, `iobes` of MTL-Bioinformatics-2016, ...) must be well-formed."""


class Spelling(NamedTuple):
    """How labels are written: the mark between prefix and type, whether the prefix is last, and whether it is
    in lower case."""

    mark: str
    last: bool
    lower: bool

    def divided(self, label: str) -> tuple[str, str, str]:
        """Return the prefix in upper case, the mark (empty without a type) and the type of a label."""
        before, mark, after = label.rpartition(self.mark) if self.last else label.partition(self.mark)
        prefix, of = (after, before) if self.last else (before, after)
        return prefix.upper() if self.lower else prefix, mark, of


SPELLINGS = {
    f"TYPE{mark}{b}" if last else f"{b}{mark}TYPE": Spelling(mark, last, b == "b")
    for b in "Bb"
    for last in (False, True)
    for mark in "-_:"
}
"""How prefix and type of a label may be written."""
MARKS: dict[str, str | None] = {
    "docstart": "-DOCSTART- {}",
    "parenthesised": "-DOCSTART- ({})",
    "medline": "###MEDLINE:{}",
    "conllu": "# newdoc id = {}",
    "unnamed": None,
}
"""Templates of document marks, with the identifier in the braces. `medline` is the GENIA corpus's own form;
`unnamed` marks (`-DOCSTART-` with any suffix) have no identifier and only end a sentence."""
_UNNAMED = "-DOCSTART-"


class ColumnFile(StrictRecipe):
    """The options of `read` (see the module)."""

    labels: Literal["first_character", "as_written"]
    types: list[str] | None = None
    keep: list[str] = field(default_factory=list)
    separator: Literal["tab", "blank", "white_space"] = "tab"
    columns: list[str] = field(default_factory=lambda: ["word", "label"])
    outside: str = "O"
    scheme: Literal["iob2", "iob1", "io", "bioul", "iobes", "bmes", "bmewo", "bare"] = "iob2"
    spelling: str = "B-TYPE"
    documents: Literal["docstart", "parenthesised", "medline", "conllu", "unnamed"] = "docstart"
    misc: str = ""
    files: dict[str, dict[str, str]] | None = None

    def __post_init__(self) -> None:
        if sorted(self.columns) != sorted({*self.columns, "word", "label"}):
            raise PubmillError(
                f"the converter's option `columns` is {self.columns!r}; give a name for each column, `word` "
                "and `label` among them, and none twice"
            )
        if self.spelling not in SPELLINGS:
            raise PubmillError(
                f"the converter's option `spelling` is {self.spelling!r}; give one of {', '.join(SPELLINGS)}"
            )
        if withheld() and self.types is None and self.labels != "first_character":
            raise PubmillError(
                "the converter's option `types` is missing; list all types of a dataset that isn't public, "
                "so that no word of a damaged file is read as one"
            )
        for split, file in (self.files or {}).items():
            if not {"source"} <= file.keys() <= {"source", "member", "from", "before"}:
                raise PubmillError(
                    f"the converter's option `files` has for {split}: {file!r}; give `source`, and if needed "
                    "`member`, `from` and `before`"
                )

    @property
    def mark(self) -> str | None:
        """Template of document marks."""
        return MARKS[self.documents]

    def is_read(self, line: str) -> bool:
        """Return whether a line is no comment, range of words or empty node of CoNLL-U."""
        comments = self.mark == MARKS["conllu"]
        first, tab, _ = line.partition("\t")
        return not comments or not line or (bool(tab) and first.isdecimal()) or _is_mark(line, self.mark)


class _ConllSentence(NamedTuple):
    document: str | None
    words: list[str]
    labels: list[str]


def read(source: ConverterInput) -> Iterator[TokensExample]:
    """Yield the examples of one split; their ids are `SPLIT-000001`, `SPLIT-000002`, ... in the file's order.
    A `PubmillError` names the file and line of anything that deviates from the form in the options."""
    form = source.options_as(ColumnFile)
    if form.files is None:
        file, path = dict[str, str](), source.of_split()
    elif source.split in form.files:
        file = form.files[source.split]
        path = source.input(file["source"])
    else:
        raise SpecError(f"the converter's option `files` has nothing for {source.split}")
    numbered: Iterable[tuple[str, str]] = ((f"{path}:{number}", line) for number, line in lines(path))
    if "member" in file:
        numbered = _lines_of_member(path, file["member"])
    first, end = file.get("from"), file.get("before")
    later = dropwhile(lambda one: first is not None and one.document != first, _sentences(numbered, form))
    sentences = takewhile(lambda one: end is None or one.document != end, later)
    kept = _keep_types(sentences, form.keep, source)
    for number, (document, words, stated) in enumerate(kept, 1):
        name, labels = f"{source.split}-{number:06d}", stated
        if form.labels == "first_character":
            labels = [label[0] for label in stated]
        yield TokensExample(id=name, document=document, words=words, labels=labels)


def write(examples: Sequence[TokensExample], form: WriterOptions) -> Iterator[str]:
    """Yield the text of a file of `word<TAB>label` with a blank line after each sentence.

    With the option `documents`, one of `MARKS` with an identifier, a mark and a blank line precede each
    document; without it there are no marks.
    """
    template = MARKS.get(form.options.get("documents", ""))
    unknown = sorted(form.options.keys() - {"documents"})
    if unknown or (form.options and template is None):
        raise PubmillError(
            f"published.options is {dict(form.options)}; it can only be `documents`, one of "
            f"{[name for name, mark in MARKS.items() if mark]}"
        )
    document = None
    for example in examples:
        if template and example.document is not None and example.document != document:
            yield template.format(example.document) + "\n\n"
        document = example.document
        rows = zip(example.words, example.labels, strict=True)
        yield "".join(f"{word}\t{label}\n" for word, label in rows) + "\n"


def _lines_of_member(archive: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of the only member whose path ends with this one (`train.tsv`, or `chem/train.tsv`)."""
    files = [(full, content) for full, content in members(archive) if f"/{full}".endswith(f"/{name}")]
    if len(files) != 1:
        raise PubmillError(f"{archive}: expected one file {name} in it, found {[full for full, _ in files]}")
    where = f"{archive}:{files[0][0]}"
    text = decode(files[0][1], where).removeprefix("\ufeff")
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        yield f"{where}:{number}", line.rstrip("\r")


def _keep_types(
    sentences: Iterable[_ConllSentence], keep: Sequence[str], source: ConverterInput
) -> Iterator[_ConllSentence]:
    """Yield the sentences with words of other types as O; an empty `keep` keeps all types. All words of a
    mention have one type, so a mention is kept or dropped as a whole."""
    for sentence in sentences:
        if keep:
            left = sum(of not in keep for _, _, of in to_mentions(sentence.labels))
            source.left_out["mentions_of_other_types"] += left
            kept = [label if label[2:] in keep else "O" for label in sentence.labels]
            sentence = sentence._replace(labels=kept)
        yield sentence


def _sentences(numbered: Iterable[tuple[str, str]], form: ColumnFile) -> Iterator[_ConllSentence]:
    """Yield sentences, which blank lines and document marks end; a blank line is appended for the last one. A
    named document without sentences is an error."""
    document: str | None = None
    start, empty = "", False
    rows: list[tuple[str, str, str]] = []
    for place, line in ((place, line) for place, line in chain(numbered, [("", "")]) if form.is_read(line)):
        mark = _is_mark(line, form.mark)
        if (line.strip() if form.separator == "white_space" else line) and not mark:
            rows.append((place, *_parse_row(line, form, place)))
            continue
        if rows:
            places, words, labels = map(list, zip(*rows, strict=True))
            yield _ConllSentence(document, words, _as_bio(labels, form.scheme, places))
            rows, empty = [], False
        if empty and (mark or not place):
            raise PubmillError(f"{start}: no sentence follows the mark of document {show(document or '')}")
        if mark:
            document, start, empty = _document_id(line, form.mark, place), place, form.mark is not None


def _is_mark(line: str, template: str | None) -> bool:
    beginning = _UNNAMED if template is None else template.partition("{}")[0].rstrip(" (")
    return line.startswith(beginning)


def _document_id(line: str, template: str | None, place: str) -> str | None:
    """Return the identifier in a mark; None for an unnamed mark."""
    if template is None:
        return None
    before, _, after = template.partition("{}")
    document = line.removeprefix(before).removesuffix(after)
    if template.format(document) != line or not _is_word(document):
        raise PubmillError(f"{place}: expected `{template.format('ID')}`, found {quote(line)}")
    return document


def _parse_row(line: str, form: ColumnFile, place: str) -> tuple[str, str]:
    separator = SEPARATORS[form.separator]
    values = line.split(separator)
    word = values[form.columns.index("word")] if len(values) == len(form.columns) else ""
    if not word.strip():
        expected = ("<TAB>" if separator == "\t" else " ").join(form.columns)
        raise PubmillError(f"{place}: expected `{expected}`, found {quote(line)}")
    if not _is_word(word):
        raise PubmillError(
            f"{place}: expected one word, without white space or control characters, found {quote(word)}"
        )
    label = values[form.columns.index("label")]
    if form.misc:
        stated = [one.partition("=")[2] for one in label.split("|") if one.startswith(f"{form.misc}=")]
        label = stated[0] if stated else form.outside
    return word, _parse_label(label, form, place)


def _is_word(text: str) -> bool:
    """Return whether all readers see one word: for many, a vertical tab or a no-break space ends a word."""
    is_shown = text.isprintable() or not any(unicodedata.category(one) == "Cc" for one in text)
    return is_shown and text.split() == [text]


def _parse_label(text: str, form: ColumnFile, place: str) -> str:
    """Return the label in the scheme of `pubmill.examples.tagging`."""
    if text == form.outside:
        return "O"
    bare = form.scheme == "bare"
    prefix, dash, of = ("", "-", text) if bare else SPELLINGS[form.spelling].divided(text)
    known = SCHEMES[form.scheme] or {"": "I"}
    if prefix in known and (not dash or _is_word(of)):
        if dash and form.types is not None and of not in form.types:
            expected = f"a type among {', '.join(form.types)}" if form.types else "a label without a type"
            raise PubmillError(f"{place}: expected {expected} (the option `types`), found {quote(of)}")
        return known[prefix] + ("-" if dash else "") + of
    scheme, known = "BIO" if form.scheme == "iob2" else form.scheme, SCHEMES[form.scheme]
    forms = ", ".join([form.outside, *known, *(f"{one}-TYPE" for one in known)] if known else ["TYPE"])
    raise PubmillError(f"{place}: expected a {scheme} label ({forms}), found {quote(text)}")


def _as_bio(labels: list[str], scheme: str, places: Sequence[str]) -> list[str]:
    """Return the labels converted to BIO; labels in BIO are checked and returned unchanged."""
    if scheme == "iob2":
        for place, before, label in zip(places, ["O", *labels], labels, strict=False):
            if label[0] == "I" and before not in (label, f"B{label[1:]}"):
                raise PubmillError(
                    f"{place}: I continues no mention of its type in the word before; expected B, or, where "
                    "files are meant so, the converter's option `scheme: iob1`"
                )
        return labels
    mentions = to_mentions(labels)
    if "U" in SCHEMES[scheme].values() and to_labels(mentions, len(labels), "bioul") != labels:
        raise PubmillError(
            f"{places[0]}: the labels of the sentence that begins here are not well-formed {scheme}: a "
            "mention doesn't end, or is continued without beginning"
        )
    return to_labels(mentions, len(labels), "bio")
