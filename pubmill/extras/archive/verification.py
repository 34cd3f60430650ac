"""Verify an archive: score its predictions again, make its tables again, and name everything that differs."""

import gzip
import hashlib
import itertools
import json
import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pubmill.errors import PubmillError
from pubmill.extras.archive import contents
from pubmill.extras.archive.archive_recipes import ArchiveRecipe, ArchiveStatement
from pubmill.extras.archive.archive_stages import Archive
from pubmill.extras.archive.contents import STATEMENT, WRITTEN, member
from pubmill.formats.json_text import parse_json
from pubmill.hardware import provenance
from pubmill.messages.installation import DATA
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import Items, read_items
from pubmill.metrics.records import read_record, recounted, score_run
from pubmill.recipes.reading import as_values, build
from pubmill.recipes.tables import TableRecipe
from pubmill.report.table_rendering import COMPARISON_RENDERERS, TABLE_RENDERERS
from pubmill.specs.study import check_study
from pubmill.stages import Graph
from pubmill.stages.availability import Availability
from pubmill.stages.record_status import Records
from pubmill.stages.supplied_predictions import OFF_THE_SHELF, SuppliedPredictions
from pubmill.storage.archives import BROKEN, LARGEST_MEMBER, decode, members
from pubmill.storage.checksums import FOLDER_SUMS
from pubmill.storage.files import SEAL, sealed
from pubmill.storage.result_paths import RELATIVE, run_of
from pubmill.tables.aggregation import finished_table
from pubmill.tables.comparisons import comparisons

NOTHING = object()
"""In the place of a value that one side lacks."""
NAME = re.compile(r"(?!.{400})[A-Za-z0-9_][\w.+=@,-]*(/[A-Za-z0-9_][\w.+=@,-]*)*", re.ASCII)
"""A member's name: a path below the archive's folder, of which no part is hidden."""


def unpack(archive: Path, folder: Path) -> dict[str, str]:
    """Write the members of a zip below an empty folder; return member -> SHA-256. Raises a `PubmillError` for
    a file that is no whole zip of plain files with plain names, each once; for a member that unpacks to more
    than `LARGEST_MEMBER` bytes; and for JSON with repeated keys, NaN or too deep nesting."""
    digests = {}
    try:
        with zipfile.ZipFile(archive) as opened:
            listed = opened.namelist()
        if strange := [name for name in listed if not NAME.fullmatch(name)]:
            raise PubmillError(f"{archive}: {strange[0]!r:.200} is no name of a member")
        for name, content in members(archive):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            digests[name] = hashlib.sha256(content).hexdigest()
            # what readers of results do not check: strict JSON, and how much compressed files unpack to
            if name.endswith(".json"):
                read_strictly(content, name)
            elif name.endswith(".npz"):
                for _ in members(path):
                    pass
            elif name.endswith(".gz"):
                with gzip.open(path) as stream:
                    for size in itertools.accumulate(iter(lambda: len(stream.read(1 << 20)), 0)):
                        if size > LARGEST_MEMBER:
                            raise PubmillError(f"{name} unpacks to more than {LARGEST_MEMBER:,} bytes")
    except FileNotFoundError:
        raise PubmillError(f"{archive} does not exist") from None
    except BROKEN as error:
        raise PubmillError(f"{archive}: not a whole archive: {error}; fetch it again") from None
    if lost := [name for name in listed if name not in digests]:
        raise PubmillError(f"{archive}: {lost[0]} is no plain file")
    return digests


def read_strictly(content: bytes, name: str) -> Any:
    """Return the content of a JSON file without repeated keys, NaN and infinity."""
    return parse_json(decode(content, name), name, numbers_only=True)


