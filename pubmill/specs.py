"""Everything under `specs/`: one strict model per kind, the loader, the cross-checks.

All mistakes of all files are reported together, each with its file and line. A scale is an overlay
that is laid on the raw YAML before it is checked, so what a rule gets is what was checked.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from pubmill import strict_yaml
from pubmill.errors import PubmillError
from pubmill.recipes import FinetuningRecipe, PretrainingRecipe
from pubmill.strict_yaml import Document

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]*(@[a-z0-9-]+)?$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Https = Annotated[str, Field(pattern=r"^https://[^\s?#]+$")]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Spec(Strict):
    name: Name
    label: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()


class PubmedSource(Strict):
    """Files of NCBI's PubMed folders, as ranges of their names: `26n0001-26n1334`."""

    name: Name
    kind: Literal["pubmed"]
    url: Https
    files: dict[Literal["baseline", "updatefiles"], tuple[str, ...]]


class TextSource(Strict):
    """JSON lines of the user's own: all files of the folder `local_files: {KEY: ...}` that match."""

    name: Name
    kind: Literal["text"]
    local: str
    files: str = "*.jsonl.gz"


class Selection(Strict):
    """Filters over documents; null leaves one off. Words are those of the abstract."""

    min_words: int | None = None
    max_words: int | None = None
    languages: tuple[str, ...] | None = None
    published_from: int | None = None
    published_to: int | None = None


class CorpusSpec(Spec):
    sources: tuple[Annotated[PubmedSource | TextSource, Field(discriminator="kind")], ...]
    selection: Selection


class VocabSpec(Spec):
    kind: Literal["wordpiece"]
    size: int
    lowercase: bool
    corpus: Name


class PretrainingSpec(Spec):
    """A recipe on a corpus; `checkpoints` are the steps that are kept, each a target of the graph."""

    corpus: Name
    vocab: Name
    sentence_splitter: Https
    recipe: PretrainingRecipe
    checkpoints: tuple[int, ...]

    @model_validator(mode="after")
    def checkpoints_rise_to_the_last_step(self) -> Self:
        kept = self.checkpoints
        if not kept or list(kept) != sorted(set(kept)) or kept[-1] != self.recipe.steps:
            raise ValueError(f"checkpoints must rise and end with steps ({self.recipe.steps}), found {kept}")
        return self


class RecipeWeights(Strict):
    """Weights made here: pretrained by a recipe, or its architecture freshly initialised."""

    kind: Literal["pretraining", "random"]
    recipe: Name


class FolderWeights(Strict):
    """A Hugging Face folder of the user's own: `local_files: {KEY: ...}` says where."""

    kind: Literal["folder"]
    local: str


class HubWeights(Strict):
    """Released weights on the Hugging Face hub, pinned to a commit."""

    id: str
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class ModelSpec(Spec):
    """A column or row of tables: released weights, weights made here, or both (the scale says which
    it prefers). `tables`: those it joins without being named in them."""

    weights: Annotated[RecipeWeights | FolderWeights, Field(discriminator="kind")] | None = None
    released: HubWeights | None = None
    lowercase: bool
    tables: tuple[str, ...] = ()

    @model_validator(mode="after")
    def has_weights(self) -> Self:
        if self.weights is None and self.released is None:
            raise ValueError("a model needs `weights`, `released`, or both")
        return self


class File(Strict):
    url: Https
    sha256: Sha256


class DatasetSpec(Spec):
    kind: Literal["tokens"]
    task: Literal["ner"]
    sources: dict[Literal["train", "dev", "test"], File]
    access: Literal["public", "registration", "credentialed"]
    licence: str
    converter: Annotated[str, Field(pattern=r"^pubmill\.convert\.[a-z0-9_]+:[a-z_]+$")]
    options: dict[str, Any] = {}
    duplicates: Literal["keep"]
    expect: dict[Literal["train", "dev", "test"], dict[str, int]]
    conflicts: tuple[str, ...] = ()
    metric: Literal["entity_f1"]
    version: int


class Search(Strict):
    """A grid over dev: every point for every model and seed; the best mean dev score is chosen."""

    grid: dict[Literal["learning_rate", "batch_size"], tuple[float, ...]]
    models: tuple[Name, ...]
    seeds: int = 1


class Final(Strict):
    seeds: dict[str, int]
    aggregate: Literal["mean"]
    split: Literal["test"]


