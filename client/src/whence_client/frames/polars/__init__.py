"""Polars: the plan of a lazy frame, read exactly, and hooks where frames are read, collected and written."""

from whence_client.frames.polars.hooks import capture

__all__ = ["capture"]