class ArchivedStudy:
    """An unpacked archive (`digests`: member -> SHA-256), and what `verify` finds: `different`, a line for
    each difference; `notes`; `counted`, how much was made again. `checkout`: pubmill's own workflow."""

    def __init__(self, folder: Path, digests: Mapping[str, str], checkout: Path) -> None:
        self.folder, self.digests, self.checkout = folder, digests, checkout
        self.different, self.notes, self.counted = list[str](), list[str](), Counter[str]()

    def verify(self) -> None:
        """Compare everything; later parts only if the earlier ones agree."""
        if lacking := [name for name in (FOLDER_SUMS, *WRITTEN) if name not in self.digests]:
            raise PubmillError(f"{lacking[0]} is missing, so it is no archive of pubmill")
        self.stated = build(ArchiveStatement, self._json(STATEMENT), STATEMENT)
        self.recipe = self.stated.recipe
        self.results = self.folder / member(self.recipe, "")
        self._part("the members", self._members)
        if not self.different:
            self._part("the specs", self._installed)
            self.graph = stated_graph(self.recipe, self.folder)
            self._part(STATEMENT, self._statement)
        if not self.different:
            for path in self.recipe.records:
                self._part(path, partial(self._record, path))
            for table in self.recipe.tables:
                self._part(table, partial(self._table, table))

    def _part(self, name: str, compare: Callable[[], Iterator[str]]) -> None:
        """Compare a part; what makes the comparison impossible is a difference too."""
        try:
            self.different += compare()
        except Exception as error:  # others made the content, and may have made it to break its readers
            self.different.append(f"{name}: {fault(error, self.folder)}")

    def _json(self, name: str) -> Any:
        return read_strictly((self.folder / name).read_bytes(), name)

    def _members(self) -> Iterator[str]:
        """Compare the members with their list, and with what the statement asks for."""
        listed, own = (self.folder / FOLDER_SUMS).read_bytes().decode(), contents.sums(self.digests)
        if listed != own:
            odd = {line[66:] for line in {*listed.splitlines()} ^ {*own.splitlines()}} or {FOLDER_SUMS}
            yield from (f"{name or FOLDER_SUMS}: {FOLDER_SUMS} does not fit it" for name in sorted(odd))
        below = contents.result_files(self.recipe, self.stated.closed)
        workflow = contents.workflow_files(self.folder, self.recipe.published)
        expected = {FOLDER_SUMS, *WRITTEN, *workflow, *(member(self.recipe, path) for path in below)}
        yield from (f"{name}: missing" for name in sorted(expected - self.digests.keys()))
        yield from (f"{name}: nothing refers to it" for name in sorted(self.digests.keys() - expected))

    def _installed(self) -> Iterator[str]:
        """Compare workflow and specs with those of the installed pubmill, which may be of another commit."""
        commit, own = self.stated.commit, provenance.commit()
        theirs, ours = (
            {name: path.read_bytes() for name, path in files.items() if path.is_file()}
            for root in (self.folder, self.checkout)
            for files in [contents.workflow_files(root, self.recipe.published)]
        )
        self.notes += [f"{name}: of the authors, not of pubmill" for name in sorted({*theirs} - {*ours})]
        changed = [name for name in sorted(ours) if theirs.get(name) != ours[name]]
        lines = [f"{name}: not as in the installed pubmill" for name in changed]
        if commit is not None and commit == own:
            yield from lines
        else:
            made_by = f"packed by commit {commit or 'unknown'}, verified by {own or 'unknown'}"
            self.notes += [f"{made_by}: stages of another version make other records", *lines]

    def _statement(self) -> Iterator[str]:
        """Compare the statement, and what is written from it, with what specs and configuration give."""
        own = as_values(self.graph.stage(Archive).recipe())
        yield from differences(own, as_values(self.recipe), STATEMENT)
        for name, text in contents.written(self.stated).items():
            yield from self._text(text, name)
        for path in self.stated.closed:
            if not self.recipe.records.get(path):
                yield f"{STATEMENT}: closed: {path} is no record on public data"
            self.notes.append(f"{path}: stated to be of data that are not public, so without predictions")

    def _record(self, path: str) -> Iterator[str]:
        archived, (run, seed) = self._json(member(self.recipe, path)), run_of(path)
        seal = archived.pop(SEAL, None)
        yield from differences(sealed(archived)[SEAL], seal, f"{path}: {SEAL}")
        recipe = self.graph.records.recipe(run, seed)
        items = read_items(self.results / RELATIVE.contributions(path))
        if self.recipe.records[path] and path not in self.stated.closed:
            inputs = {name: self.results / one for name, one in contents.behind(self.recipe, path).items()}
            own = archived["scored_with"]
            record, scored = score_run(recipe, SCORERS[recipe.kind], scored_with=own, **inputs)
            yield from differences(_values(scored), _values(items), RELATIVE.contributions(path))
            self.counted["records from predictions"] += 1
        else:
            record = recounted(recipe, read_record(self.results / path), items)
            self.counted["records from contributions"] += 1
        yield from differences(json.loads(record.model_dump_json()), archived, path)
        if run.protocol != OFF_THE_SHELF:
            decided = as_values(self.graph.runs.recipe(run))
            used = {name: value for name, value in archived["recipe"].items() if name in decided}
            yield from differences(decided, used, f"{path}: recipe")

    def _table(self, name: str) -> Iterator[str]:
        published = self.folder / f"specs/tables/{name}.published.csv"
        recipe = build(TableRecipe, as_values(self.graph.tables.recipe(name)), name)  # keys as in its job
        table = finished_table(recipe, published, self.results)
        compared, paths = comparisons(table, self.results), self.graph.paths
        forms = [(paths.table(name, form), render(table)) for form, render in TABLE_RENDERERS.items()]
        for form, render in COMPARISON_RENDERERS.items():
            forms.append((paths.comparisons(name, form), render(compared)))
        for path, text in forms:
            yield from self._text(text, member(self.recipe, paths.below(path)))
        cells = [cell for *_, cell in table.read()]
        verdicts = sum(cell.verdict is not None for cell in cells)
        pairs = sum(len(row.pairs) for row in compared.rows)
        self.counted.update(tables=1, cells=len(cells), verdicts=verdicts, comparisons=pairs)

    def _text(self, made: str, name: str) -> Iterator[str]:
        """Compare a text with a member: JSON value by value, others line by line."""
        archived = (self.folder / name).read_bytes()
        if name.endswith(".json"):
            yield from differences(json.loads(made), self._json(name), name)
        elif made.encode() != archived:
            lines = zip(made.encode().split(b"\n"), archived.split(b"\n"), strict=False)
            same = [one == other for one, other in lines]
            yield f"{name}, line {[*same, False].index(False) + 1}: not as pubmill writes it"