class ProtocolSpec(Spec):
    """How a paper fine-tunes. `hyperparameters` are all of FinetuningRecipe's keys but those that the
    dataset decides (task, metric) and those that the search's grid decides."""

    search: Search | None
    hyperparameters: dict[str, Any]
    settings: dict[Name, dict[str, Any]]
    final: Final

    @model_validator(mode="after")
    def every_setting_makes_a_recipe(self) -> Self:
        if "default" not in self.final.seeds:
            raise ValueError("final.seeds must have the key `default`")
        decided: dict[str, Any] = dict.fromkeys(self.search.grid, 1) if self.search else {}
        both = sorted(decided.keys() & self.hyperparameters.keys())
        if both:
            raise ValueError(f"the search and hyperparameters both decide {both}; remove one")
        for name, setting in self.settings.items():
            known = {"task": "tokens", "metric": "", **self.hyperparameters, **setting, **decided}
            _check_recipe(name, known)
        return self


def _check_recipe(setting: str, known: dict[str, Any]) -> None:
    try:
        TypeAdapter(FinetuningRecipe).validate_python(known)
    except ValidationError as error:
        wrong = "; ".join(f"{_shown(problem['loc'])}: {told(problem)}" for problem in error.errors())
        raise ValueError(f"setting {setting} makes no recipe: {wrong}") from None


class Column(Strict):
    model: Name
    label: str
    missing: str | None = None


class Row(Strict):
    dataset: Name
    label: str
    group: str
    missing: str | None = None


class Composite(Strict):
    """The mean over task groups of the mean over each group's datasets (gu2020 section 4)."""

    name: str
    label: str
    groups: dict[str, tuple[Name, ...]]


class TableSpec(Spec):
    paper: str
    title: str
    caption: str
    protocol: Name
    setting: Name
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    composite: Composite | None = None

    @model_validator(mode="after")
    def composite_is_of_its_rows(self) -> Self:
        known = {row.dataset for row in self.rows}
        groups = self.composite.groups.values() if self.composite else ()
        strangers = sorted({dataset for group in groups for dataset in group} - known)
        if strangers:
            raise ValueError(f"the composite is of datasets that are no rows of the table: {strangers}")
        return self


class ScaleSpec(Strict):
    name: Literal["demo", "small", "full"]
    title: str
    comparable: bool
    prefer: Literal["released", "own"]
    corpora: dict[str, Any] = {}
    vocabs: dict[str, Any] = {}
    pretraining: dict[str, Any] = {}
    models: dict[str, Any] = {}
    datasets: dict[str, Any] = {}
    protocols: dict[str, Any] = {}


KINDS: dict[str, type[Spec]] = {
    "corpora": CorpusSpec,
    "vocabs": VocabSpec,
    "pretraining": PretrainingSpec,
    "models": ModelSpec,
    "datasets": DatasetSpec,
    "protocols": ProtocolSpec,
    "tables": TableSpec,
}


class Specs(Strict):
    """All specs at one scale, by kind and name; tables by `PAPER/tableNN`."""

    scale: ScaleSpec
    corpora: dict[str, CorpusSpec]
    vocabs: dict[str, VocabSpec]
    pretraining: dict[str, PretrainingSpec]
    models: dict[str, ModelSpec]
    datasets: dict[str, DatasetSpec]
    protocols: dict[str, ProtocolSpec]
    tables: dict[str, TableSpec]


def load(folder: Path, scale: str) -> Specs:
    """Read, overlay and check all specs; raise one `PubmillError` that lists every mistake."""
    errors: list[str] = []
    overlay = strict_yaml.read(
        folder / "scales" / f"{scale}.yaml", f"{folder.name}/scales/{scale}.yaml", errors
    )
    checked_scale = _check(ScaleSpec, overlay, errors)
    documents = {kind: _read_kind(folder, kind, overlay, errors) for kind in KINDS}
    made = {
        kind: {name: _check(KINDS[kind], document, errors) for name, document in found.items()}
        for kind, found in documents.items()
    }
    if not errors:
        errors += _dangling(made, documents)
    if errors or checked_scale is None:
        raise PubmillError("\n".join([f"{len(errors)} mistake(s) in {folder}:", *errors]))
    return Specs.model_construct(_fields_set=None, scale=checked_scale, **made)


