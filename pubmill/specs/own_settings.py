"""Settings that a study adds to protocols, to replace their search for hyper-parameters.

With hyper-parameters that a user chose, `standard` becomes `standard+lr=3e-05+batch=32+epochs=20`; with a
search for each model, `standard+own-search`. Runs, records and tables have these names, so that nothing mixes
them with runs of the protocol.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from pydantic import AfterValidator, TypeAdapter, ValidationError

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.problems import problem_text
from pubmill.recipes.recipe_types import Name
from pubmill.specs import protocol_specs, strict_yaml
from pubmill.specs.cell_sources import CellSource, cell_sources
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.loading import Specs, validate_spec
from pubmill.specs.protocol_specs import DECIDABLE, Override, ProtocolSpec, SettingName, short_value
from pubmill.specs.recipe_checks import recipe_faults
from pubmill.specs.spec_types import Strict, Text
from pubmill.specs.table_specs import CellSpec, ColumnSpec, TableSpec

if TYPE_CHECKING:
    from pubmill.specs.study import Study

SHORT = {"lr": "learning_rate", "batch": "batch_size"}
"""Short names of keys on the command line and in names of settings."""
OWN_SEARCH = "own-search"
BY_HAND = "the user's own choice, by --choice"
_TYPES = get_type_hints(FinetuningRecipe)


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    """Return values of recipe keys, converted to the types of FinetuningRecipe: `--config` gives text."""
    protocol_specs.check_decidable(values)
    typed, faults = {}, []
    for key, value in values.items():
        try:
            typed[key] = TypeAdapter(_TYPES[key]).validate_python(value)
        except ValidationError as error:
            faults.append(f"{key}: {problem_text(error.errors()[0])}")
    if faults:
        raise ValueError("; ".join(faults))
    return typed


ChosenValues = Annotated[dict[str, Any], AfterValidator(_typed)]


class HyperparameterChoice(Strict):
    """Hyper-parameters to take in place of a search.

    - `name`: the suffix of the names of settings with these values.
    - `source`: who chose the values, and how.
    - `values`: searched keys of the fine-tuning recipe, for all datasets that `datasets` does not name.
    - `datasets`: dataset, or folds of a protocol -> values of its own.
    """

    name: SettingName
    source: Text
    values: ChosenValues = {}
    datasets: dict[Name, ChosenValues] = {}

    def faults(self) -> Iterator[str]:
        if not (self.values or self.datasets):
            yield "a choice needs `values` for all datasets, or `datasets` with values of each"
        if self.name == OWN_SEARCH:
            yield f"{OWN_SEARCH} is the name of a search; give the choice another"


def read_choice_option(text: str) -> HyperparameterChoice:
    """Return the choice of `--choice`: `lr=3e-5,batch=32,epochs=20`, or the path of a YAML file."""
    if Path(text).suffix in (".yaml", ".yml"):
        if not Path(text).is_file():
            raise PubmillError(f"--choice: there is no file {text}")
        errors: list[str] = []
        document = strict_yaml.read(Path(text), text, errors)
        choice = None if errors else validate_spec(HyperparameterChoice, document, errors)
        if choice is None:
            raise PubmillError("\n".join(errors))
        return choice
    pairs = [pair.partition("=") for pair in text.split(",")]
    values = {SHORT.get(key, key): value for key, _, value in pairs}
    if strangers := [unknown("key", key, {*SHORT, *DECIDABLE}) for key in values if key not in _TYPES]:
        raise PubmillError(f"--choice {text}: {'; '.join(strangers)}")
    if len(values) < len(pairs) or not all(equals and value for _, equals, value in pairs):
        raise PubmillError(
            f"--choice {text}: expected each key once, with its value, as in lr=3e-5,batch=32,epochs=20, "
            "or a file NAME.yaml"
        )
    try:
        typed = _typed(values)
    except ValueError as error:
        raise PubmillError(f"--choice {text}: {error}") from None
    short = {key: key.replace("_", "-") for key in typed} | {key: name for name, key in SHORT.items()}
    name = "+".join(f"{short[key]}={short_value(value)}" for key, value in typed.items())
    return HyperparameterChoice(name=name, source=BY_HAND, values=typed)


STEPS = "stop_after"
"""A key that a choice on folds may give beside those that are searched: steps after which training ends."""
CHOSEN = "the user chose the hyper-parameters; the protocol's search did not select them"
SEARCHED = "hyper-parameters were searched for this model alone, not by {} for all models"


def with_own_settings(specs: Specs, study: "Study") -> Specs:
    """Return the specs in which the study's tables show its models in the study's own settings."""
    suffix = _suffix(study)
    if suffix is None:
        return specs
    tables = {name: specs.tables[name] for name in study.tables if name in specs.tables}
    used = dict.fromkeys(name for table in tables.values() for name in table.protocols())
    protocols = {name: specs.protocols[name] for name in used if _is_replaced(specs.protocols[name], study)}
    if not protocols:
        raise PubmillError(
            f"configuration: {'choice' if study.choice else 'search'}: none of the study's protocols "
            f"({', '.join(used) or 'none'}) has a search that it would replace; leave it out"
        )
    known = [*specs.datasets, *(name for protocol in specs.protocols.values() for name in protocol.folds)]
    if strangers := [name for name in (study.choice.datasets if study.choice else ()) if name not in known]:
        lines = [f"choice {suffix}: datasets: {unknown('dataset', name, known)}" for name in strangers]
        raise PubmillError("\n".join(lines))
    own = {name: _with_settings(protocol, study, suffix) for name, protocol in protocols.items()}
    made = specs.model_copy(update={"protocols": {**specs.protocols, **own}})
    changed = {}
    for name, table in tables.items():
        columns = tuple(own_column(table, one, made, study) for one in table.columns)
        changed[name] = table.model_copy(update={"columns": columns})
    return made.model_copy(update={"tables": {**specs.tables, **changed}})


def own_column(table: TableSpec, column: ColumnSpec, specs: Specs, study: "Study") -> ColumnSpec:
    """Return a column whose cells with models of the study are made in the study's own settings. Raises a
    `PubmillError` if a choice does not give exactly what is searched for one of these cells."""
    suffix = _suffix(study)
    if suffix is None or not column.model:
        return column
    cells, faults = dict[str, CellSpec](), dict[str, list[str]]()
    for cell in cell_sources(table, [column], specs):
        dataset, name = table.dataset_of(column, cell.row), cell.row.name
        if cell.data and cell.setting and _is_own(cell, dataset, specs, study):
            protocol, before = specs.protocols[cell.protocol], column.cells.get(name)
            assert protocol.search, "_is_own"
            models = ("each model",) if protocol.search.models == "each" else protocol.search.models
            reason = CHOSEN if study.choice else SEARCHED.format(" and ".join(models))
            source = study.choice.source if study.choice else reason
            changes = {
                "setting": tuple(f"{setting}+{suffix}" for setting in table.settings_of(column, cell.row)),
                "why": f"{before.why}; {source}" if before and before.why else source,
                "not_comparable": reason,
            }
            cells[name] = CellSpec.model_validate({**(before.model_dump() if before else {}), **changes})
            given = (protocol, cell.data, cell.model, cell.setting)
            for fault in _choice_faults(study.choice, *given) if study.choice else ():
                faults.setdefault(fault, []).append(cell.data.name)
    if faults:
        lines = [f"choice {suffix}: {fault} (on {', '.join(of)})" for fault, of in faults.items()]
        raise PubmillError("\n".join(lines))
    label = f"{column.label} ({suffix})" if cells else column.label
    return column.model_copy(update={"cells": {**column.cells, **cells}, "label": label})


def _suffix(study: "Study") -> str | None:
    """Return what names of the study's own settings end with; None: it has no such settings."""
    if study.choice:
        return study.choice.name
    return OWN_SEARCH if study.search == "own" else None


