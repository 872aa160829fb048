"""Compaction of the archive: small files of one day become one."""

import time
from collections import Counter
from itertools import groupby

from pyspark.sql import SparkSession

from whence.derive.archive.source import read_files
from whence.derive.archive.table import open_archive
from whence.derive.archive.write import write_files
from whence.derive.delta.parquet import FILE_BYTES
from whence.derive.reading.records import COPY

MIN_COMPACTED_FILES = 8
"""The number of small files of one day that are worth merging into one."""


def compact_archive(session: SparkSession, uri: str) -> None:
    """Merge the many small files of a past day into one, and delete unreferenced files.

    Raises TableBusyError if another archiver commits meanwhile.
    """
    archive = open_archive(uri)
    files = archive.files()
    newest = max((file.day for file in files), default="")
    small = [file for file in files if file.size < FILE_BYTES // 2 and file.day < newest]
    counts = Counter(file.day for file in small)
    for day, crowd in groupby(sorted(small, key=lambda file: (file.day, file.first)), key=lambda file: file.day):
        if counts[day] >= MIN_COMPACTED_FILES:
            old = list(crowd)
            # One partition, so that one task writes them in order.
            new = write_files(read_files(session, uri, old, COPY).coalesce(1), uri)
            archive = archive.exchange(old, new, time.time_ns() // 1_000_000)
    archive.vacuum()
