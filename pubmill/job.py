"""The program of rules: `python -m pubmill.job STAGE --recipe JSON ...` calls `main` of pubmill/jobs/STAGE.py
with its parameters read from the command line:

    def main(recipe: CountingRecipe, part: Path, output: Path) -> None: ...

takes `--recipe JSON --part PATH --output PATH`.
"""

import inspect
import sys
from argparse import Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pubmill import jobs
from pubmill.errors import PubmillError, run
from pubmill.recipes.reading import read


def start() -> None:
    """Run the stage that the first word of the command line names."""
    stage, known = sys.argv[1:2], [one.name for one in iter_modules(jobs.__path__)]
    if not stage or stage[0] not in known:
        raise PubmillError(f"pubmill.job: the first word must be a stage: {', '.join(known)}")
    del sys.argv[1]
    module = import_module(f"{jobs.__name__}.{stage[0]}")
    program(module.main, module.__doc__)()


def program(main: Callable[..., None], described: str | None = None) -> Callable[[], None]:
    """Return a function that reads the parameters of `main` from the command line and calls it.

    A parameter is an option of its name (`save_minutes`: --save-minutes; `input_`: --input), which may be
    left out if it has a default. Its type decides how it is read: a recipe, from JSON text or a JSON file;
    `Literal`, one of these words; `list[Path]`, one or more; `dict[str, Path]`, NAME=PATH, repeated; `bool`,
    a flag; or `Path`, `str`, `int` or `float`. `Annotated[TYPE, "..."]` describes it. `described`: the
    program's help, by default the docstring of the module of `main`.
    """

    def parse_and_call() -> None:
        text = described or sys.modules[main.__module__].__doc__
        parser = ArgumentParser(description=text, formatter_class=RawDescriptionHelpFormatter)
        hints = get_type_hints(main, include_extras=True)
        for name, parameter in inspect.signature(main).parameters.items():
            kind, *help_ = get_args(hints[name]) if get_origin(hints[name]) is Annotated else [hints[name]]
            required = parameter.default is parameter.empty
            parser.add_argument(
                f"--{name.rstrip('_').replace('_', '-')}",
                dest=name,
                required=required,
                default=None if required else parameter.default,
                help=help_[0] if help_ else None,
                **_reading(kind),
            )
        main(**vars(parser.parse_args()))

    return parse_and_call


def _reading(kind: Any) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` for a parameter of this type."""
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is Literal:
        return {"choices": get_args(kind)}
    if get_origin(kind) is list:
        return {"type": get_args(kind)[0], "nargs": "+"}
    if get_origin(kind) is dict:
        return {"action": NamedPaths, "metavar": "NAME=PATH"}
    if kind is bool:
        return {"action": "store_true"}
    if isinstance(kind, type) and is_dataclass(kind):
        return {"type": lambda argument: read(kind, argument), "metavar": kind.__name__}
    return {"type": kind}


class NamedPaths(Action):
    """Collects NAME=PATH in a mapping; each name may stand once."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Add one path."""
        name, equals, path = values.partition("=")
        known = getattr(namespace, self.dest) or {}
        if not equals or not path or name in known:
            raise PubmillError(f"{option_string} {values}: expected NAME=PATH with each name once")
        setattr(namespace, self.dest, {**known, name: Path(path)})


def check_alternatives(**values: object) -> None:
    """Raise a `PubmillError` if more than one of these parameters has a value."""
    options = [f"--{name.replace('_', '-')}" for name, value in values.items() if value is not None]
    if len(options) > 1:
        raise PubmillError(f"{' and '.join(options)} exclude each other; give one of them")


if __name__ == "__main__":
    run(start)
