r"""A model of how TeX expands macros, as far as `cells.tex` uses it.

It has definitions with delimited parameters, conditions, `\csname`, `\expandafter`, `\detokenize`, `\string`.
Anything else that is not defined is an error, as in TeX.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple


class Token(NamedTuple):
    """A control sequence (`kind` empty), or a character with its category: `{`, `}`, `#`, space, `a`, `.`."""

    text: str
    kind: str = ""


class Macro(NamedTuple):
    parameters: tuple[Token, ...]
    body: tuple[Token, ...]
    protected: bool


SPACE = Token(" ", " ")
BEGIN, END = Token("{", "{"), Token("}", "}")


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text by the category codes of plain TeX and LaTeX."""
    found: list[Token] = []
    for line in text.split("\n"):
        rest, ended = line.lstrip(" "), False
        if not rest:
            continue
        while rest:
            if name := re.match(r"\\([a-zA-Z]+) *", rest):
                found.append(Token(name[1]))
                rest, ended = rest[name.end() :], True
                continue
            ended = False
            if rest[0] == "%":
                ended = True
                break
            if rest[0] == "\\":
                found.append(Token(rest[1:2] or " "))
                rest = rest[2:]
                continue
            found.append(_character(rest[0]))
            rest = rest[1:].lstrip(" ") if rest[0] == " " else rest[1:]
        if not ended:
            found.append(SPACE)
    return found


def _character(one: str) -> Token:
    kind = one if one in "{}#$ " else "a" if one.isalpha() else "."
    return Token(one, kind)


