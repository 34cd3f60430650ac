"""Load and check the specs of all kinds at one scale, and report all mistakes together.

A scale is an overlay on the raw YAML. It is applied before the checks, so rules receive exactly what was
checked.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from pubmill.errors import PubmillError
from pubmill.messages.wording import SHOWN, nearest
from pubmill.recipes.models import LocalWeights
from pubmill.recipes.problems import dotted_key, problem_text
from pubmill.recipes.reading import adapter
from pubmill.recipes.recipe_types import Name
from pubmill.specs import model_specs, strict_yaml
from pubmill.specs.corpus_specs import (
    CorpusSpec,
    PretrainingSpec,
    ReleasedVocabSpec,
    VocabSpec,
    faults_of_corpora,
)
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.fact_table_specs import FactTableSpec, faults_of_facts
from pubmill.specs.pretraining_checks import Fault, faults_of_pretrainings
from pubmill.specs.protocol_specs import ALL_TASKS, ProtocolSpec
from pubmill.specs.recipe_checks import faults_of_recipes
from pubmill.specs.spec_types import INCLUDES, SpecFaultsError, Strict
from pubmill.specs.strict_yaml import Location, YamlDocument
from pubmill.specs.table_checks import Made, faults_of_results
from pubmill.specs.table_specs import TableSpec
from pubmill.storage import name_patterns as names


class ScaleSpec(Strict):
    """An overlay on the specs. `made_up`: its files are invented; it has only the datasets that it names, and
    those whose files are all the user's own.

    - `name`: the file's name.
    - `title`: words added to the titles of tables.
    - `own_title`: the title of what is made of the user's own datasets only, where the scale's are made up.
    - `comparable`: whether its numbers may be compared with published ones.
    - `prefer`: released weights or those made here, for models that have both.
    - `block_files`: how many files of a source of a corpus one job works on at most.
    - `block_points`: points of a hyper-parameter search that one job tries; null: all.
    - `pretraining`: keys of recipes that differ at this scale; recipes that include them inherit them.
    - `corpora`, `vocabs`, `models`, `datasets`, `protocols`: keys of such specs that differ at this scale.
    """

    name: Name
    title: str
    own_title: str = ""
    made_up: bool = False
    comparable: bool
    prefer: Literal["released", "own"]
    block_files: Annotated[int, Field(ge=1)] = 50
    block_points: Annotated[int, Field(ge=1)] | None = 1
    corpora: dict[str, Any] = {}
    vocabs: dict[str, Any] = {}
    pretraining: dict[str, Any] = {}
    models: dict[str, Any] = {}
    datasets: dict[str, Any] = {}
    protocols: dict[str, Any] = {}


KINDS: dict[str, Any] = {
    "corpora": CorpusSpec,
    "vocabs": VocabSpec,
    "pretraining": PretrainingSpec,
    "models": model_specs.ModelSpec,
    "datasets": DatasetSpec,
    "protocols": ProtocolSpec,
    "prompts": model_specs.PromptSpec,
    "tables": Annotated[TableSpec | FactTableSpec, Field(discriminator="kind")],
}


INHERITED_OVERLAYS = ("pretraining",)
"""Kinds whose overlay for a spec also applies to the specs that include it, so that none of them runs at full
length at a small scale. A dataset's counts and hashes are its own and are not inherited."""

WHOLE: dict[str, tuple[Location, ...]] = {
    "datasets": (("sources", "*"), ("published", "files", "*")),
    "models": (("weights",), ("released",)),
    "pretraining": (("start",),),
}
"""Kind -> the mappings whose keys belong together: one replaces the included spec's mapping as a whole."""
_STATEMENTS = ("method", "*")
"""Location of the statements about values in specs of every kind; each is replaced as a whole."""


