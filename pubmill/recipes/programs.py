"""Programs of rules: a function whose parameters are read from the command line.

    def main(recipe: CountingRecipe, part: Annotated[Path, "corpus part to read"], output: Path) -> None: ...

    run(program(main))

takes `--recipe JSON --part PATH --output PATH`. The docstring of the program's module is its help.
"""

import inspect
from argparse import REMAINDER, Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import is_dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pubmill.errors import PubmillError
from pubmill.recipes.reading import read


def program(main: Callable[..., None]) -> Callable[[], None]:
    """Return a function that reads the parameters of `main` from the command line and calls it.

    A parameter is an option of its name (`save_minutes`: --save-minutes; `input_`: --input), which may be
    left out if it has a default. Its type decides how it is read: a recipe, from JSON text or a JSON file;
    `Literal`, one of these words; `list[Path]`, one or more; `dict[str, Path]`, NAME=PATH, repeated; `bool`,
    a flag; or `Path`, `str`, `int` or `float`. `*rest: str` takes all words from the first that is no
    option. `Annotated[TYPE, "..."]` describes it.
    """

    def start() -> None:
        described = main.__globals__["__doc__"]
        parser = ArgumentParser(description=described, formatter_class=RawDescriptionHelpFormatter)
        hints = get_type_hints(main, include_extras=True)
        rest = ""
        for parameter in inspect.signature(main).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                rest = parameter.name
                parser.add_argument(rest, nargs=REMAINDER)
            else:
                _add(parser, parameter, hints[parameter.name])
        values = vars(parser.parse_args())
        main(*(values.pop(rest) if rest else ()), **values)

    return start


def _add(parser: ArgumentParser, parameter: inspect.Parameter, hint: Any) -> None:
    kind, described = (hint.__origin__, hint.__metadata__[0]) if get_origin(hint) is Annotated else (hint, "")
    required = parameter.default is parameter.empty
    parser.add_argument(
        f"--{parameter.name.rstrip('_').replace('_', '-')}",
        dest=parameter.name,
        required=required,
        default=None if required else parameter.default,
        help=described or None,
        **_reading(kind),
    )


def _reading(kind: Any) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` for a parameter of this type."""
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is Literal:
        return {"choices": get_args(kind)}
    if get_origin(kind) is list:
        return {"type": get_args(kind)[0], "nargs": "+"}
    if get_origin(kind) is dict:
        return {"action": NamedPaths, "type": str, "metavar": "NAME=PATH"}
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
