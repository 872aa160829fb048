"""Apache Ranger: the tags of a service (`ServiceTags`) in, and the same form out, to be imported.

An import with `add_or_update` gives each resource in it exactly the tags that the file lists for it. So the file
repeats the tags of others there.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from whence.errors import ArtifactError
from whence.govern.tags.exports import TagExport, export_of, read_json
from whence.govern.tags.places import Place, TagAt, is_printable
from whence.govern.tags.plan import Change, TagForm, TagPlan, label_tag
from whence.query.sensitivity.marks import is_written_here

_GRADE = "grade"
_ELEMENTS = {2: ("database", "table"), 3: ("catalog", "schema", "table")}
"""The resource elements of a table: of Hive and Impala, of Trino."""
_OF_RESOURCE = 0
"""The owner of a tag that belongs to one resource."""
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ranger:
    """`service`: the name of the service in Ranger, if no export names it."""

    service: str = ""

    @property
    def form(self) -> TagForm:
        """What its tags look like."""
        return TagForm(split=_split, tag_of=label_tag)

    def read(self, text: str, name: str) -> TagExport:
        """The tags in what `GET /service/tags/download/SERVICE` answers. Raises ArtifactError."""
        document = _document(text, name)
        tags = document["tags"]
        resources = [(place, one) for one in document["serviceResources"] if (place := _place(one)) is not None]
        found = [_tag(place, tags[tag]) for place, one in resources for tag in _ids(document, one) if tag in tags]
        return export_of(found, (place for place, _ in resources))

    def write(self, plan: TagPlan, export: str) -> str:
        """JSON for `PUT /service/tags/importservicetags`: the resources that change, each with all its tags."""
        changes: dict[Place, list[Change]] = {}
        for one in plan.changes:
            changes.setdefault(one.place, []).append(one)
        document = _document(export, "")
        return json.dumps(_imported(document, changes, self.service), indent=2) + "\n"


def _split(name: str) -> tuple[str, ...] | str:
    found = tuple(name.split("."))
    if len(found) not in _ELEMENTS or not all(found):
        return "its name has not the parts database.table or catalog.schema.table"
    return found if is_printable(name) and "*" not in name else "its name has control characters or a wildcard"


def _document(text: str, name: str) -> Json:
    found = read_json(text, name) if text.strip() else {}
    if not isinstance(found, dict):
        raise ArtifactError(name, "is no object: save what GET /service/tags/download/SERVICE answers")
    for key, kind in (("tagDefinitions", dict), ("tags", dict), ("resourceToTagIds", dict), ("serviceResources", list)):
        if not isinstance(value := found.get(key) or kind(), kind):
            raise ArtifactError(name, f"has another form of {key} than ServiceTags of Ranger")
        found[key] = value
    return found


def _place(resource: Any) -> Place | None:
    """The table or column of a resource; None if it is another one, or several at once."""
    elements = resource.get("resourceElements") if isinstance(resource, dict) else None
    if not isinstance(elements, dict):
        return None
    found = {key: _single(one) for key, one in elements.items()}
    for keys in _ELEMENTS.values():
        if found.keys() in ({*keys}, {*keys, "column"}) and all(found.values()):
            return Place(tuple(found[key] for key in keys), found.get("column", ""))
    return None


def _single(element: Any) -> str:
    """The only value of a resource element; empty if there are several, or a pattern."""
    values = element.get("values") if isinstance(element, dict) and not element.get("isExcludes") else None
    one = values[0] if isinstance(values, list) and len(values) == 1 and isinstance(values[0], str) else ""
    return "" if set("*?") & set(one) else one


def _ids(document: Json, resource: Json) -> list[str]:
    found = document["resourceToTagIds"].get(str(resource.get("id")))
    return [str(one) for one in found] if isinstance(found, list) else []


def _tag(place: Place, tag: Any) -> TagAt:
    kind, attributes = (tag.get("type"), tag.get("attributes")) if isinstance(tag, dict) else ("", {})
    key, attributes = str(kind or ""), attributes if isinstance(attributes, dict) else {}
    if is_written_here(key):
        return TagAt(place=place, key=key.casefold(), value=str(attributes.get(_GRADE, "")), is_ours=True)
    value = json.dumps(attributes, sort_keys=True) if attributes else ""
    return TagAt(place=place, key=key, value=value)


def _imported(document: Json, changes: Mapping[Place, Iterable[Change]], service: str) -> Json:
    known = {place: one for one in document["serviceResources"] if (place := _place(one)) is not None}
    service = str(document.get("serviceName") or service)
    tags, resources, of_resource = list[Json](), list[Json](), dict[str, list[int]]()
    for number, (place, several) in enumerate(sorted(changes.items())):
        resource = {**known.get(place, _resource(place, service)), "id": number}
        wanted = _tags_of(document, known.get(place), several)
        of_resource[str(number)] = list(range(len(tags), len(tags) + len(wanted)))
        resources.append(resource)
        tags += wanted
    types = sorted({str(one["type"]) for one in tags})
    return {
        "op": "add_or_update",
        "serviceName": service,
        "tagDefinitions": {str(number): _definition(document, one) for number, one in enumerate(types)},
        "tags": {str(number): {**one, "id": number} for number, one in enumerate(tags)},
        "serviceResources": resources,
        "resourceToTagIds": of_resource,
    }


def _tags_of(document: Json, resource: Json | None, changes: Iterable[Change]) -> list[Json]:
    """The tags that a resource has after changes: those of others as they are."""
    before = [] if resource is None else [document["tags"].get(one) for one in _ids(document, resource)]
    changed = {one.key: one.value for one in changes}
    kept = [one for one in before if isinstance(one, dict) and str(one.get("type", "")).casefold() not in changed]
    new = [(key, value) for key, value in sorted(changed.items()) if value is not None]
    return [*kept, *({"type": key.upper(), "owner": _OF_RESOURCE, "attributes": {_GRADE: value}} for key, value in new)]


def _resource(place: Place, service: str) -> Json:
    names = {**dict(zip(_ELEMENTS[len(place.table)], place.table, strict=True)), "column": place.column}
    elements = {
        key: {"values": [name], "isExcludes": False, "isRecursive": False} for key, name in names.items() if name
    }
    return {"serviceName": service, "resourceElements": elements}


def _definition(document: Json, kind: str) -> Json:
    for one in document["tagDefinitions"].values():
        if isinstance(one, dict) and one.get("name") == kind:
            return one
    return {"name": kind, "source": "Whence", "attributeDefs": [{"name": _GRADE, "type": "string"}]}