def _is_replaced(protocol: ProtocolSpec, study: "Study") -> bool:
    """Return whether the study replaces a protocol's search; an own search does not replace one by `each`."""
    return protocol.search is not None and (study.choice is not None or protocol.search.models != "each")


def _with_settings(protocol: ProtocolSpec, study: "Study", suffix: str) -> ProtocolSpec:
    """Return a protocol with an own setting for each of its settings."""

    def own(setting: str) -> str:
        return f"{setting}+{suffix}"

    search = "none" if study.choice else "each"
    settings = {}
    for name, setting in protocol.settings.items():
        chosen_by = setting.chosen_by and own(setting.chosen_by)
        changed = {"added": True, "search": search, "chosen_by": chosen_by}
        settings[own(name)] = setting.model_copy(update=changed)
    overrides = protocol.overrides | {
        name: one.model_copy(update={"settings": (*one.settings, *map(own, one.settings))})
        for name, one in protocol.overrides.items()
        if one.settings
    }
    if study.choice:  # its general values first
        values: dict[str, tuple[ChosenValues, tuple[str, ...] | None]] = {suffix: (study.choice.values, None)}
        for name, of_dataset in study.choice.datasets.items():
            folds = protocol.folds.get(name)
            values[f"{suffix}/{name}"] = (of_dataset, folds.reported if folds else (name,))
        overrides |= {
            name: Override(settings=tuple(settings), datasets=datasets, values=given, why=study.choice.source)
            for name, (given, datasets) in values.items()
            if given
        }
    changes = {"settings": {**protocol.settings, **settings}, "overrides": overrides}
    return protocol.model_copy(update=changes)


def _is_own(cell: CellSource, dataset: str, specs: Specs, study: "Study") -> bool:
    """Return whether the study runs a cell's model on the dataset or folds, in a setting of its own."""
    model, protocol = cell.model, specs.protocols[cell.protocol]
    if cell.data is None or cell.setting is None or model not in specs.models:
        return False
    runs = (study.models is None or model in study.models) and specs.models[model].is_fine_tuned
    wanted = study.datasets is None or dataset in study.datasets
    choosing = protocol.settings[cell.setting].chosen_by or cell.setting
    searched = _is_replaced(protocol, study) and bool(protocol.points(cell.data, model, choosing))
    return runs and wanted and searched


def _choice_faults(
    choice: HyperparameterChoice, protocol: ProtocolSpec, data: DatasetSpec, model: str, setting: str
) -> Iterator[str]:
    """Yield the faults of a choice for a cell: missing keys, keys not searched, or invalid values."""
    searched = set(protocol.grid(data, model, protocol.settings[setting].chosen_by or setting))
    own = f"{setting}+{choice.name}"
    applied = protocol.applied(data, model, own).items()
    chosen = [override.values for name, override in applied if name.partition("/")[0] == choice.name]
    given = {key for values in chosen for key in values}
    folds = {STEPS} if protocol.fold_of(data.name) else set[str]()
    if lacking := sorted(searched - given):
        yield f"no {', '.join(lacking)}, which protocol {protocol.name} searches; add it"
    elif strange := sorted(given - searched - folds):
        searches = ", ".join(sorted(searched))
        yield f"protocol {protocol.name} searches {searches}, not {', '.join(strange)}; remove the latter"
    else:
        yield from (fault for _, fault in recipe_faults(protocol.recipe(data, model, own, trial=False)))
