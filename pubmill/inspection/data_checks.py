"""Data check: convert every dataset whose source files are available, compare the results with its spec, and
print them."""

import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from pubmill.convert.dataset import convert
from pubmill.convert.exports import WrittenSplit, publish
from pubmill.errors import PubmillError
from pubmill.messages.quotations import withholding
from pubmill.messages.terminal_tables import coloured, table
from pubmill.messages.wording import counted
from pubmill.recipes.datasets import ConversionRecipe, PublishedRecipe
from pubmill.specs import DatasetSpec, File, LocalFile
from pubmill.stages import Graph
from pubmill.stages.dataset_recipes import conversion_recipe, published_recipe
from pubmill.storage import sources
from pubmill.storage.sources import path_in_mirror

MAIN = {"tokens": ("mentions", "tokens_in_mentions", "sentences"), "span": ("questions", "examples")}
"""Kind -> measures, of which the first that the spec expects is shown; for other kinds, `examples`."""

Counts = Mapping[str, int | None]


@dataclass(frozen=True)
class Place:
    """One source file: where it was `found` (`results`, `mirror`, `local_files`), and its `path` there; both
    are None if it was not found."""

    role: str
    source: File | LocalFile
    found: str | None
    path: Path | None

    @property
    def name(self) -> str:
        """URL of the file, or its name in one of the user's own folders."""
        return self.source.url if isinstance(self.source, File) else self.source.file

    @property
    def digests(self) -> dict[str, str]:
        """Digests in the spec, as arguments of `pubmill.storage.sources.check`."""
        named = {"sha256": self.source.sha256}
        if isinstance(self.source, File):
            named["git_blob"] = self.source.git_blob
        return {kind: value for kind, value in named.items() if value}


def places(graph: Graph, dataset: str, in_results: bool) -> list[Place]:
    """Look for every source file of a dataset; `in_results`: also accept a copy in the results folder."""
    found = []
    for role, source in graph.specs.datasets[dataset].sources.items():
        where: dict[str, Path | None] = {}
        if isinstance(source, File):
            taken = Path(graph.paths.source_of_url(source.url))
            where["mirror"] = path_in_mirror(source.url, graph.study.mirror)
        else:
            taken, folder = Path(graph.datasets.copy(source)), graph.folders.find(source.local)
            where["local_files"] = folder / source.file if folder else None
        if in_results:
            where = {"results": taken, **where}
        there = ((place, path) for place, path in where.items() if path and path.is_file())
        found.append(Place(role, source, *next(there, (None, None))))
    return found


@dataclass(frozen=True)
class DatasetCheck:
    """One dataset to check, with all data that a separate process needs."""

    recipe: ConversionRecipe
    published: PublishedRecipe | None
    places: list[Place]

    @property
    def size(self) -> int:
        """Bytes of the source files; the largest datasets take longest and should start first."""
        return sum(place.path.stat().st_size for place in self.places if place.path)


class SplitCheck(NamedTuple):
    """Result for one split. `found`: counts of the conversion, None if it failed. `has_form`: whether a form
    of it is published; `hash`: whether the form made here has the published hash, None if none is known."""

    split: str
    kind: str
    expected: Counts
    found: Counts | None
    has_form: bool
    hash: bool | None

    @property
    def equal(self) -> list[str]:
        """Measures whose counts are as expected."""
        found = self.found
        return [] if found is None else [m for m, n in self.expected.items() if found.get(m, 0) == n]


@dataclass(frozen=True)
class CheckOutcome:
    """Result of checking one dataset; `faults` are messages, empty if everything is as expected."""

    dataset: str
    splits: list[SplitCheck]
    faults: list[str]
    seconds: float

    @property
    def bare(self) -> list[str]:
        """Splits that cannot be compared with anything: no expected count, and no known hash."""
        return [split.split for split in self.splits if not split.expected and split.hash is None]

    @property
    def is_compared(self) -> bool:
        """Whether the dataset was compared with anything; a failed conversion counts as compared."""
        return bool(self.faults) or len(self.bare) < len(self.splits)


def plan(graph: Graph, names: Iterable[str]) -> tuple[list[DatasetCheck], dict[str, str]]:
    """Return the datasets that can be checked, largest first, and those that cannot, with what to do."""
    tasks, unchecked = [], dict[str, str]()
    for name in names:
        spec = graph.specs.datasets[name]
        needed = places(graph, name, in_results=False)
        absent = [place for place in needed if place.found is None]
        if absent:
            unchecked[name] = _absence_reason(spec, absent)
        else:
            form = published_recipe(name, spec) if spec.published else None
            tasks.append(DatasetCheck(conversion_recipe(name, spec), form, needed))
    return sorted(tasks, key=lambda task: task.size, reverse=True), unchecked


