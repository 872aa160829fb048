"""The kinds of keys whose derived rows are to be recomputed."""

from enum import IntEnum


class DirtyKey(IntEnum):
    """What is to be settled again."""

    RUN = 0
    DECLARATION = 1
    ALIAS = 2
    LIFE = 3