class Tex:
    """A state of TeX. `output`: the typeset characters; `errors`: its messages."""

    def __init__(self) -> None:
        self.macros: dict[str, Macro] = {"empty": Macro((), (), False)}
        self.todo: list[Token] = []
        self.errors: list[str] = []
        self.relaxed = {"relax"}
        self.conditions = 0

    def run(self, text: str) -> str:
        """Execute a text and return what it typesets."""
        self.todo = tokens(text)[::-1]
        found = []
        while self.todo:
            if one := self._next_expanded():
                found.append(self._execute(one))
        assert self.conditions == 0, "a condition is not closed"
        return "".join(found)

    def expanded(self, text: str) -> str:
        r"""Return a text fully expanded, as `\edef` does; protected macros stay."""
        self.todo = tokens(text)[::-1]
        return "".join(f"\\{one.text} " if not one.kind else one.text for one in self._expand_all(self.todo))

    def _execute(self, one: Token) -> str:
        if one.kind:
            return "" if one.kind in "{}" else one.text
        match one.text:
            case "def" | "edef":
                self._define(one.text == "edef", False)
            case "protected":
                after = self.todo.pop()
                assert after.text == "def", after
                self._define(False, True)
            case "errhelp":
                self._group()
            case "errmessage":
                self.errors.append(_text(self._expand_all(self._group()[::-1])))
            case name if name in self.relaxed:
                pass
            case "ifmmode":
                self._condition(False)
            case _:
                self.errors.append(f"undefined: \\{one.text}")
        return ""

    def _define(self, expands: bool, protected: bool) -> None:
        name, parameters = self.todo.pop(), []
        if name.text == "csname":
            name = self._csname()
        while self.todo[-1] != BEGIN:
            parameters.append(self.todo.pop())
        body = self._group()
        if expands:
            body = self._expand_all(body[::-1])
        self.macros[name.text] = Macro(tuple(parameters), tuple(body), protected)

    def _group(self) -> list[Token]:
        """Take a group, and return what is in it."""
        while self.todo[-1] == SPACE or self.todo[-1] == Token("expandafter"):
            if self.todo.pop() == Token("expandafter"):
                self._expand_after()
        assert self.todo.pop() == BEGIN
        depth, found = 1, list[Token]()
        while True:
            one = self.todo.pop()
            depth += {"{": 1, "}": -1}.get(one.kind, 0)
            if not depth:
                return found
            found.append(one)

    def _expand_all(self, todo: list[Token]) -> list[Token]:
        before, self.todo = self.todo if todo is not self.todo else [], todo
        found = []
        while self.todo:
            found.append(self._next_expanded(keeps_protected=True))
        self.todo = before
        return [one for one in found if one]

    def _next_expanded(self, keeps_protected: bool = False) -> Token | None:
        """Take tokens and expand them; return the first that cannot be expanded."""
        while self.todo:
            one = self.todo.pop()
            kept = keeps_protected and one.text in self.macros and self.macros[one.text].protected
            if one.kind or kept or not self._expand(one):
                return one
        return None

    def _expand(self, one: Token) -> bool:
        """Expand a control sequence; return whether it could be."""
        if one.text in self.macros:
            self._call(self.macros[one.text])
            return True
        match one.text:
            case "expandafter":
                first = self.todo.pop()
                self._expand_after()
                self.todo.append(first)
            case "csname":
                name = self._csname()
                if name.text not in self.macros:
                    self.relaxed.add(name.text)
                self.todo.append(name)
            case "ifcsname":
                self._condition(self._csname().text in self.macros)
            case "ifx":
                first, second = self.todo.pop(), self.todo.pop()
                self._condition(self._meaning(first) == self._meaning(second))
            case "if":
                left, right = self._next_expanded(), self._next_expanded()
                assert left and right
                self._condition(left == right or (not left.kind and not right.kind))
            case "else":
                self._skip(stops_at_else=False)
            case "fi":
                self.conditions -= 1
            case "detokenize":
                self.todo += [_other(two) for two in _text(self._group())][::-1]
            case "string":
                two = self.todo.pop()
                self.todo += [_other(three) for three in _text([two]).rstrip(" ")][::-1]
            case _:
                return False
        return True

    def _expand_after(self) -> None:
        """Expand the next token once."""
        one = self.todo.pop()
        if one.kind or not self._expand(one):
            self.todo.append(one)

    def _meaning(self, one: Token) -> object:
        return (
            one
            if one.kind
            else self.macros.get(one.text, "relax" if one.text in self.relaxed else "undefined")
        )

    def _call(self, macro: Macro) -> None:
        arguments, place = list[list[Token]](), 0
        while place < len(macro.parameters):
            one = macro.parameters[place]
            if one.kind == "#":
                end = macro.parameters[place + 2 : place + 3]
                arguments.append(self._delimited(end[0]) if end and end[0].kind != "#" else self._argument())
                place += 3 if end and end[0].kind != "#" else 2
            else:
                assert self.todo.pop() == one, "use does not match the definition"
                place += 1
        self.todo += _filled(macro.body, arguments)[::-1]

    def _argument(self) -> list[Token]:
        while self.todo[-1] == SPACE:
            self.todo.pop()
        return self._group() if self.todo[-1] == BEGIN else [self.todo.pop()]

    def _delimited(self, end: Token) -> list[Token]:
        found = []
        while self.todo[-1] != end:
            found.append(self.todo.pop())
        self.todo.pop()
        return found

    def _csname(self) -> Token:
        found = []
        while (one := self._next_expanded()) != Token("endcsname"):
            assert one and one.kind, f"{one} in a name"
            found.append(one.text)
        return Token("".join(found))

    def _condition(self, holds: bool) -> None:
        self.conditions += 1
        if not holds:
            self._skip(stops_at_else=True)

    def _skip(self, stops_at_else: bool) -> None:
        depth = 0
        while True:
            one = self.todo.pop()
            if one.kind:
                continue
            if one.text in ("ifx", "if", "ifcsname", "ifmmode"):
                depth += 1
            elif one.text == "fi":
                if not depth:
                    self.conditions -= 1
                    return
                depth -= 1
            elif one.text == "else" and not depth and stops_at_else:
                return


def _other(character: str) -> Token:
    return Token(character, " " if character == " " else ".")


def _text(found: Sequence[Token]) -> str:
    return "".join(one.text if one.kind else f"\\{one.text} " for one in found)


def _filled(body: Sequence[Token], arguments: Sequence[Sequence[Token]]) -> list[Token]:
    found, place = list[Token](), 0
    while place < len(body):
        if body[place].kind == "#":
            place += 1
            found += arguments[int(body[place].text) - 1]
        else:
            found.append(body[place])
        place += 1
    return found
