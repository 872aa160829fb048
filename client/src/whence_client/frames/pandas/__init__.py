"""Pandas: each frame carries the lineage of its columns from the calls that made it; what has no rule is announced."""

from whence_client.frames.pandas.hooks import capture

__all__ = ["capture"]
