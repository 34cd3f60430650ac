"""The example of each predicted row: by its id, or by its text where the form has no ids."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pubmill.convert.source_files import one_line
from pubmill.errors import PubmillError
from pubmill.examples.argument_transforms import dummies
from pubmill.examples.kinds import Example, SequenceExample, TokensExample
from pubmill.examples.prompts import marked_text
from pubmill.messages.quotations import show
from pubmill.predictions.rows import PredictionRow
from pubmill.recipes.submissions import SubmissionRecipe

_SHOWN = 5

FindVariant = Callable[[set[str]], str | None]
"""Returns the other variant of the dataset whose ids are exactly these; None if there is none."""


def match(
    rows: Sequence[PredictionRow], examples: Sequence[Example], recipe: SubmissionRecipe, variant: FindVariant
) -> Sequence[PredictionRow | None]:
    """Return the row of each example, in the examples' order; None where a `partial` submission has none.
    Raises a `PubmillError` for missing, repeated and unknown ids, for rows without ids whose texts are not
    those of the examples in their order, and for a repeated input that differs from the example's."""
    named = [row for row in rows if row.id is not None]
    if named and len(named) < len(rows):
        place = next(row.where for row in rows if row.id is None)
        raise PubmillError(f"{place}: no id, although other predictions have one; give an id to all or none")
    matched: Sequence[PredictionRow | None]
    if named:
        matched = _by_id(rows, examples, recipe, variant)
    elif recipe.kind == "tokens" and all(row.words and row.key == "labels" for row in rows):
        matched = _by_words(rows, examples)
    else:
        matched = _by_text(rows, examples, recipe)
    for row, example in zip(matched, examples, strict=True):
        if row:
            _check_input(row, example, recipe)
    return matched


def _by_id(
    rows: Sequence[PredictionRow], examples: Sequence[Example], recipe: SubmissionRecipe, variant: FindVariant
) -> list[PredictionRow | None]:
    known = {example.id: example for example in examples}

    def why(given: Collection[str]) -> str:
        if why := _why_unknown([name for name in given if name not in known], known):
            return why
        other = variant(set(given))
        return f"These are the ids of {other}, another variant of the corpus. " if other else ""

    refuse_ids([str(row.id) for row in rows], list(known), "ids", recipe.partial, why)
    if len(rows) < len(examples) and recipe.kind == "regression":
        raise PubmillError(
            f"{len(examples) - len(rows)} of {len(examples)} examples have no prediction, and a correlation "
            "cannot count them as wrong, so --partial does not apply; predict all. Nothing was scored"
        )
    of = {row.id: row for row in rows}
    return [of.get(example.id) for example in examples]


def refuse_ids(
    given: Sequence[str],
    known: Sequence[str],
    what: str,
    partial: bool,
    why: Callable[[Collection[str]], str] = lambda _: "",
) -> None:
    """Raise a `PubmillError` for ids that are repeated, unknown or, unless `partial`, missing. `what`: what
    has these ids; `why`: function from the given ids to a further reason."""
    count, of_dataset = Counter(given), set(known)
    faults = {
        "repeated": [name for name, number in count.items() if number > 1],
        "unknown": [name for name in count if name not in of_dataset],
        "missing": [name for name in known if name not in count and not partial],
    }
    faults = {fault: names for fault, names in faults.items() if names}
    if not faults:
        return
    said = "; ".join(f"{len(names)} {fault} ({_listed(names)})" for fault, names in faults.items())
    of_ids = f", found {len(given)} predictions" if what == "ids" else ""
    advice = ""
    if faults.keys() == {"missing"}:
        advice = ". With `pubmill score --partial`, the missing ones count as wrong"
    raise PubmillError(
        f"expected each of the {len(known)} {what} of the dataset once{of_ids}: {said}. {why(count)}Nothing "
        f"was scored{advice}"
    )


