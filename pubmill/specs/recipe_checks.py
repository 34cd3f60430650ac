"""Check that every run that a protocol allows has a valid recipe, and locate the part at fault."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from pubmill.metrics import dev_scores
from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.problems import dotted_key, problem_text
from pubmill.recipes.reading import adapter
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.protocol_specs import ProtocolSpec
from pubmill.specs.strict_yaml import Faults, Location

Run = tuple[DatasetSpec, str, str]
"""Dataset, model and setting."""


def faults_of_recipes(protocol: ProtocolSpec, datasets: Mapping[str, DatasetSpec]) -> Faults:
    """Yield the location and message of each fault in the recipes of a protocol; each location once. As every
    start of Snakemake loads the specs, runs to which the same parts apply are checked once."""
    yield from _metric_faults(protocol, datasets)
    seen, blamed = set(), set()
    for run in _possible_runs(protocol, datasets):
        data, model, setting = run
        parts = (*protocol.applied(*run), "", *protocol.applied(data, model, protocol.choosing(setting)))
        what = (data.kind, setting, protocol.fold_of(data.name) is None, parts)
        if what in seen:
            continue
        seen.add(what)
        for place, fault in _run_faults(protocol, run):
            if place not in blamed:
                blamed.add(place)
                yield place, f"on {data.kind} (such as {data.name}), setting {setting}: {fault}"


def _metric_faults(protocol: ProtocolSpec, datasets: Mapping[str, DatasetSpec]) -> Faults:
    """Yield each override whose metric is no dev score of a dataset that it applies to."""
    for name, one in protocol.overrides.items():
        for data in datasets.values() if one.metric else ():
            known = dev_scores(data.kind, data.task)
            if one.fits(data) and data.name in (one.datasets or datasets) and one.metric not in known:
                fault = f"{data.name} has no dev score {one.metric}; it has {', '.join(known)}"
                yield ("overrides", name, "metric"), fault
                break


def _possible_runs(protocol: ProtocolSpec, datasets: Mapping[str, DatasetSpec]) -> Iterator[Run]:
    """Yield one run for every combination of the protocol's parts that can apply; the model "" stands for
    models that the protocol does not name."""
    overrides = protocol.overrides.values()
    named = {name for override in overrides for name in override.datasets or ()}
    like: dict[Any, DatasetSpec] = {}
    for data in datasets.values():
        alone = data.name if data.name in named else protocol.fold_of(data.name) is not None
        like.setdefault((data.kind, data.task, alone), data)
    models = dict.fromkeys(("", *(name for override in overrides for name in override.models or ())))
    for data in like.values():
        for setting, spec in protocol.settings.items():
            if spec.fits(data):
                yield from ((data, model, setting) for model in models)


def _run_faults(protocol: ProtocolSpec, run: Run) -> Faults:
    data = run[0]
    points = list(protocol.points(*run).values())
    steps = {"stop_after": 1} if protocol.fold_of(data.name) else {}
    final = protocol.recipe(*run, trial=False)
    if both := sorted(final.keys() & {key for point in points for key in point}):
        place = _source_location(protocol, run, both[0])
        yield place, f"the search also decides {', '.join(both)}; remove one"
        return
    tried = [protocol.recipe(*run, trial=True) | point for point in points]
    for values in [*tried, *({**final, **point, **steps} for point in points or [{}])]:
        for key, fault in recipe_faults(values):
            source = _source_location(protocol, run, key) if key else None
            yield source or _combination_location(protocol, run, values), fault


def recipe_faults(values: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return (key, message) for each error in a recipe's values; the key is "" where several contradict."""
    faults: list[tuple[str, str]] = []
    try:
        adapter(FinetuningRecipe).validate_python(values)
    except ValidationError as error:
        for problem in error.errors():
            if place := problem["loc"]:
                text = problem_text(problem, FinetuningRecipe)
                faults.append((str(place[0]), f"{dotted_key(place)}: {text}"))
            else:
                faults.append(("", problem["msg"].removeprefix("Value error, ")))
    return faults


def _source_location(protocol: ProtocolSpec, run: Run, key: str) -> Location:
    """Location of the part of the protocol that sets the final value of a key."""
    data, model, setting = run
    applied = protocol.applied(*run)
    choosing = protocol.applied(data, model, protocol.choosing(setting))
    parts: list[tuple[Location, Mapping[str, object]]] = [
        (("settings", setting, "values"), protocol.settings[setting].values),
        *((("overrides", name, "values"), one.values) for name, one in reversed(applied.items())),
        *((("overrides", name, "grid"), one.grid or {}) for name, one in reversed(choosing.items())),
        (("search", "grid"), protocol.search.grid if protocol.search else {}),
    ]
    return next(((*at, key) for at, values in parts if key in values), ("hyperparameters", key))


def _combination_location(protocol: ProtocolSpec, run: Run, values: Mapping[str, object]) -> Location:
    """Location of the setting or override whose removal makes the values valid; by default the setting."""
    setting = run[2]
    parts = [("settings", setting, protocol.settings[setting].values)]
    parts += [("overrides", name, override.values) for name, override in protocol.applied(*run).items()]
    for kind, name, given in reversed(parts):
        if given and not recipe_faults({key: value for key, value in values.items() if key not in given}):
            return (kind, name)
    return ("settings", setting)
