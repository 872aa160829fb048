"""All statements, in the order in which they run."""

from nightly.spark_battery import frames, selects, writes
from nightly.spark_battery.truth import IO, STATEMENTS, Statement, make_inputs

__all__ = ["IO", "STATEMENTS", "Statement", "frames", "make_inputs", "selects", "writes"]
