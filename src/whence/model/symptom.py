"""What is wrong at a node whose cause is asked for."""

from enum import StrEnum
from typing import Literal


class Symptom(StrEnum):
    """What is wrong at the node: missing values, the number of rows, lateness, or the values themselves."""

    NULLS = "nulls"
    VOLUME = "volume"
    LATE = "late"
    VALUES = "values"


SymptomWord = Literal["nulls", "volume", "late", "values"]
"""The symptoms, as people write them."""
