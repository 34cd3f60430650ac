"""The form of files with documents, and of archives of them, guessed from their content."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pubmill.convert.annotated_texts import has_overlaps, needed_readings
from pubmill.errors import PubmillError
from pubmill.examples.kinds import NOVELTY
from pubmill.formats import spans
from pubmill.formats.document_files import ARCHIVES, annotated_documents
from pubmill.formats.documents import InputDocument
from pubmill.formats.json_text import parse_json
from pubmill.formats.offsets import Offsets, explanations, parse_offsets
from pubmill.formats.text_files import lines, read_text
from pubmill.new_specs.file_forms import BY_HAND, FileForm, Given, Options
from pubmill.storage.archives import members

TEXTS = "pubmill.convert.annotated_texts"
DOCUMENTS = "pubmill.convert.document_relations"
PAIRS = "pubmill.convert.annotated_relations"
LEAVE_OUT = "--misplaced leave_out"
TRIED = 20
"""Number of misplaced mentions whose distances from their texts are tried as shifts."""
MOST_RAGGED = 0.5
"""Where texts are not stated: largest share of mentions that may begin or end inside a word."""
_RELATED = "relations between mentions or concepts"
DOCUMENT_READINGS = {
    "mentions": ("mentions", "tokens", "ner", "entity_f1", f"{TEXTS}:mentions"),
    "nested": ("mentions that overlap", "mentions", "nested-ner", "entity_f1", f"{TEXTS}:nested_mentions"),
    "relations": (_RELATED, "relations", "document-relation", "relation_f1", f"{DOCUMENTS}:read"),
    "pairs": (_RELATED, "sequence", "relation", "micro_f1", f"{PAIRS}:read"),
}
"""Value of --as -> what documents must have for it; kind, task, metric and converter."""


def form_of_documents(path: Path) -> str | None:
    """Return the form of documents that a file, or the files of an archive, have; None if it is none. An
    archive has brat with .ann or .a1 files, else the form of its first XML, JSON or PubTator file."""
    if not path.name.endswith(ARCHIVES):
        first = next((line for _, line in lines(path) if line.strip()), "")
        return _form_of_line(first, path)
    ends = {name: name.rpartition(".")[2].lower() for name, _ in members(path)}
    if {"ann", "a1"} & set(ends.values()):
        return "brat"
    for name, content in members(path):
        start = content[:10_000].decode("utf-8", "replace")
        if ends[name] == "xml":
            return "bioc-xml" if "<collection" in start else None
        if ends[name] == "json":
            return "bioc-json" if '"passages"' in start else None
        first = start.lstrip().split("\n")[0]
        if ends[name] in ("txt", "pubtator") and _form_of_line(first, path) == "pubtator":
            return "pubtator"
    return None


def _form_of_line(first: str, path: Path) -> str | None:
    name, _, rest = first.partition("|")
    if rest.startswith("t|") and "\t" not in name:
        return "pubtator"
    if first.lstrip().startswith("<"):
        return "bioc-xml" if "<collection" in read_text(path)[:10_000] else None
    if first.lstrip().startswith(("{", "[")) and '"passages"' in read_text(path)[:100_000]:
        content = parse_json(read_text(path), str(path))
        collection = content[0] if isinstance(content, list) and content else content
        return "bioc-json" if isinstance(collection, dict) and "documents" in collection else None
    if not first.startswith(("{", "[")):
        return None
    try:
        rows = [row for _, row in spans.rows(read_text(path), "")]
    except PubmillError:
        return None
    if rows and all(map(spans.has_word_spans, rows)):
        return "word-spans"
    return "spans" if all(map(spans.has_spans, rows)) and any(map(spans.spans_of, rows)) else None


def documents_form(files: Mapping[str, Path], form: str, given: Given) -> FileForm:
    """Return the form of document files for the reading that is given (--as), by default for the first of
    `_readings`."""
    options: Options = {"form": form} if form == "word-spans" else {"form": form, "sentences": "stops"}
    options |= {"offsets": given.offsets} if given.offsets else {}
    options |= {"misplaced": "leave_out"} if given.misplaced else {}
    counted = parse_offsets(given.offsets, leave_out=True)
    by_split = {role: [*annotated_documents(path, form, "", counted)] for role, path in files.items()}
    every = [one for documents in by_split.values() for one in documents]
    first = next(iter(files.values()))
    if not every:
        raise PubmillError(f"{first}: there are no documents in it")
    if not given.misplaced:
        _check_offsets(every, files.values(), form)
    readings = _readings(every)
    chosen = given.reading or next(iter(readings), None)
    if chosen is None:
        raise PubmillError(f"{first}: its documents have no mentions; {BY_HAND}")
    if chosen not in readings:
        ways = " or ".join(f"--as {name} ({what})" for name, what in readings.items())
        lacking = DOCUMENT_READINGS.get(chosen, ("questions",))[0]
        raise PubmillError(f"{first}: its documents have no {lacking}; {f'use {ways}' if ways else BY_HAND}")
    options |= needed_readings(every)
    others = {name: what for name, what in readings.items() if name != chosen}
    notes = []
    for split, some in by_split.items():
        if number := len(some) - len({one.id for one in some}):
            notes.append(f"{number:,} of {len(some):,} documents of {split} have the identifier of another")
    unread: dict[str, None] = {}  # keys of rows with spans
    for path in files.values() if form == "spans" else ():
        for _, row in spans.rows(read_text(path), str(path)):
            unread |= dict.fromkeys(key for key in row if key not in spans.keys_read(row))
    if chosen != "mentions":
        options.pop("overlaps", None)
    if chosen in ("relations", "pairs"):
        options |= _relation_options(every, chosen == "pairs")
    _, kind, task, metric, converter = DOCUMENT_READINGS[chosen]
    return FileForm(
        kind, task, metric, converter, options, negative="none" if chosen == "pairs" else None,
        others=others, unread=tuple(unread), notes=tuple(notes),
    )  # fmt: skip


def _readings(documents: Sequence[InputDocument]) -> dict[str, str]:
    """Return the readings that documents allow, and what each gives; the first is proposed."""
    mentions = sum(len(part.mentions) for one in documents for part in one.passages)
    nested = sum(map(has_overlaps, documents))
    related = [relation for one in documents for relation in one.relations]
    by_concept = any(relation.concepts for relation in related)
    ways = {}
    if nested:
        ways["nested"] = f"all of {mentions} mentions, which overlap in {nested} documents"
    if mentions:
        ways["mentions"] = f"{'the longest' if nested else 'all'} of {mentions} mentions, one label a word"
    if not related or not mentions:
        return ways
    of = "concepts" if by_concept else "mentions"
    relations = {
        "relations": f"{len(related)} relations between {of}, a document at a time",
        "pairs": f"{len(related)} relations between {of}, a pair at a time, with one label",
    }
    return relations | ways if by_concept else ways | relations


def _relation_options(documents: Sequence[InputDocument], one_label: bool) -> Options:
    """Return the converter's options for the relations in the files. `one_label`: for the converter of pairs,
    with `negative` and, if a pair has several labels, `several`; else with `novelty`, if it is stated."""
    related = [relation for one in documents for relation in one.relations]
    by_concept = any(relation.concepts for relation in related)
    # `|` separates concepts, unless a relation's argument has it, as tmVar's identifiers do (`p|SUB|Y|67|X`)
    bar_inside = by_concept and any("|" in name for relation in related for name in relation.concepts)
    separators = ",;" if bar_inside else "|,;"
    pairs: Counter[tuple[str, str]] = Counter()
    several = False
    for one in documents:
        types: dict[str, str] = {}  # identifier of a concept, or of a mention -> its type
        for mention in (mention for part in one.passages for mention in part.mentions):
            for name in [mention.concepts, *re.split(f"[{separators}]", mention.concepts)]:
                types[name if by_concept else str(mention.id)] = mention.type
        labels: dict[tuple[str, ...], set[str]] = {}
        for relation in one.relations:
            ends = relation.concepts if by_concept else relation.arguments
            kinds = [types[end] for end in ends if end in types]
            if len(kinds) == 2:
                pairs[kinds[0], kinds[1]] += 1
                labels.setdefault(tuple(sorted(ends)), set()).add(relation.type)
        several |= any(len(of_pair) > 1 for of_pair in labels.values())
    if not pairs:
        raise PubmillError("no relation of these files has two mentions or concepts that they mark")
    kept: list[list[str]] = []
    for (first, second), _ in pairs.most_common():
        if [second, first] not in kept:
            kept.append([first, second])
    options: Options = {"arguments": "concepts" if by_concept else "mentions", "pairs": kept}
    options |= {"labels": sorted({relation.type for relation in related})}
    options |= {} if separators == "|,;" else {"separators": separators}
    if one_label:
        return options | {"negative": "none"} | ({"several": "each"} if several else {})
    stated = by_concept and all(relation.novelty in NOVELTY for relation in related)
    return options | ({"novelty": True} if stated else {})


def _check_offsets(documents: Sequence[InputDocument], files: Collection[Path], form: str) -> None:
    """Raise a `PubmillError` if mentions differ from the text at their offsets: how many, the first of them,
    and the option that reads all or most of them, if one does."""
    wrong = [one for document in documents for one in document.misplaced]
    right = sum(len(part.mentions) for one in documents for part in one.passages)
    ragged = [place for one in documents for place in _ragged(one, form)]
    if not wrong and len(ragged) <= MOST_RAGGED * right:
        return
    if wrong:
        share = f"{len(wrong)} of {len(wrong) + right}"
        place = f"{wrong[0].where}: {wrong[0].texts}"
        fault = f"{share} mentions differ from the text at their offsets, the first {place}"
    else:
        share, place = f"{len(ragged)} of {right}", ragged[0]
        fault = f"{share} mentions begin or end inside a word or with white space, the first {place}; so "
        fault += "their offsets seem to count in another way"
    distances = [one.distance for one in wrong[:TRIED]]
    raise PubmillError(f"{fault}. {_advice(files, form, distances, len(wrong) + len(ragged))}")


def _advice(files: Collection[Path], form: str, distances: Sequence[int | None], doubtful: int) -> str:
    """Return what to do: the option by which the fewest mentions are doubtful, if less than half are."""
    best: tuple[str, Offsets] | None = None
    most = (doubtful + 1) // 2
    for words in explanations(distances):
        offsets = parse_offsets(words)
        left, counting = 0, replace(offsets, leave_out=True)
        documents = (one for path in files for one in annotated_documents(path, form, "", counting))
        for document in documents:
            left += len(document.misplaced) + len(_ragged(document, form))
            if left >= most:
                break
        if left < most:
            best, most = (words, offsets), left
        if not most:
            break
    if best is None:
        return (
            "No shift, unit or title's length explains most of them. Correct the files; or leave misplaced "
            f"mentions out, which makes the dataset another one than its authors': {LEAVE_OUT}"
        )
    words, offsets = best
    named = f"All but {most} are" if most else "All are"
    others = f"; with {LEAVE_OUT} too, what is still misplaced is left out" if most else ""
    return f"{named} at their places if {offsets.described}: --offsets '{words}' reads them so{others}"


def _ragged(document: InputDocument, form: str) -> list[str]:
    """Return the places of mentions with an edge inside a word or at white space, if the form states no
    texts."""
    found = []
    for part in document.passages if form == "spans" else ():  # which needs not state the texts
        for one in part.mentions:
            start, end = one.start - part.offset, one.end - part.offset
            pairs = (part.text[edge - 1 : edge + 1] for edge in (start, end) if edge)
            # only of ASCII: other scripts may write words without blanks
            inside = any(len(pair) == 2 and pair.isascii() and pair.isalnum() for pair in pairs)
            if inside or one.text != one.text.strip():
                found.append(f"{document.where}, {one.start} to {one.end}")
    return found
