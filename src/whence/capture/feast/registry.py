"""A registry of Feast as JSON: its protobuf message (`Registry.proto`), or what `feast registry-dump` prints.

Both have the same lists. Each object has a `spec`, and a `meta` with its times.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whence.capture.members import object_at, objects_at, text_at
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json

_VIEWS = ("featureViews", "streamFeatureViews", "onDemandFeatureViews")
_SERVICES, _ENTITIES = "featureServices", "entities"
_UNREAD = {"labelViews": "label view", "savedDatasets": "saved dataset"}
_LISTS = (*_VIEWS, _SERVICES, _ENTITIES, *_UNREAD)
_MEMBERS = frozenset((*_LISTS, "dataSources", "projects", "project"))
"""A file with none of these is no registry."""
_LARGEST = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """The objects of one project. `at` is the time of the newest change, `gaps` why something is not read."""

    project: str
    views: tuple[Json, ...]
    services: tuple[Json, ...]
    entities: Mapping[str, Json]
    """The specifications of entities, by name."""
    gaps: Mapping[str, str]
    at: datetime


def read_registry(path: Path, project: str = "") -> Registry:
    """The objects of a project in a file, of the only one if none is named. Raises ArtifactError."""
    document, written = _read(path)
    lists = {key: tuple(one for one in objects_at(document, key) if name_of(one)) for key in _LISTS}
    project = _choose_project(path, document, lists, project)
    own = {key: tuple(one for one in found if _project(one) in ("", project)) for key, found in lists.items()}
    times = [at for found in own.values() for at in map(changed_at, found) if at]
    entities = (object_at(one, "spec") for one in own[_ENTITIES])
    return Registry(
        project=project,
        views=tuple(one for key in _VIEWS for one in own[key]),
        services=own[_SERVICES],
        entities={text_at(one, "name"): one for one in entities},
        gaps={f"{kind} {name_of(one)}": "it is not read" for key, kind in _UNREAD.items() for one in own[key]},
        at=max(times, default=written),
    )


def name_of(found: Json) -> str:
    """The name of an object."""
    return text_at(object_at(found, "spec"), "name")


def changed_at(found: Json) -> datetime | None:
    """When an object was last changed; None if that is not known."""
    meta = object_at(found, "meta")
    try:
        at = datetime.fromisoformat(text_at(meta, "lastUpdatedTimestamp") or text_at(meta, "createdTimestamp"))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _read(path: Path) -> tuple[Json, datetime]:
    try:
        state = path.stat()
        if state.st_size > _LARGEST:
            raise ArtifactError(str(path), f"it has more than {_LARGEST >> 20} MiB")
        document: Any = json.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise ArtifactError(str(path), f"it cannot be read: {error}") from None
    except ValueError:
        raise ArtifactError(str(path), "it is no JSON: write the registry as the guide says") from None
    if not isinstance(document, dict) or _MEMBERS.isdisjoint(document):
        raise ArtifactError(str(path), f"it is no registry of Feast: it has none of {', '.join(sorted(_MEMBERS))}")
    return document, datetime.fromtimestamp(state.st_mtime, UTC)


def _project(found: Json) -> str:
    return text_at(object_at(found, "spec"), "project")


def _choose_project(path: Path, document: Json, lists: Mapping[str, tuple[Json, ...]], wanted: str) -> str:
    named = {_project(one) for found in lists.values() for one in found} - {""}
    known = sorted(named | ({text_at(document, "project")} - {""}))
    if wanted and wanted not in known:
        raise ArtifactError(str(path), f"it has no project {wanted}, but {', '.join(known) or 'none'}")
    if not wanted and len(known) != 1:
        found = f"the projects {', '.join(known)}" if known else "no project"
        raise ArtifactError(str(path), f"it has {found}: choose one with project=NAME")
    return wanted or known[0]
