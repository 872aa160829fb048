"""Patterns for paths, such as `data/*.csv`: the files of one read, each a dataset, or the folder around many."""

from __future__ import annotations

import glob

from whence_client.naming.files import common_folder

_MOST_FILES = 16
"""Files of one read that are datasets of their own: of more it is their folder, as in the capture of Spark."""


def folder_of(path: str) -> str:
    """The folder whose folders a pattern goes through, as those of partitions; other paths as they are.

    >>> folder_of("lake/*/*.parquet"), folder_of("lake/a*.csv")
    ('lake', 'lake/a*.csv')
    """
    parts = path.split("/")
    place = next((at for at, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return "/".join(parts[:place]) if place < len(parts) - 1 else path


def files_of(path: str) -> list[str]:
    """The files of a pattern on this machine; other paths as they are."""
    folder = folder_of(path)
    return sorted(glob.glob(folder)) or [folder] if glob.has_magic(folder) else [folder]


def limit_files(paths: list[str]) -> list[str]:
    """The same paths, or the folder around them if they are many."""
    return paths if len(paths) <= _MOST_FILES else [common_folder(paths)]
