"""Compressed lists of numbered paths: the paths of a whole baseline are too long for one shell command."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

Names = Sequence[str | Sequence[str]]
"""File names, or runs of names with consecutive numbers: [prefix, first number, last number, suffix]."""

_LAST_NUMBER = re.compile(r"(.*?)([0-9]+)([^0-9]*)")


def by_folder(paths: Iterable[str]) -> dict[str, list[str | list[str]]]:
    """Return paths by folder, in their order there, with each run of numbered names as one entry."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name)
    return {folder: list(_find_runs(names)) for folder, names in folders.items()}


def paths_of(folders: Mapping[str, Names]) -> Iterator[str]:
    """Yield the paths that `by_folder` has compressed."""
    for folder, names in folders.items():
        for name in names:
            yield from (
                f"{folder}/{one}" for one in ([name] if isinstance(name, str) else _expand_run(*name))
            )


def _expand_run(before: str, first: str, last: str, after: str) -> Iterator[str]:
    for number in range(int(first), int(last) + 1):
        yield f"{before}{number:0{len(first)}d}{after}"


def _find_runs(names: Iterable[str]) -> Iterator[str | list[str]]:
    """Yield names in order; neighbours whose equally long numbers rise by one become one run."""
    run: list[str] = []
    for name in names:
        matched = _LAST_NUMBER.fullmatch(name)
        if matched and run and _continues_run(run, *matched.groups()):
            run[2] = matched[2]
            continue
        yield from _finish_run(run)
        run = [matched[1], matched[2], matched[2], matched[3]] if matched else []
        if not matched:
            yield name
    yield from _finish_run(run)


def _continues_run(run: Sequence[str], before: str, number: str, after: str) -> bool:
    alike = (run[0], len(run[2]), run[3]) == (before, len(number), after)
    return alike and int(number) == int(run[2]) + 1


def _finish_run(run: list[str]) -> Iterator[str | list[str]]:
    """Yield a finished run; a run of one name becomes that name."""
    if run:
        yield run if run[1] != run[2] else f"{run[0]}{run[1]}{run[3]}"