def _listed(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > _SHOWN else ""
    return ", ".join(map(show, names[:_SHOWN])) + more


def _why_unknown(unknown: Sequence[str], known: Mapping[str, Example]) -> str:
    """Return the reason for unknown ids if they are known ids with something added: the gold label, say."""
    lengths = sorted({len(name) for name in known}, reverse=True)
    extended = ((name, example) for name in unknown for example in _extended(name, known, lengths))
    if any(part and part in name for name, example in extended for part in _gold_strings(example)):
        return "The ids hold the gold labels, which a system must not see. "
    return ""


def _extended(name: str, known: Mapping[str, Example], lengths: Sequence[int]) -> Iterable[Example]:
    """Yield the example with the longest id that begins or ends `name`; `lengths`: of ids, longest first."""
    for length in lengths:
        for part in (name[:length], name[-length:]):
            if length < len(name) and part in known:
                yield known[part]
                return


def _gold_strings(example: Any) -> list[str]:
    """Return the strings by which an id could contain the gold of its example."""
    if hasattr(example, "score"):
        return [str(example.score)]
    if hasattr(example, "label"):
        return [str(example.label)]
    if hasattr(example, "answers"):
        return [*(answer.text for answer in example.answers), *example.golds]
    labels = getattr(example, "labels", [])  # relations and mentions have none
    return [*labels, ",".join(labels)] if not isinstance(example, TokensExample) else ["".join(labels)]


def _by_words(rows: Sequence[PredictionRow], examples: Sequence[Any]) -> list[PredictionRow]:
    """Return the rows of sentences without ids. The words show the order; ends of sentences, which some
    published forms set elsewhere, are not compared."""
    words = [(word, row) for row in rows for word in row.words or ()]
    labels = [label for row in rows for label in row.value]
    expected = [word for example in examples for word in example.words]
    if [word for word, _ in words] != expected:
        raise PubmillError(_why_words_differ(words, expected))
    matched, start = [], 0
    for example in examples:
        end = start + len(example.words)
        place = words[start][1].where
        matched.append(PredictionRow(where=place, id=example.id, key="labels", value=labels[start:end]))
        start = end
    return matched


def _why_words_differ(words: Sequence[tuple[str, PredictionRow]], expected: Sequence[str]) -> str:
    if Counter(word for word, _ in words) == Counter(expected):
        return (
            "the words are those of the dataset in another order, and the file has no ids; give the "
            "dataset's sentences in its order, or an id with each (CoNLL: a line `# id = ID` before it). "
            "Nothing was scored"
        )
    pairs = zip(words, expected, strict=False)
    place = next((f"from {row.where} on" for (word, row), other in pairs if word != other), "at the end")
    return (
        f"the words differ from the dataset's {place} ({len(words)} words, expected "
        f"{len(expected)}): another variant of the dataset, other tokens, or an incomplete file "
        "(--partial needs ids). Nothing was scored"
    )


def _by_text(
    rows: Sequence[PredictionRow], examples: Sequence[Example], recipe: SubmissionRecipe
) -> list[PredictionRow]:
    """Return rows without ids, whose texts show that they are in the examples' order."""
    if not all(row.texts or row.text for row in rows):
        raise PubmillError(
            f"{rows[0].where}: neither ids nor the dataset's texts, so nothing shows which prediction "
            "belongs to which example; add an id to each. Nothing was scored"
        )
    if len(rows) != len(examples):
        raise PubmillError(
            f"{len(rows)} predictions without ids, expected {len(examples)}: an incomplete file (--partial "
            "needs ids), or another variant of the dataset. Nothing was scored"
        )
    wrong = [row for row, one in zip(rows, examples, strict=True) if _differs(row, one, recipe)]
    if wrong:
        known = {text for example in examples for text in texts_of(example, recipe)}
        shuffled = all(set(_given_texts(row)) <= known for row in rows)
        why = "the dataset's texts in another order" if shuffled else "texts that are not the dataset's"
        raise PubmillError(
            f"{wrong[0].where}: {len(wrong)} of {len(rows)} predictions stand beside {why}, and the file has "
            "no ids. Nothing was scored"
        )
    return list(rows)


def _check_input(row: PredictionRow, example: Example, recipe: SubmissionRecipe) -> None:
    name, fault = show(example.id), ""
    if row.dataset not in (None, recipe.dataset):
        fault = f"predictions for {show(row.dataset or '')}, not for {recipe.dataset}"
    elif not isinstance(example, TokensExample):
        differs = _differs(row, example, recipe)
        fault = f"the text of {name} is not the dataset's: another variant of it" if differs else ""
    elif row.words not in (None, example.words):
        fault = f"the words of {name} are not the dataset's: another variant of it, or other tokens"
    if fault:
        raise PubmillError(f"{row.where}: {fault}. Nothing was scored")


def _differs(row: PredictionRow, example: Example, recipe: SubmissionRecipe) -> bool:
    return not set(_given_texts(row)) <= texts_of(example, recipe)


def _given_texts(row: PredictionRow) -> Iterable[str]:
    return (*row.texts, *([row.text] if row.text else []))


def texts_of(example: Any, recipe: SubmissionRecipe) -> set[str]:
    """Return every text by which files may repeat an example's input."""
    if isinstance(example, TokensExample):
        return {" ".join(example.words)}
    names = ("text", "text_pair", "question", "context", "document")
    parts = [getattr(example, name, None) for name in names]
    plain = {text for text in parts if text is not None}
    if isinstance(example, SequenceExample) and example.entities:
        plain.add(marked_text(example))
        if own := recipe.dummies:
            plain.add(dummies(example.text, example.entities, own.types, own.overlap).text)
    return plain | set(map(one_line, plain)) | {""}