def _read_kind(folder: Path, kind: str, overlay: Document, errors: list[str]) -> dict[str, Document]:
    documents = {}
    for path in sorted((folder / kind).rglob("*.yaml")):
        key = path.relative_to(folder / kind).with_suffix("").as_posix()
        shown = path.relative_to(folder.parent).as_posix()
        document = _with_base(path, shown, errors)
        if document.value.get("name") != path.stem:
            errors.append(f"{document.where(('name',))}: name must be {path.stem!r}, as the file is called")
        documents[key] = document
    for name in overlay.value.get(kind) or {}:
        if name not in documents:
            errors.append(f"{overlay.where((kind, name))}: there is no {folder.name}/{kind}/{name}.yaml")
        else:
            documents[name] = strict_yaml.merge(documents[name], strict_yaml.part(overlay, kind, name))
    return documents


def _with_base(path: Path, shown: str, errors: list[str]) -> Document:
    """A spec with the one that it `include`s (by name, from the same folder) laid under it."""
    document = strict_yaml.read(path, shown, errors)
    base_name = document.value.pop("include", None)
    if base_name is None:
        return document
    base_path = path.with_name(f"{base_name}.yaml")
    if not base_path.is_file():
        errors.append(f"{document.where(('include',))}: there is no {base_path.name} beside this file")
        return document
    base = strict_yaml.read(base_path, shown.replace(path.name, base_path.name), errors=[])
    if "include" in base.value:
        errors.append(f"{document.where(('include',))}: {base_name} itself includes; one base only")
        base.value.pop("include")
    return strict_yaml.merge(base, document)


def _check(model: type[Any], document: Document, errors: list[str]) -> Any:
    try:
        return model.model_validate(document.value)
    except ValidationError as error:
        for problem in error.errors():
            place = tuple(p for p in problem["loc"])
            errors.append(f"{document.where(_written(document, place))}: {_shown(place)}: {told(problem)}")
        return None


def _written(document: Document, place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """A location without pydantic's own steps (the names of union members), so that lines are found."""
    written: tuple[int | str, ...] = ()
    for step in place:
        if (*written, step) in document.lines:
            written = (*written, step)
    return written


def _shown(place: tuple[int | str, ...]) -> str:
    return ".".join(map(str, place)) or "the file"


def told(problem: Any) -> str:
    """One of pydantic's problems in words, with what was found."""
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return "unknown key; check its spelling, or remove it"
    if problem["type"] == "missing":
        return "this key is required and missing"
    return f"{problem['msg'].removeprefix('Value error, ')} (found {problem['input']!r:.120})"


def _dangling(made: dict[str, dict[str, Any]], documents: dict[str, dict[str, Document]]) -> Iterator[str]:
    """References to specs that don't exist, and `missing:` reasons for specs that do."""
    for kind, name, at, target_kind, target, excused in _references(made):
        exists = target in made[target_kind]
        where = documents[kind][name].where(at)
        if not exists and not excused:
            yield f"{where}: there is no specs/{target_kind}/{target}.yaml"
        elif exists and excused:
            yield f"{where}: specs/{target_kind}/{target}.yaml exists; remove `missing:` here"
    for name, table in made["tables"].items():
        protocol = made["protocols"].get(table.protocol)
        if protocol and table.setting not in protocol.settings:
            where = documents["tables"][name].where(("setting",))
            yield f"{where}: protocol {table.protocol} has no setting {table.setting!r}"


Reference = tuple[str, str, tuple[str | int, ...], str, str, bool]


def _references(made: dict[str, dict[str, Any]]) -> Iterator[Reference]:
    """(kind, name, location, kind of target, target, excused by a `missing:` reason)."""
    for name, vocab in made["vocabs"].items():
        yield "vocabs", name, ("corpus",), "corpora", vocab.corpus, False
    for name, recipe in made["pretraining"].items():
        yield "pretraining", name, ("corpus",), "corpora", recipe.corpus, False
        yield "pretraining", name, ("vocab",), "vocabs", recipe.vocab, False
    for name, model in made["models"].items():
        if isinstance(model.weights, RecipeWeights):
            yield "models", name, ("weights", "recipe"), "pretraining", model.weights.recipe, False
        for i, table in enumerate(model.tables):
            yield "models", name, ("tables", i), "tables", table, False
    for name, protocol in made["protocols"].items():
        for i, model_name in enumerate(protocol.search.models if protocol.search else ()):
            yield "protocols", name, ("search", "models", i), "models", model_name, False
    for name, table in made["tables"].items():
        yield "tables", name, ("protocol",), "protocols", table.protocol, False
        for i, column in enumerate(table.columns):
            yield "tables", name, ("columns", i, "model"), "models", column.model, bool(column.missing)
        for i, row in enumerate(table.rows):
            yield "tables", name, ("rows", i, "dataset"), "datasets", row.dataset, bool(row.missing)
