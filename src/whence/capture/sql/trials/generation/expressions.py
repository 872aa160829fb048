"""Texts that fit a regular expression, and texts that nearly do."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_MOST: Final = 4
_SIGNS: Final = frozenset("[\\^$+*(|{")
_ESCAPED: Final = {"d": ["7", "0"], "w": ["w", "_"], "s": [" "], "D": ["x"], "W": ["-"], "S": ["x"], "t": ["\t"]}
_EMPTY: Final = frozenset("bBAzZ")
_MOST_TIMES: Final = 40


def texts_of(expression: str) -> Iterator[str]:
    """Texts for what may be a regular expression; none for another text, or for one that cannot be read."""
    if not _SIGNS & set(expression):
        return
    try:
        re.compile(_named(expression))
        found = _Reader(expression).branches()
    except (re.error, IndexError, ValueError):
        return
    for text in found[:_MOST]:
        yield text
    for text in found[:2]:
        yield from (text[:-1], text[1:], f"{text}x", f"{text}7", f" {text}", text.swapcase())


@dataclass(slots=True)
class _Reader:
    """Reads an expression from `place` on. Each part is a few texts that fit it, the usual one first."""

    text: str
    place: int = 0

    def branches(self) -> list[str]:
        found = self._sequence()
        while self._peek() == "|":
            self.place += 1
            found = [*found[:2], *self._sequence()]
        return found[: 2 * _MOST]

    def _sequence(self) -> list[str]:
        found = [""]
        while self._peek() not in ("", "|", ")"):
            part = self._repeated(self._part())
            found = [one + other for one in found for other in part][: 2 * _MOST]
        return found

    def _part(self) -> list[str]:
        sign = self._next()
        match sign:
            case "(":
                return self._group()
            case "[":
                return self._class()
            case "\\":
                letter = self._next()
                return [""] if letter in _EMPTY else _ESCAPED.get(letter, [letter])
            case ".":
                return ["q", "-"]
            case "^" | "$":
                return [""]
            case _:
                return [sign]

    def _group(self) -> list[str]:
        if self._peek() == "?":
            end = min(place for sign in ":)" if (place := self.text.find(sign, self.place)) >= 0)
            is_empty, self.place = self.text[end] == ")", end + 1
            if is_empty:  # flags alone
                return [""]
        found = self.branches()
        self._next()
        return found

    def _class(self) -> list[str]:
        is_other = self._peek() == "^"
        self.place += is_other
        end = self.text.index("]", self.place + 1)
        while self.text[end - 1] == ":":  # the end of [:alpha:]
            end = self.text.index("]", end + 1)
        inside, self.place = self.text[self.place : end], end + 1
        wanted = re.compile(f"[{'^' if is_other else ''}{_named(inside)}]")
        return [one for one in "a7A0-_. x@/ZzQ!é" if wanted.fullmatch(one)][:2] or [inside[0]]

    def _repeated(self, part: Sequence[str]) -> list[str]:
        match self._peek():
            case "*" | "?" as sign:
                self.place += 1
                found = [*part[:1], "", *(one * 2 for one in part[:1] if sign == "*")]
            case "+":
                self.place += 1
                found = [*part[:1], *(one * 2 for one in part), *part[1:2]]
            case "{" if counts := re.match(r"\{(\d+)(,?)(\d*)\}", self.text[self.place :]):
                self.place += counts.end()
                least = min(int(counts[1]), _MOST_TIMES)
                most = min(int(counts[3] or least + (1 if counts[2] else 0)), _MOST_TIMES)
                found = [one * times for times in dict.fromkeys((least, most)) for one in part]
            case _:
                return list(part)
        if self._peek() in ("?", "+"):  # how it searches says nothing of what fits
            self.place += 1
        return found

    def _peek(self) -> str:
        return self.text[self.place : self.place + 1]

    def _next(self) -> str:
        sign = self.text[self.place]
        self.place += 1
        return sign


def _named(text: str) -> str:
    """An expression without the names that POSIX has for classes."""
    for name, signs in (
        ("alpha", "a-zA-Z"),
        ("digit", "0-9"),
        ("alnum", "a-zA-Z0-9"),
        ("space", " "),
        ("upper", "A-Z"),
    ):
        text = text.replace(f"[:{name}:]", signs)
    return text.replace("[:lower:]", "a-z")
