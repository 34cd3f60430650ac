"""Verify an archive: score its predictions again, make its tables again, and name everything that differs."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pubmill.errors import PubmillError
from pubmill.extras.archive.archive_recipes import Statement
from pubmill.extras.archive.archive_stages import Archive
from pubmill.extras.archive.contents import (
    STATEMENT,
    WRITTEN,
    member,
    open_records,
    result_files,
    run_files,
    sums,
    workflow_files,
    written,
)
from pubmill.extras.archive.stated_graph import stated_graph
from pubmill.extras.archive.unpacking import read_strictly, unpack
from pubmill.hardware import provenance
from pubmill.messages.installation import DATA, PACKAGE
from pubmill.metrics import SCORERS, counts_of
from pubmill.metrics.contributions import Items, read_items
from pubmill.metrics.records import Record, read_record, score_run
from pubmill.metrics.registry import measure_of
from pubmill.recipes.reading import build
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.recipes.writing import as_json, as_values
from pubmill.report.table_rendering import COMPARISON_RENDERERS, TABLE_RENDERERS
from pubmill.stages.all_stages import stages
from pubmill.stages.pipelines import OFF_THE_SHELF
from pubmill.storage.checksums import FOLDER_SUMS
from pubmill.storage.files import SEAL, sealed
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import BELOW
from pubmill.tables.aggregation import finished_table
from pubmill.tables.audit import Audit, with_unreachable
from pubmill.tables.cells import read_as
from pubmill.tables.comparisons import comparisons

NOTHING = object()
"""In the place of a value that one side lacks."""
SHOWN = 120
"""Longest value that a line quotes, in characters."""
UNCOMPARED = ("scored_with",)
"""Fields of a record that describe the scoring itself."""


@dataclass
class Verification:
    """What was found. `different`: a line for each difference; `notes`: what the reader should know beside;
    `counted`: how much was made again."""

    different: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counted: dict[str, int] = field(default_factory=dict)

    def count(self, **numbers: int) -> None:
        """Add to what was made again."""
        for name, number in numbers.items():
            self.counted[name] = self.counted.get(name, 0) + number


def verify(archive: Path) -> Verification:
    """Verify an archive; raise a `PubmillError` if it is none."""
    with TemporaryDirectory(prefix="pubmill-") as folder:
        digests = unpack(archive, Path(folder))
        try:
            return ArchivedStudy(Path(folder), digests).verify()
        except PubmillError as error:
            raise PubmillError(f"{archive}: {str(error).replace(f'{folder}/', '')}") from None
        except Exception as error:  # others made the content, and may have made it to break its readers
            raise PubmillError(f"{archive} cannot be read: {_fault(error, folder)}") from None


def _fault(error: Exception, folder: str) -> str:
    return f"{type(error).__name__}: {error}".replace(f"{folder}/", "")[: 3 * SHOWN]


class ArchivedStudy:
    """An unpacked archive. `digests`: member -> SHA-256."""

    def __init__(self, folder: Path, digests: Mapping[str, str]) -> None:
        self.folder, self.digests, self.found = folder, digests, Verification()

    def verify(self) -> Verification:
        """Compare everything, and return what was found."""
        if self._lists_itself():
            self.statement = build(Statement, self._json(STATEMENT), STATEMENT)
            self.recipe = self.statement.recipe
            self.results = self.folder / member(self.recipe, "")
            self._part("the members", self._members)
            if not self.found.different:
                self.graph = stated_graph(self.recipe, self.folder)
                self._part(STATEMENT, self._statement)
            if not self.found.different:
                for path in self.recipe.records:
                    self._part(path, partial(self._record, path))
                self._repeated_predictions()
                self._part("the audit", self._audit)
                for table in self.recipe.tables:
                    self._part(table, partial(self._table, table))
            self._part("the specs", self._installed)
        return self.found

    def _part(self, name: str, compare: Callable[[], Iterator[str]]) -> None:
        """Compare a part; what makes the comparison itself impossible is a difference too."""
        try:
            self.found.different += compare()
        except PubmillError as error:
            self.found.different.append(f"{name}: {str(error).replace(f'{self.folder}/', '')}")
        except Exception as error:
            self.found.different.append(f"{name} cannot be compared: {_fault(error, str(self.folder))}")

    def _json(self, name: str) -> Any:
        return read_strictly((self.folder / name).read_bytes(), name)

    def _lists_itself(self) -> bool:
        """Return whether the list of digests is that of the members."""
        for name in (FOLDER_SUMS, *WRITTEN):
            if name not in self.digests:
                raise PubmillError(f"{name} is missing, so it is no archive of pubmill")
        listed = (self.folder / FOLDER_SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
        own = sums(self.digests).splitlines()
        wrong = dict.fromkeys(line[66:] for line in {*listed} ^ {*own})
        self.found.different += [f"{name or FOLDER_SUMS}: {FOLDER_SUMS} does not fit it" for name in wrong]
        if not wrong and listed != own:
            self.found.different.append(f"{FOLDER_SUMS}: its lines are repeated or in another order")
        return not self.found.different

    def _members(self) -> Iterator[str]:
        """Compare the members with those that the statement asks for."""
        below = result_files(self.recipe, self.statement.closed)
        workflow = workflow_files(self.folder, self.recipe.published)
        expected = {FOLDER_SUMS, *WRITTEN, *workflow, *(member(self.recipe, path) for path in below)}
        yield from (f"{name}: missing" for name in sorted(expected - self.digests.keys()))
        yield from (f"{name}: nothing refers to it" for name in sorted(self.digests.keys() - expected))

    def _statement(self) -> Iterator[str]:
        """Compare the statement with what the specs and the configuration give."""
        own = self.graph.stage(Archive).recipe(self.recipe.sources)
        yield from differences(as_values(own), as_values(self.recipe), STATEMENT)
        yield from (
            f"{STATEMENT}: closed: {path} is no record on public data"
            for path in self.statement.closed
            if not self.recipe.records.get(path)
        )
        for name, text in written(
            self.statement, {name: self.folder / name for name in self.digests}
        ).items():
            yield from _texts(text, (self.folder / name).read_bytes(), name)
        if self.statement.closed:
            self.found.notes.append(
                f"{len(self.statement.closed)} records on public data are without predictions, which are "
                f"labelled as derived from data that are not public: {', '.join(self.statement.closed)}"
            )

    def _installed(self) -> Iterator[str]:
        """Compare workflow and specs with those of the installed pubmill, which may differ at another commit."""
        commit, own = self.statement.commit, provenance.commit()
        is_same, notes = commit is not None and commit == own, self.found.notes
        theirs, ours = (
            {name: path.read_bytes() for name, path in files.items() if path.is_file()}
            for files in (workflow_files(root, self.recipe.published) for root in (self.folder, DATA))
        )
        lines = [f"{name}: the installed pubmill has it" for name in sorted(ours.keys() - theirs.keys())]
        changed = sorted(name for name in theirs.keys() & ours.keys() if theirs[name] != ours[name])
        lines += [f"{name}: other content than in the installed pubmill" for name in changed]
        notes += [f"{name}: of the authors, not of pubmill" for name in sorted(theirs.keys() - ours.keys())]
        if is_same:
            yield from lines
        else:
            made_by = f"packed by commit {commit or 'unknown'}, verified by {own or 'unknown'}"
            notes += [f"{made_by}: stages of another version give other numbers", *lines]

    # Records

    def _record(self, path: str) -> Iterator[str]:
        """Compare a record and its contributions."""
        archived, key = self._json(member(self.recipe, path)), run_of(path)
        seal = archived.pop(SEAL, None)
        yield from differences(sealed(archived)[SEAL], seal, f"{path}: {SEAL}")
        is_trained = key.protocol != OFF_THE_SHELF
        make = self.graph.records.recipe if is_trained else self._pipeline_recipe
        recipe, items = make(key.run, key.seed), read_items(self.results / BELOW.contributions(path))
        if path in open_records(self.recipe, self.statement.closed):
            files = [self.results / file for file in (*run_files(path), self.recipe.records[path])]
            record, scored = score_run(recipe, SCORERS[recipe.kind], files[0], files[2], files[1])
            yield from _items(scored, items, path)
            self.found.count(scored_again=1)
        else:
            record = recounted(recipe, read_record(self.results / path), items)
            self.found.count(from_contributions=1)
        made = record.model_dump(exclude=set(UNCOMPARED))
        stated = {name: value for name, value in archived.items() if name not in UNCOMPARED}
        yield from differences(json.loads(json.dumps(made)), stated, path)
        if is_trained:
            decided = as_values(self.graph.runs.recipe(key.run))
            used = {name: archived["recipe"].get(name, NOTHING) for name in decided}
            yield from differences(decided, used, f"{path}: recipe")

    def _pipeline_recipe(self, run: Any, seed: int) -> ScoringRecipe:
        return self.graph.records.pipeline_recipe(run.model, run.dataset, seed)

    def _repeated_predictions(self) -> None:
        """Note runs whose predictions are those of another seed."""
        seen: dict[tuple[Any, ...], str] = {}
        for path in open_records(self.recipe, self.statement.closed):
            key = (run_of(path).run, self.digests[member(self.recipe, run_files(path)[0])])
            if (first := seen.setdefault(key, path)) != path:
                self.found.notes.append(f"{path} has the predictions of {first}")

    # Tables

    def _audit(self) -> Iterator[str]:
        """Compare the audit of the published values, if the study has one."""
        for path in map(self.graph.paths.below, self.graph.requests.verdicts()):
            stage = stages()["audit"]
            made, recipe = self.folder / "audit.made", self.folder / "audit.recipe.json"
            recipe.write_text(as_json(self.graph.stage(stage).recipe_of(None)), encoding="utf-8")
            words = ["--recipe", recipe, "--specs", self.folder / "specs", "--output", made]
            command = [sys.executable, str(DATA / stage.program), *map(str, words)]
            subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)})
            text = Path(f"{made}.json").read_text(encoding="utf-8")
            yield from differences(json.loads(text), self._json(member(self.recipe, path)), path)

    def _table(self, name: str) -> Iterator[str]:
        """Compare a table and its comparisons in all forms."""
        published = self.folder / f"specs/tables/{name}.published.csv"
        table = finished_table(self.graph.tables.recipe(name), published, self.results)
        for path in self.graph.requests.verdicts():
            table = with_unreachable(table, read_as(Audit, Path(path)))
        yield from self._forms(table, TABLE_RENDERERS, partial(self.graph.paths.table, name))
        compared = comparisons(table, self.results)
        yield from self._forms(compared, COMPARISON_RENDERERS, partial(self.graph.paths.comparisons, name))
        cells = [cell for *_, cell in table.read()]
        verdicts = sum(cell.verdict is not None for cell in cells)
        pairs = sum(len(row.pairs) for row in compared.rows)
        self.found.count(tables=1, cells=len(cells), verdicts=verdicts, comparisons=pairs)

    def _forms(
        self, shown: Any, renderers: Mapping[str, Callable[[Any], str]], place: Callable[[str], str]
    ) -> Iterator[str]:
        for form, render in renderers.items():
            below = self.graph.paths.below(place(form))
            yield from _texts(render(shown), (self.results / below).read_bytes(), below)


def recounted(recipe: ScoringRecipe, record: Record, items: Items) -> Record:
    """Return a record with what its scoring recipe and its contributions decide; the rest is only stated."""
    decided = {name: value for name, value in vars(recipe).items() if name in Record.model_fields}
    changes: dict[str, Any] = {**decided, "data_sha256": items.data_sha256}
    if items.kind != recipe.kind:
        raise PubmillError(f"its contributions are of {items.kind}, expected {recipe.kind}")
    if items.contributions is None:
        changes |= {"metrics": None, "counts": None, "failed": record.failed or "no contributions"}
    else:
        totals = items.contributions.totals()
        metrics = {name: float(value) for name, value in measure_of(items.kind)(totals).items()}
        defined = {name: value for name, value in metrics.items() if not math.isnan(value)}
        changes |= {"metrics": defined, "counts": counts_of(items.kind, totals), "failed": None}
    return record.model_copy(update=changes)


def _items(made: Items, archived: Items, path: str) -> Iterator[str]:
    """Compare contributions."""
    place = BELOW.contributions(path)
    yield from differences(list(made[:3]), list(archived[:3]), place)
    ours, theirs = (
        {name: of.values[:, n].tolist() for n, name in enumerate(of.names)} if of else None
        for of in (made.contributions, archived.contributions)
    )
    yield from differences(ours, theirs, place)


def _texts(made: str, archived: bytes, name: str) -> Iterator[str]:
    """Compare a text with a member: JSON value by value, others line by line."""
    if name.endswith(".json"):
        yield from differences(json.loads(made), read_strictly(archived, name), name)
    elif made.encode() != archived:
        ours, theirs = made.splitlines(), archived.decode("utf-8", "replace").splitlines()
        pairs = enumerate(zip(ours, theirs, strict=False), 1)
        line = next((n for n, (one, other) in pairs if one != other), min(len(ours), len(theirs)) + 1)
        yield f"{name}, line {line}: not as it is written from these records"


def differences(made: Any, archived: Any, where: str) -> Iterator[str]:
    """Yield a line for each value that differs; numbers with decimals may differ in their last bits, which
    depend on the machine's order of summation."""
    if isinstance(made, dict) and isinstance(archived, dict):
        for key in [*made, *(key for key in archived if key not in made)]:
            pair = made.get(key, NOTHING), archived.get(key, NOTHING)
            yield from differences(*pair, f"{where}: {str(key)[:SHOWN]}")
    elif isinstance(made, list) and isinstance(archived, list) and len(made) == len(archived):
        for number, pair in enumerate(zip(made, archived, strict=True), 1):
            yield from differences(*pair, f"{where}, {number}")
    elif type(made) is float and type(archived) is float:
        if not math.isclose(made, archived, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{where}: {archived} in the archive, {made} found"
    elif type(made) is not type(archived) or made != archived:
        yield f"{where}: {_shown(archived)} in the archive, {_shown(made)} found"


def _shown(value: Any) -> str:
    text = "nothing" if value is NOTHING else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
