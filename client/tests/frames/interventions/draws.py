"""What a random pipeline draws: decided once, and the same again when it runs over changed inputs."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

Made = TypeVar("Made")
Step = Callable[["Draws", Any, Any], Any]
"""A step of a pipeline: the frame so far and the second table become the next frame."""


class Unfit(Exception):
    """A step that was drawn does not fit the frame."""


class Draws:
    """Draws that are recorded at first and replayed after `rewind`: types of columns may depend on values."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.folder = folder
        """Where a step may write a file."""
        self._rng = random.Random(seed)
        self._made: list[Any] = []
        self._next = 0

    def rewind(self) -> None:
        """Begin again: the next draws are those that were made."""
        self._next = 0

    def _draw(self, make: Callable[[], Made]) -> Made:
        if self._next == len(self._made):
            self._made.append(make())
        self._next += 1
        made: Made = self._made[self._next - 1]
        return made

    def one(self, choices: Sequence[Made]) -> Made:
        """One of these."""
        return self._draw(lambda: self._rng.choice(choices))

    def number(self, least: int, most: int) -> int:
        """A whole number."""
        return self._draw(lambda: self._rng.randint(least, most))

    def column(self, frame: Any) -> str:
        """A column of a frame."""
        return self._column(frame, ("",))

    def numeric(self, frame: Any) -> str:
        """A column of numbers."""
        return self._column(frame, ("int", "float", "uint", "bigint", "double"))

    def text(self, frame: Any) -> str:
        """A column of texts."""
        return self._column(frame, ("object", "string", "str"))

    def day(self, frame: Any) -> str:
        """A column of times."""
        return self._column(frame, ("datetime", "timestamp", "date"))

    def _column(self, frame: Any, types: tuple[str, ...]) -> str:
        def make() -> str:
            fitting = sorted(name for name, type_ in types_of(frame).items() if type_.startswith(types))
            if not fitting:
                raise Unfit(types)
            return self._rng.choice(fitting)

        return self._draw(make)


def types_of(frame: Any) -> dict[str, str]:
    """The columns of a frame with the names of their types, in small letters."""
    if hasattr(frame, "collect_schema"):
        return {name: str(type_).lower() for name, type_ in frame.collect_schema().items()}
    named = frame.dtypes.items() if hasattr(frame.dtypes, "items") else frame.dtypes
    return {str(name): str(type_).lower() for name, type_ in named}


def fit(condition: object) -> None:
    """Give a step up if it does not fit."""
    if not condition:
        raise Unfit