def _absence_reason(spec: DatasetSpec, absent: list[Place]) -> str:
    urls = sorted({place.name for place in absent if isinstance(place.source, File)})
    more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
    reasons = [f"absent: {urls[0]}{more}"] if urls else []
    own: dict[str, list[str]] = {}
    for place in absent:
        if isinstance(place.source, LocalFile) and place.name not in own.setdefault(place.source.local, []):
            own[place.source.local].append(place.name)
    apply = f"{spec.access}: apply at {spec.apply}, then " if spec.apply else ""
    reasons += [f"{apply}give LOCAL={key}=FOLDER with {', '.join(files)}" for key, files in own.items()]
    return "; ".join(reasons)


def check_all(tasks: list[DatasetCheck], processes: int) -> Iterator[CheckOutcome]:
    """Check every dataset, `processes` at a time; yield each outcome when it is ready."""
    with ProcessPoolExecutor(max_workers=processes) as pool:
        for future in as_completed([pool.submit(check, task) for task in tasks]):
            yield future.result()


def check(task: DatasetCheck) -> CheckOutcome:
    """Check one dataset: the hashes of its files, its counts, and the bytes of its published form. After
    errors that would stop a job, counts and hashes are still computed if possible, to show what differs."""
    began = time.perf_counter()
    faults: list[str] = []
    counts: Mapping[str, Counts] = {}
    forms: Mapping[str, WrittenSplit] = {}
    access = task.recipe.access
    with tempfile.TemporaryDirectory() as folder, withholding(access != "public", own=access == "local"):
        try:
            for place in task.places:
                if place.path:
                    sources.check(place.name, place.path, place.digests)
            examples = Path(folder) / "examples"
            inputs = {place.role: place.path for place in task.places if place.path}
            try:
                card = convert(task.recipe, inputs, examples)
            except PubmillError as error:
                card = convert(replace(task.recipe, expect={}, negative=None), inputs, examples)
                faults.append(str(error))
            counts = dict(card["counts"])
            if task.published:
                forms = _published_forms(task.published, examples, Path(folder) / "published", faults)
        except PubmillError as error:
            faults.append(str(error))
        except Exception as error:  # unexpected: with its place in the code, its text only if that is public
            place_in_code = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place_in_code.filename).name}:{place_in_code.lineno}"
            words = f": {error}" if access == "public" else ""
            faults.append(f"dataset {task.recipe.dataset}: {type(error).__name__} at {where}{words}")
    splits = []
    for name in task.recipe.splits:
        expected, found = task.recipe.expect.get(name, {}), counts.get(name)
        has_form = bool(task.published and name in task.published.files)
        equal = forms[name]["equal"] if name in forms else None
        splits.append(SplitCheck(name, task.recipe.kind, expected, found, has_form, equal))
    return CheckOutcome(task.recipe.dataset, splits, faults, time.perf_counter() - began)


def _published_forms(
    recipe: PublishedRecipe, examples: Path, output: Path, faults: list[str]
) -> Mapping[str, WrittenSplit]:
    """Return split -> what `publish` returns for it, even if a hash differs."""
    try:
        return publish(recipe, examples, output)
    except PubmillError as error:
        unknown = {split: replace(file, sha256=None) for split, file in recipe.files.items()}
        written = publish(replace(recipe, files=unknown), examples, output)
        faults.append(str(error))
        for split, one in written.items():
            wanted = recipe.files[split].sha256
            one["equal"] = one["sha256"] == wanted if wanted else None
        return written


def print_outcomes(to: Console, outcomes: Sequence[CheckOutcome], unchecked: Mapping[str, str]) -> None:
    """Print a row for each split, then the messages, the unchecked datasets and the totals."""
    rows = table("dataset", "variant", "split", "expected", "found", "equal", "hash", "seconds", numbers={7})
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
        for pair in unchecked.items():
            rows.add_row(*pair)
        to.print(rows)
    bare = sorted((one for one in outcomes if one.bare and not one.faults), key=lambda one: one.dataset)
    if bare:
        named = (f"{one.dataset}, {', '.join(one.bare) if one.is_compared else 'any split'}" for one in bare)
        to.print(f"nothing to compare: {'; '.join(named)}", soft_wrap=True)
    to.print(totals(outcomes, unchecked))


def _count_cells(split: SplitCheck) -> tuple[str, str, Text]:
    """Return a measure as expected and as found, if possible an expected one that does not count left-out
    items, and how many are equal."""
    preferred, equal, total = MAIN.get(split.kind, ("examples",)), len(split.equal), len(split.expected)
    others = [measure for measure in split.expected if not measure.startswith("left_out.")]
    main = next((one for one in preferred if one in split.expected), next(iter(others), preferred[0]))
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


def totals(outcomes: Sequence[CheckOutcome], unchecked: Mapping[str, str]) -> str:
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
