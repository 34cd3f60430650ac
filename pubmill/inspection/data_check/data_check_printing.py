"""Output of the data check."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from pubmill.inspection.data_check.checks import CheckOutcome, SplitCheck, Unchecked
from pubmill.messages.terminal_tables import coloured, table
from pubmill.messages.wording import counted


def print_outcomes(to: Console, outcomes: Sequence[CheckOutcome], unchecked: Sequence[Unchecked]) -> None:
    """Print a row for each split, then the messages, the unchecked datasets and the totals."""
    rows = table("dataset", "variant", "split", "expected", "found", "equal", "hash", "seconds")
    rows.columns[-1].justify = "right"
    for outcome in sorted(outcomes, key=lambda outcome: outcome.dataset):
        name, _, variant = outcome.dataset.partition("@")
        first = (name, variant, f"{outcome.seconds:.1f}")
        for split in outcome.splits:
            rows.add_row(*first[:2], split.split, *_count_cells(split), _hash_cell(split), first[2])
            first = ("", "", "")
    to.print(rows)
    for outcome in outcomes:
        for fault in outcome.faults:
            message = fault if outcome.dataset in fault else f"{outcome.dataset}: {fault}"
            to.print(Text(message), style="red", soft_wrap=True)
    if unchecked:
        rows = table("not checked", "why")
        for one in unchecked:
            rows.add_row(one.dataset, one.why)
        to.print(rows)
    if bare := incomparable(outcomes):
        to.print(f"nothing to compare: {'; '.join(bare)}", soft_wrap=True)
    to.print(totals(outcomes, unchecked))


def _count_cells(split: SplitCheck) -> tuple[str, str, Text]:
    """Return the main measure as expected and as found, and how many expected measures are equal."""
    main, equal, total = split.main, len(split.equal), len(split.expected)
    expected = f"{split.expected[main]} {main}" if main in split.expected else ""
    if split.found is None:
        return expected, "", coloured("not converted", False)
    words = f"all {total}" if equal == total else f"{equal} of {total}"
    shown = coloured(words, equal == total) if total else coloured("none expected", None)
    return expected, f"{split.found.get(main, 0)} {main}", shown


def _hash_cell(split: SplitCheck) -> Text:
    if not split.has_form:
        return coloured("no other form", None)
    if split.found is None:
        return coloured("not written", False)
    words = {True: "equal", False: "differs", None: "not known"}[split.hash]
    return coloured(words, split.hash)


def incomparable(outcomes: Sequence[CheckOutcome]) -> list[str]:
    """Return the datasets and splits that were converted but cannot be compared with anything."""
    bare = sorted((one for one in outcomes if one.bare and not one.faults), key=lambda one: one.dataset)
    return [f"{one.dataset}, {', '.join(one.bare) if one.is_compared else 'any split'}" for one in bare]


def totals(outcomes: Sequence[CheckOutcome], unchecked: Sequence[Unchecked]) -> str:
    """Return one line: how many datasets, counts and hashes are as expected."""
    splits = [split for outcome in outcomes for split in outcome.splits]
    compared = [outcome for outcome in outcomes if outcome.is_compared]
    right = sum(not outcome.faults for outcome in compared)
    counts = sum(len(split.expected) for split in splits)
    equal = sum(len(split.equal) for split in splits)
    hashes = [split.hash for split in splits if split.hash is not None]
    return (
        f"as expected: {right} of {counted(len(compared), 'dataset')}, {equal} of {counted(counts, 'count')} "
        f"and {sum(hashes)} of {counted(len(hashes), 'known hash', 'known hashes')}; nothing to compare in "
        f"{counted(len(outcomes) - len(compared), 'dataset')}; "
        f"not checked: {counted(len(unchecked), 'dataset')}"
    )
