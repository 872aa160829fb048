"""Files of Tableau: XML, by itself (`.twb`, `.tds`) or packed with extracts (`.twbx`, `.tdsx`)."""

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from whence.errors import ArtifactError

_LARGEST = 128 * 1024 * 1024
_PACKED = {".twbx": ".twb", ".tdsx": ".tds"}
_SUFFIXES = (".twb", ".tds", *_PACKED)
_TRUE, _FALSE = ".true...", ".false..."
"""Newer releases write a part twice, `_.fcp.FEATURE.true...relation` for themselves and `false` for older ones."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file: its path below the folder, its root element and its time."""

    path: str
    root: Element
    at: datetime


def read_documents(folder: Path) -> tuple[tuple[Document, ...], dict[str, str]]:
    """The files below a folder, or the one file, and why others are not read. Raises ArtifactError without any."""
    documents, flaws = list[Document](), dict[str, str]()
    for path in _paths(folder):
        name = path.relative_to(folder if folder.is_dir() else folder.parent).as_posix()
        try:
            at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            documents.append(Document(name, _parse(_content(path)), at))
        except (OSError, ArtifactError) as error:
            flaws[name] = error.reason if isinstance(error, ArtifactError) else f"it cannot be read: {error}"
    if not documents and not flaws:
        raise ArtifactError(str(folder), "there are no files of Tableau (*.twb, *.twbx, *.tds, *.tdsx) below it")
    return tuple(documents), flaws


def _paths(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
        return
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        yield from (Path(directory) / one for one in sorted(names) if one.lower().endswith(_SUFFIXES))


def _content(path: Path) -> bytes:
    suffix = path.suffix.lower()
    if suffix not in _PACKED:
        if path.stat().st_size > _LARGEST:
            raise ArtifactError(str(path), f"it has more than {_LARGEST >> 20} MiB")
        return path.read_bytes()
    try:
        with zipfile.ZipFile(path) as packed:
            inner = [one for one in packed.infolist() if one.filename.lower().endswith(_PACKED[suffix])]
            if not inner:
                raise ArtifactError(str(path), f"there is no {_PACKED[suffix]} in it")
            if inner[0].file_size > _LARGEST:
                raise ArtifactError(str(path), f"{inner[0].filename} has more than {_LARGEST >> 20} MiB")
            return packed.read(inner[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise ArtifactError(str(path), f"it cannot be unpacked: {error}") from None


def _parse(content: bytes) -> Element:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(content, forbid_dtd=True)
    except ParseError as error:
        raise ArtifactError("", f"it is no XML: {error}") from None
    except (DefusedXmlException, ValueError, RecursionError) as error:
        raise ArtifactError("", f"it is refused: {' '.join(str(error).split())}") from None
    if root.tag not in ("workbook", "datasource"):
        raise ArtifactError("", f"it is no file of Tableau: its root is {root.tag}")
    for element in root.iter():
        _choose_newer(element)
    return root


def _choose_newer(element: Element) -> None:
    names = {child.tag.partition(_TRUE)[2] for child in element if _TRUE in child.tag}
    for child in list(element):
        if _FALSE in child.tag and child.tag.partition(_FALSE)[2] in names:
            element.remove(child)
        elif _TRUE in child.tag or _FALSE in child.tag:
            child.tag = child.tag.rpartition("...")[2]