class Specs(Strict):
    """All specs at one scale, by kind and name; tables by `PAPER/tableNN`."""

    scale: ScaleSpec
    corpora: dict[str, CorpusSpec]
    vocabs: dict[str, VocabSpec]
    pretraining: dict[str, PretrainingSpec]
    models: dict[str, model_specs.ModelSpec]
    datasets: dict[str, DatasetSpec]
    protocols: dict[str, ProtocolSpec]
    prompts: dict[str, model_specs.PromptSpec]
    tables: dict[str, TableSpec]
    fact_tables: dict[str, FactTableSpec]


def scales(folder: Path) -> list[str]:
    """Names of the scales: the files in `scales/` with a `name`; other files there are only included."""
    paths = sorted((folder / "scales").glob("*.yaml"))
    return [path.stem for path in paths if re.search("(?m)^name:", path.read_text(encoding="utf-8"))]


def load(folder: Path, scale: str, without: Collection[str] = ()) -> Specs:
    """Read, overlay and check all specs, except files `without`; raise one error that lists every mistake."""
    if scale not in scales(folder):
        known = ", ".join(scales(folder))
        raise PubmillError(f"scale: there is no {folder.name}/scales/{scale}.yaml; the scales are {known}")
    errors: list[str] = []
    path = folder / "scales" / f"{scale}.yaml"
    overlay, _ = with_base(path, path.relative_to(folder.parent).as_posix(), errors, "scales")
    checked_scale = validate_spec(ScaleSpec, overlay, errors)
    if checked_scale and checked_scale.name != scale:
        errors.append(f"{overlay.where(('name',))}: name must be {scale!r}, as the file is called")
    documents = {kind: _read_kind(folder, kind, overlay, errors, without) for kind in KINDS}
    made = {
        kind: {name: validate_spec(KINDS[kind], document, errors) for name, document in of_kind.items()}
        for kind, of_kind in documents.items()
    }
    if not errors and checked_scale is not None:
        faults = (*reference_faults(made), *_cross_faults(made, checked_scale.prefer == "released"))
        errors += [f"{documents[kind][name].where(at)}: {fault}" for kind, name, at, fault in faults]
    if errors or checked_scale is None:
        raise SpecFaultsError(folder, errors)
    tables = made["tables"].items()
    made["fact_tables"] = {name: table for name, table in tables if isinstance(table, FactTableSpec)}
    made["tables"] = {name: table for name, table in tables if isinstance(table, TableSpec)}
    return Specs.model_construct(_fields_set=None, scale=checked_scale, **made)


def _read_kind(
    folder: Path, kind: str, overlay: YamlDocument, errors: list[str], without: Collection[str]
) -> dict[str, YamlDocument]:
    documents, shares = {}, strict_yaml.parts(overlay, kind)
    for path in sorted((folder / kind).rglob("*.yaml")):
        key = path.relative_to(folder / kind).with_suffix("").as_posix()
        shown = path.relative_to(folder.parent).as_posix()
        if shown in without:
            continue
        of_papers = kind == "tables"
        if not names.fits(f"{names.SPEC}/{names.SPEC}" if of_papers else names.SPEC, key):
            where = "PAPER/NAME.yaml, where PAPER and NAME" if of_papers else "NAME.yaml, where NAME"
            errors.append(
                f"{shown!a}: expected {kind}/{where} have lower-case letters, digits and . + -, and perhaps "
                "a variant after @ (at most 150 characters); rename it"
            )
            continue
        document, base = with_base(path, shown, errors, kind)
        for one in filter(None, (base, key)):
            if one in shares and (one == key or kind in INHERITED_OVERLAYS):
                document = strict_yaml.merge(document, shares[one])
        if document.value.get("name") != path.stem:
            errors.append(f"{document.where(('name',))}: name must be {path.stem!r}, as the file is called")
        documents[key] = document
    errors += [
        f"{overlay.where((kind, name))}: there is no {folder.name}/{kind}/{name}.yaml"
        for name in shares
        if name not in documents and f"{folder.name}/{kind}/{name}.yaml" not in without
    ]
    return documents