def verify(archive: Path, checkout: Path = DATA) -> ArchivedStudy:
    """Verify an archive; raise a `PubmillError` if it is none. `checkout`: as in `ArchivedStudy`."""
    with TemporaryDirectory(prefix="pubmill-") as folder:
        study = ArchivedStudy(Path(folder), unpack(archive, Path(folder)), checkout)
        try:
            study.verify()
        except Exception as error:
            raise PubmillError(f"{archive}: {fault(error, study.folder)}") from None
    return study


def fault(error: Exception, folder: Path) -> str:
    """Return an error as text, without the temporary folder."""
    text = str(error) if isinstance(error, PubmillError) else f"{type(error).__name__}: {error}"
    return text.replace(f"{folder}/", "")[:500]


def _values(items: Items) -> list[Any]:
    there = items.contributions
    columns = {name: there.values[:, n].tolist() for n, name in enumerate(there.names)} if there else None
    return [*items[:3], columns]


def differences(made: Any, archived: Any, where: str) -> Iterator[str]:
    """Yield a line for each value that differs; numbers with decimals may differ in their last bits, which
    depend on the machine's order of summation."""
    if isinstance(made, dict) and isinstance(archived, dict):
        for key in made | archived:
            pair = made.get(key, NOTHING), archived.get(key, NOTHING)
            yield from differences(*pair, f"{where}: {key:.120}")
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
    return text if len(text) <= 120 else f"{text:.120}..."


def stated_graph(stated: ArchiveRecipe, folder: Path) -> Graph:
    """Return the graph of the study that is unpacked in a folder, by its specs and configuration. Only the
    reasons for what is missing, and the seeds of supplied predictions, are taken from the statement."""

    class StatedAvailability(Availability):
        def dataset(self, dataset: str) -> str | None:
            return stated.lacking_datasets.get(dataset)

        def model(self, model: str) -> str | None:
            return stated.lacking_models.get(model)

    class StatedSubmissions(SuppliedPredictions):
        def files(self, model: str) -> dict[str, dict[int, Path]]:
            seeds = stated.supplied.get(model, {})
            return {dataset: dict.fromkeys(of_dataset, Path()) for dataset, of_dataset in seeds.items()}

    class StatedRecords(Records):
        def at_hand(self, records: Sequence[str]) -> list[str]:
            there = super().at_hand(records)
            return [path for path in records if path in stated.stale or path in there]

        def stale(self, record: str) -> str | None:
            return stated.stale.get(record) or super().stale(record)

    own: dict[str, object] = {"mirror": None, "local_files": {}, "results": str(folder / "results")}
    graph = Graph(*check_study({**stated.configuration, **own}, folder / "specs"))
    graph.availability = StatedAvailability(graph)
    graph.records, graph.supplied = StatedRecords(graph), StatedSubmissions(graph)
    return graph
