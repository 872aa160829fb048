"""The oracle: what a set of events means, by the simplest possible code. It imports nothing of `whence`."""

from oracle.lines import comparable, dump, unjudged
from oracle.reading import STATES, Reading, read

__all__ = ["STATES", "Reading", "comparable", "dump", "read", "unjudged"]