def with_base(path: Path, shown: str, errors: list[str], kind: str) -> tuple[YamlDocument, str | None]:
    """Read a spec, merge it over the spec that it `include`s, and return the result and that spec's name. The
    included spec is in the same folder. Its lines are prefixed with the line of the `include:`, so that
    errors in the merged result name the including file. If it cannot be included, the key `include` stays."""
    document = strict_yaml.read(path, shown, errors)
    base_name = document.value.get("include")
    if base_name is None:
        return document, None
    include = document.where(("include",))
    if not isinstance(base_name, str) or not names.fits(names.SPEC, base_name):
        errors.append(f"{include}: expected the name of a spec, found {base_name!a:.120}")
        return document, None
    base_path = path.with_name(f"{base_name}.yaml")
    if not base_path.is_file():
        near = nearest(base_name, (one.stem for one in path.parent.glob("*.yaml") if one != path))
        errors.append(
            f"{include}: there is no {base_path.name} in the same folder; the nearest: "
            f"{', '.join(near[:SHOWN]) or 'none'}"
        )
        return document, None
    del document.value["include"]
    base = strict_yaml.read(base_path, shown.replace(path.name, base_path.name), errors=[])
    if "include" in base.value:
        errors.append(f"{include}: {base_name} itself has an `include`; only one level is allowed")
        base.value.pop("include")
    base.lines = {at: f"{include}{INCLUDES}{line}" for at, line in base.lines.items()}
    return strict_yaml.merge(base, document, (*WHOLE.get(kind, ()), _STATEMENTS)), base_name


def validate_spec(model: Any, document: YamlDocument, errors: list[str]) -> Any:
    """Return the spec of a document, or None after adding its mistakes to `errors`, except the keys that are
    missing because another spec cannot be included."""
    partial = document.value.pop("include", None) is not None
    try:
        return adapter(model).validate_python(document.value)
    except ValidationError as error:
        for problem in error.errors():
            if partial and problem["type"] == "missing":
                continue
            place = tuple(problem["loc"])
            # for specs of several kinds, pydantic puts the kind in front of each location
            if place and place[0] == document.value.get("kind"):
                place = place[1:]
            written: Location = ()  # without names of union members, which have no line
            for step in place:
                written = (*written, step) if (*written, step) in document.lines else written
            missing = place[-1:] if problem["type"] == "missing" else ()
            key = dotted_key((*written, *missing))
            errors.append(f"{document.where(written)}: {key}: {problem_text(problem, model)}")
        return None


REFERENCES: dict[str, dict[str, str]] = {
    "corpora": {"contamination.datasets.*": "datasets"},
    "vocabs": {"model": "models", "corpus": "corpora"},
    "pretraining": {
        "corpus": "corpora", "vocab": "vocabs", "start.model": "models", "start.recipe": "pretraining",
        "teacher": "models",
    },
    "models": {
        "weights.recipe": "pretraining", "weights.mapping.keys": "datasets",
        "weights.prompt": "prompts", "tables.*": "tables",
    },
    "protocols": {
        "search.models.*": "models", "overrides.*.models.*": "models", "overrides.*.datasets.*": "datasets",
        "folds.*.chosen_on": "datasets", "folds.*.reported.*": "datasets", "start_from.keys": "datasets",
        "start_from.*": "datasets", "final.seeds.keys": "datasets", "equivalence.margins.keys": "datasets",
    },
    "tables": {
        "protocol": "protocols", "columns.*.protocol": "protocols", "rows.*.protocol": "protocols",
        "columns.*.cells.*.protocol": "protocols", "columns.*.model": "models", "rows.*.model": "models",
        "columns.*.cells.*.model": "models", "columns.*.dataset": "datasets", "rows.*.dataset": "datasets",
        "columns.*.cells.*.dataset": "datasets",
    },
}  # fmt: skip
"""Kind -> path of a key (`*`: any; `keys`: the keys themselves) -> kind of the specs that it names."""


