"""How much one column shows of the values of another: grades, ordered."""

from enum import IntEnum
from typing import Literal, NamedTuple, Self, cast

GradeWord = Literal["none", "influenced", "statistic", "partial", "pseudonymous", "full"]


class Grade(IntEnum):
    """How much a column shows of the values of a sensitive one, the least first.

    No grade claims anonymity: a statistic over a group of one row is a value, and a hash of a telephone number is
    reversed by trying all numbers.
    """

    NONE = 0
    INFLUENCED = 1
    """The values only decide which rows there are, or which of several other values is taken."""
    STATISTIC = 2
    """A number about many values: a sum, a mean, a count."""
    PARTIAL = 3
    """A part of each value: its beginning, its month, its rounded amount."""
    PSEUDONYMOUS = 4
    """Something else for each value, equal for equal values: a hash, a cipher text, a token. Still personal data."""
    FULL = 5
    """The values themselves, or what they can be computed from."""

    @property
    def word(self) -> GradeWord:
        """The grade as answers name it."""
        return cast("GradeWord", self.name.lower())


class Disclosure(NamedTuple):
    """What is shown at most. `assumed`: how the values pass was not read, so it may be less."""

    grade: Grade
    assumed: bool = False

    def and_then(self, other: Self) -> "Disclosure":
        """What is left after two steps."""
        return Disclosure(min(self.grade, other.grade), self.assumed or other.assumed)


UNKNOWN = Disclosure(Grade.FULL, assumed=True)
"""Of a way that was not read: it may show everything."""
