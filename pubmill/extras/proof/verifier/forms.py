"""Comparison of what an archive shows with what was recomputed, and the forms of what is only stated."""

from __future__ import annotations

import math
import re
from typing import Any, NoReturn

from pubmill.extras.proof.verifier.container import RefusedError

Json = dict[str, Any]
NAME = "[A-Za-z0-9_][A-Za-z0-9_.@+=,-]*"
TABLE = re.compile(f"{NAME}/table[0-9]+")
RECORD = re.compile(f"runs/(?:{NAME}/){{4}}final/seed-[0-9]+[.]json")
HASH = re.compile("[0-9a-f]{64}")
TEXT_OR_NONE = (str, None)


class Stated:
    """Something that is shown but not recomputed, of this form."""

    def __init__(self, form: Any) -> None:
        self.form = form


def refuse(where: str, expected: object, shown: object) -> NoReturn:
    raise RefusedError(f"{where}: recomputed {expected!r:.80}, shown {shown!r:.80}")


def check_form(value: Any, form: Any, where: str) -> None:
    """Refuse a value of another form. A form is a type (`object` is anything, `float` any number), None, a
    pattern of text, a tuple of alternatives, a list with the form of its parts, or a dict of fields: one that
    ends with "?" may be absent, and a dict with the key "*" has any names."""
    if isinstance(form, tuple):
        if value is not None or None not in form:
            kinds = [one for one in form if one is not None]
            nested = [one for one in kinds if isinstance(one, (dict, list)) and type(value) is type(one)]
            check_form(value, (nested or kinds)[0], where)
    elif isinstance(form, re.Pattern):
        if not isinstance(value, str) or not form.fullmatch(value):
            raise RefusedError(f"{where}: expected {form.pattern}, found {value!r:.80}")
    elif isinstance(form, list):
        check_form(value, list, where)
        for number, part in enumerate(value):
            check_form(part, form[0], f"{where} {number + 1}")
    elif isinstance(form, dict):
        check_form(value, dict, where)
        fields = dict.fromkeys(value, form["*"]) if "*" in form else form
        known = {name.rstrip("?") for name in fields}
        if not {name for name in fields if not name.endswith("?")} <= value.keys() <= known:
            raise RefusedError(f"{where}: expected the fields {sorted(fields)}, found {sorted(value)}")
        for name, part in value.items():
            check_form(part, fields[name] if name in fields else fields[f"{name}?"], f"{where}, {name}")
    elif form is not object and type(value) is not form and not (form is float and type(value) is int):
        raise RefusedError(f"{where}: expected {getattr(form, '__name__', form)}, found {value!r:.80}")


def same(found: Any, shown: Any, where: str) -> None:
    """Refuse a shown value that is not what was recomputed, with the same fields; floats may differ in their
    last bits."""
    if isinstance(found, Stated):
        check_form(shown, found.form, where)
    elif isinstance(found, dict):
        if not isinstance(shown, dict):
            refuse(where, found, shown)
        if odd := sorted(found.keys() ^ shown.keys()):
            raise RefusedError(f"{where}: its fields are not those recomputed: {', '.join(odd):.80}")
        for key, value in found.items():
            same(value, shown[key], f"{where}, {key}")
    elif isinstance(found, (list, tuple)):
        if not isinstance(shown, list) or len(found) != len(shown):
            raise RefusedError(f"{where}: recomputed {len(found)} parts, shown {shown!r:.80}")
        for number, (one, other) in enumerate(zip(found, shown)):
            same(one, other, f"{where} {number + 1}")
    elif type(found) in (int, float) and type(shown) in (int, float):
        if not math.isclose(
            found, shown, rel_tol=1e-7 if float in (type(found), type(shown)) else 0, abs_tol=1e-9
        ):
            refuse(where, found, shown)
    elif type(found) is not type(shown) or found != shown:
        refuse(where, found, shown)
