"""Names of files, folders and objects.

>>> name_file("s3a://lake//raw/users/")
Dataset(namespace='s3://lake', name='raw/users', schema_fields=(), facets={}, run_facets={})
>>> name_file("file:///data/a.csv").name
'/data/a.csv'
>>> name_file("/lake/orders/day=1/").name, name_file("/lake/orders/*/*.parquet").name
('/lake/orders', '/lake/orders')
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Union

from whence_client.events.datasets import Dataset

PathLike = Union[str, "os.PathLike[str]"]

_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss", "adl": "abfss", "wasb": "wasbs"}
_OBJECTS = frozenset(("s3", "gs", "abfss", "wasbs", "oss", "cos"))
"""Stores of objects, whose keys have no slash at their beginning."""
_SLASHES = re.compile("//+")
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)", re.DOTALL)
_FILE = r"[^/]*\.(?:csv|tsv|json|jsonl|ndjson|parquet|orc|avro|arrow|feather|ipc|xlsx?)(?:\.\w+)?$"
_PARTS = re.compile(rf"(?:/(?:(?!{_FILE})[^/=]+=[^/]*|\*\*?|\*(?:\.\w+)+))+$")
"""The end of the path of a table's partition, or of a pattern for all files of a folder."""
_DRIVE = re.compile(r"/?[A-Za-z]:[\\/]")


def name_file(path: PathLike, *, folder: PathLike | None = None, encoded: bool = True) -> Dataset:
    """The dataset at a path or URI. A relative path is below `folder`, the working directory if not given.

    A partition (`day=1`), or a pattern for all files of a folder, is a part of the table in its folder: that is the
    dataset. A file that is named is one of its own, and so is a pattern for some files. Links are not followed: the
    job's own spelling of a path is what its readers use. Credentials and queries of a URI are dropped. `encoded`:
    whether percent signs of a `file:` URI are escapes (RFC 3986), as for Python and Hadoop.
    """
    text = os.fspath(path)
    scheme, authority, rest = _split(text)
    if not scheme:
        return Dataset("file", _absolute(text, folder))
    if scheme == "file":
        namespace = "file" if authority in ("", "localhost") else f"file://{authority}"
        return Dataset(namespace, _trim(_unquote(rest) if encoded else rest))
    if scheme == "dbfs" and not authority:
        return Dataset("dbfs", _trim(rest))
    name = _trim(rest.partition("?")[0] if scheme in ("http", "https") else rest)
    name = name.lstrip("/") if scheme in _OBJECTS else name
    return Dataset(f"{scheme}://{_authority(scheme, authority)}", name or "/")


def common_folder(paths: Sequence[str]) -> str:
    """The only path, or the nearest folder around all of them; also of URIs.

    >>> common_folder(["/lake/orders/1.parquet", "/lake/orders/2.parquet"])
    '/lake/orders'
    """
    if len(paths) == 1:
        return paths[0]
    split = [path.split("/")[:-1] for path in paths]
    shared = next((depth for depth, parts in enumerate(zip(*split)) if len(set(parts)) > 1), min(map(len, split)))
    return "/".join(split[0][:shared]) or "/"


def is_location(text: str) -> bool:
    """Whether a text is a URI or an absolute path."""
    return bool(_URI.match(text) or text.startswith(("/", "file:", "dbfs:")) or _DRIVE.match(text))


def _split(text: str) -> tuple[str, str, str]:
    found = _URI.match(text)
    if found:
        scheme = found[1].lower()
        return _SCHEMES.get(scheme, scheme), found[2], found[3]
    for scheme in ("file", "dbfs"):  # Hadoop writes file:/data without an authority
        if text.startswith(f"{scheme}:/"):
            return scheme, "", text[len(scheme) + 1 :]
    return "", "", text


def _authority(scheme: str, text: str) -> str:
    """The host or bucket; a user's name and password are dropped, but a container of Azure is part of the name."""
    if "@" not in text:
        return text
    user, _, host = text.rpartition("@")
    return text if scheme in ("abfss", "wasbs") and ":" not in user else host


def _absolute(text: str, folder: PathLike | None) -> str:
    if _DRIVE.match(text):
        return PurePath(text.replace("\\", "/")).as_posix().rstrip("/")
    base = os.fspath(folder) if folder is not None else os.getcwd()
    joined = os.path.normpath(os.path.join(base, os.path.expanduser(text)))
    joined = joined.replace("\\", "/") if os.sep == "\\" else joined
    return _trim(joined)


def _trim(path: str) -> str:
    path = _SLASHES.sub("/", path)
    path = path[:-1] if len(path) > 1 and path.endswith("/") else path
    return (_PARTS.sub("", path) or path) if "=" in path or "*" in path else path


def _unquote(path: str) -> str:
    if "%" not in path:
        return path
    from urllib.parse import unquote

    return unquote(path)