def _values_at(value: Any, path: Sequence[str], at: Location = ()) -> Iterator[tuple[Location, str]]:
    """Yield the location and text of each name at a path of `REFERENCES` in a spec."""
    if not path:
        yield from [(at, value)] if value is not None else []
        return
    step, below = path[0], path[1:]
    if step == "keys":
        yield from (((*at, key), key) for key in value or ())
    elif step != "*":
        yield from _values_at(getattr(value, step, None), below, (*at, step))
    elif isinstance(value, dict | tuple):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _values_at(one, below, (*at, key))


def reference_faults(made: Made) -> Iterator[Fault]:
    """Report references to specs that don't exist, and `missing:` reasons for specs that do."""
    for kind, references in REFERENCES.items():
        for name, spec in made[kind].items():
            facts = isinstance(spec, FactTableSpec) and spec.subjects != "tasks"
            named = {**references, "rows.*.subject": spec.subjects} if facts else references
            for path, of in named.items():
                for at, target in _values_at(spec, path.split(".")):
                    excuse, exists = _excuse(spec, at, target), target in made[of]
                    if exists and excuse:
                        yield kind, name, at, f"specs/{of}/{target}.yaml exists; remove {excuse}"
                    elif not (exists or excuse or _names_folds(spec, at, target, made)):
                        near = ", ".join(nearest(target, made[of])[:SHOWN]) or "none"
                        yield kind, name, at, f"there is no specs/{of}/{target}.yaml; the nearest: {near}"


def _names_folds(spec: Any, at: Location, target: str, made: Made) -> bool:
    """Return whether a key names folds of a protocol (or is the `default` beside them), not a dataset."""
    if at[0] in ("final", "equivalence"):
        return target == "default" or target in spec.folds
    protocol = made["protocols"].get(spec.protocol) if at[0] == "rows" and at[-1] == "dataset" else None
    return protocol is not None and target in protocol.folds


def _excuse(spec: Any, at: Location, target: str) -> str:
    """Return where a table or protocol says that a spec is still missing; "" if it does not."""
    if at[::2] in (("columns", "model"), ("rows", "dataset"), ("rows", "subject")):
        return "`missing:` here" if getattr(spec, str(at[0]))[at[1]].missing else ""
    future = at[0] == "overrides" and at[2] == "models" and target in spec.future_models
    return "it from `future_models`" if future else ""


def _cross_faults(made: Made, released: bool) -> Iterator[Fault]:
    """Report specs that contradict others. `released`: the scale prefers released weights."""
    for name, table in made["tables"].items():
        check: Any = faults_of_facts if isinstance(table, FactTableSpec) else faults_of_results
        yield from (("tables", name, *fault) for fault in check(table, made))
    for name, vocab in made["vocabs"].items():
        model = made["models"].get(vocab.model) if isinstance(vocab, ReleasedVocabSpec) else None
        if model and model.released is None and not isinstance(model.weights, LocalWeights):
            fault = f"{vocab.model} has no released files; name the vocabulary that it is trained with"
            yield "vocabs", name, ("model",), fault
    yield from (("corpora", *fault) for fault in faults_of_corpora(made["corpora"]))
    for name, prompts in made["prompts"].items():
        for key in prompts.templates.keys() - made["datasets"].keys() - set(ALL_TASKS):
            fault = f"{key}: neither a dataset nor a task ({', '.join(ALL_TASKS)})"
            yield "prompts", name, ("templates", key), fault
    for name, protocol in made["protocols"].items():
        for at, fault in faults_of_recipes(protocol, made["datasets"]):
            yield "protocols", name, at, f"{dotted_key(at)}: {fault}"
    yield from faults_of_pretrainings(made["pretraining"], made["models"], released)
