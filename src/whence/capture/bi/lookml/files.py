"""The files of a LookML project: LookML in the syntax of `.lkml`, dashboards in YAML."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json

_LARGEST = 16 * 1024 * 1024
_OLD = "it is LookML in the old YAML syntax, which is not read: convert the project to .lkml"
DASHBOARD = ".dashboard.lookml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project as it is written. `lookml` and `dashboards` are by path; `flaws`: why a file is not read."""

    lookml: Mapping[str, Json]
    dashboards: Mapping[str, tuple[Json, ...]]
    flaws: Mapping[str, str]
    at: datetime

    @property
    def name(self) -> str:
        """The name in the manifest; empty if there is none."""
        return next((str(one["project_name"]) for one in self.lookml.values() if one.get("project_name")), "")

    @property
    def constants(self) -> Mapping[str, str]:
        """The values of the constants in the manifest."""
        listed = [constant for one in self.lookml.values() for constant in one.get("constants") or ()]
        return {str(one["name"]): str(one.get("value", "")) for one in listed}


def read_texts(folder: Path) -> tuple[dict[str, str], dict[str, str], datetime]:
    """The texts of a project by path, why others are not read, and the time of the newest. Raises ArtifactError."""
    texts, flaws, newest = dict[str, str](), dict[str, str](), 0.0
    for path in _paths(folder):
        name = path.relative_to(folder).as_posix()
        try:
            newest = max(newest, path.stat().st_mtime)
            texts[name] = _text(path)
        except (OSError, UnicodeDecodeError, ValueError) as error:
            flaws[_printable(name)] = f"it cannot be read: {error}"
    if not texts and not flaws:
        raise ArtifactError(str(folder), "there are no files of LookML (*.lkml, *.dashboard.lookml) below it")
    return texts, flaws, datetime.fromtimestamp(newest, UTC)


def read_project(texts: Mapping[str, str], flaws: Mapping[str, str], at: datetime) -> Project:
    """The project in texts."""
    lookml, dashboards, broken = dict[str, Json](), dict[str, tuple[Json, ...]](), dict(flaws)
    for path, text in sorted(texts.items()):
        try:
            if path.endswith(DASHBOARD):
                dashboards[path] = _dashboards(text)
            elif path.endswith(".lkml"):
                lookml[path] = _lookml(text)
            else:
                broken[path] = _OLD
        except ArtifactError as error:
            broken[path] = error.reason
    return Project(lookml=lookml, dashboards=dashboards, flaws=broken, at=at)


def _paths(folder: Path) -> Iterator[Path]:
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(names):
            if PurePosixPath(name).suffix in (".lkml", ".lookml"):
                yield Path(directory) / name


def _text(path: Path) -> str:
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"it has more than {_LARGEST >> 20} MiB")
    return path.read_text("utf-8-sig")


def _check_blocks(text: str) -> None:
    """Raises ArtifactError for a block that ends twice: lkml would leave out all that comes after it."""
    from lkml.lexer import Lexer
    from lkml.tokens import BlockEndToken, BlockStartToken

    depth = 0
    for token in Lexer(text).scan():
        depth += isinstance(token, BlockStartToken) - isinstance(token, BlockEndToken)
        if depth < 0:
            raise ArtifactError("", f"it is no LookML: a block ends twice on line {token.line_number}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def _lookml(text: str) -> Json:
    import lkml

    try:
        _check_blocks(text)
        found = lkml.load(text)
    except RecursionError:
        raise ArtifactError("", "it is nested too deeply") from None
    except IndexError:
        raise ArtifactError("", "it is no LookML: it ends inside a block or a text") from None
    except (SyntaxError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise ArtifactError("", f"it is no LookML: {_one_line(error)}") from None
    return found if isinstance(found, dict) else {}


def _dashboards(text: str) -> tuple[Json, ...]:
    try:
        found: Any = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ArtifactError("", f"it is no YAML: {_one_line(error)}") from None
    listed = found if isinstance(found, list) else [found]
    if not all(isinstance(one, dict) and one.get("dashboard") for one in listed):
        raise ArtifactError("", "it must be a list of dashboards, each with `- dashboard: name`")
    return tuple(listed)
