"""Whence: ask where any number came from, and what breaks if it changes."""

from importlib.metadata import version

__version__ = version("whence")

__all__ = ["__version__"]
