"""Models and tables in results that were made from a day of a corpus."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.metrics.records import read_record
from pubmill.storage.checksums import folder_sha256
from pubmill.storage.files import read_json
from pubmill.storage.model_folders import CONFIG, CORPUS_KEY
from pubmill.storage.result_paths import ALL_RECORDS, BELOW


class MadeFrom(NamedTuple):
    """What was made from one day of a corpus: folders of models, and tables (without ending) that show
    scores of runs with the weights of these models."""

    models: tuple[Path, ...]
    tables: tuple[Path, ...]

    def lines(self, which: str) -> list[str]:
        """Return one line on the models and one on the tables; `which`: the corpus in words."""
        parts = {what: ", ".join(map(str, paths)) or "none found" for what, paths in self._asdict().items()}
        return [f"{what} made from the {which}: {shown}" for what, shown in parts.items()]


def results_folders(results: Path, locks: Iterable[Path]) -> list[Path]:
    """Return a results folder and those that locks are in (RESULTS/corpora/CORPUS/corpus.lock), each once."""
    corpora = [lock.absolute().parents[1] for lock in locks]
    folders = [results, *(folder.parent for folder in corpora if folder.name == "corpora")]
    return list({folder.resolve(): folder for folder in folders}.values())


def made_from(totals: Mapping[str, object], results: Iterable[Path]) -> MadeFrom:
    """Return what was made from the corpus with these totals (day, documents, words, bytes) below some
    results folders. A table whose records have other weights than the models have now is not listed."""
    models: list[Path] = []
    tables: list[Path] = []
    for folder in results:
        here = [path for path in sorted(folder.glob(BELOW.model("*"))) if _is_from(path, totals)]
        models += here
        tables += _tables_of(folder, here)
    return MadeFrom(tuple(models), tuple(tables))


def _is_from(model: Path, totals: Mapping[str, object]) -> bool:
    """Return whether a model's configuration names a corpus with these totals."""
    config = model / CONFIG
    named = read_json(config).get(CORPUS_KEY) if config.is_file() else None
    return bool(totals) and isinstance(named, dict) and all(named.get(k) == v for k, v in totals.items())


def _tables_of(results: Path, models: Sequence[Path]) -> list[Path]:
    """Return the tables, without ending, that show runs of models as they are now."""
    weights = {model.name: folder_sha256(model) for model in models}
    records = set[str]()
    for path in results.glob(ALL_RECORDS) if weights else ():
        record = read_record(path)
        if record.model_sha256 is not None and weights.get(record.model) == record.model_sha256:
            records.add(path.relative_to(results).as_posix())
    paths = sorted((results / "tables").rglob("*.json")) if records else []
    return [path.with_suffix("") for path in paths if records & _shown(path)]


def _shown(table: Path) -> set[str]:
    """Return the records that the cells of a table show; none for other files beside tables."""
    content = read_json(table)
    columns = content.get("cells") if isinstance(content, dict) else None
    cells = [cell for column in (columns or {}).values() for cell in column.values()]
    return {seed["record"] for cell in cells for seed in cell.get("seeds", ())}


class VocabularyDifference(NamedTuple):
    """Vocabularies of a model of two days: numbers of pieces in both, and of each alone."""

    model: str
    both: int
    first_only: int
    second_only: int

    def line(self) -> str:
        return (
            f"vocabulary of {self.model}: {self.both} pieces of both, {self.first_only} of the first alone, "
            f"{self.second_only} of the second alone"
        )


def vocabulary_differences(first: MadeFrom, second: MadeFrom) -> list[VocabularyDifference]:
    """Compare the vocabularies of models with the same name in both."""
    others = {model.name: model for model in second.models}
    differences = []
    for model in first.models:
        if model.name in others:
            one, other = _pieces(model), _pieces(others[model.name])
            numbers = len(one & other), len(one - other), len(other - one)
            differences.append(VocabularyDifference(model.name, *numbers))
    return differences


def _pieces(model: Path) -> set[str]:
    """Return the pieces of a model's tokenizer."""
    path = model / "tokenizer.json"
    try:
        vocab = read_json(path)["model"]["vocab"]
    except (KeyError, TypeError):
        raise PubmillError(f"{path} has no vocabulary; expected the tokenizer of an exported model") from None
    return {piece if isinstance(piece, str) else piece[0] for piece in vocab}
