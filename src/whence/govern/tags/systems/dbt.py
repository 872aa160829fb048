"""dbt: `manifest.json` in, properties of models and sources with `meta` of columns out.

What dbt says of its models becomes events with `whence capture dbt`; this only compares and writes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from whence.errors import ArtifactError
from whence.govern.tags.exports import TagExport, export_of, read_json
from whence.govern.tags.places import Place, TagAt, is_printable
from whence.govern.tags.plan import Change, TagForm, TagPlan, label_tag
from whence.query.sensitivity.marks import is_written_here

_KINDS = ("model", "seed", "snapshot", "source")
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dbt:
    """`meta` of a dbt project."""

    @property
    def form(self) -> TagForm:
        """What its tags look like."""
        return TagForm(split=_split, tag_of=label_tag, requires="table")

    def read(self, text: str, name: str) -> TagExport:
        """The `meta` in a manifest. Raises ArtifactError."""
        tags, places = list[TagAt](), list[Place]()
        for table, node in _nodes(text, name):
            places.append(Place(table))
            tags += _tags(Place(table), node)
            for column, one in _columns(node).items():
                places.append(Place(table, column))
                tags += _tags(Place(table, column), one)
        return export_of(tags, places)

    def write(self, plan: TagPlan, export: str) -> str:
        """YAML to merge into the property files of a project, by file."""
        nodes = dict(_nodes(export, ""))
        by_file: dict[str, list[Change]] = {}
        for one in plan.changes:
            by_file.setdefault(_file(nodes.get(one.place.table, {})), []).append(one)
        return "".join(_document(file, several, nodes) for file, several in sorted(by_file.items())) or "# no changes\n"


def _split(name: str) -> tuple[str, ...] | str:
    return tuple(name.split(".")) if is_printable(name) else "its name has control characters"


def _nodes(text: str, name: str) -> Iterator[tuple[tuple[str, ...], Json]]:
    found = read_json(text, name) if text.strip() else {"nodes": {}}
    if not isinstance(found, dict) or not isinstance(found.get("nodes"), dict):
        raise ArtifactError(name, "has no nodes: give target/manifest.json of a dbt project")
    for one in [*found["nodes"].values(), *(found.get("sources") or {}).values()]:
        if isinstance(one, dict) and one.get("resource_type") in _KINDS:
            last = one.get("identifier") or one.get("alias") or one.get("name")
            yield tuple(str(part) for part in (one.get("database"), one.get("schema"), last) if part), one


def _columns(node: Json) -> Mapping[str, Json]:
    columns = node.get("columns")
    known = columns.values() if isinstance(columns, dict) else ()
    return {str(one["name"]): one for one in known if isinstance(one, dict) and "name" in one}


def _tags(place: Place, of: Json) -> Iterator[TagAt]:
    for holder in (of, of.get("config")):
        meta = holder.get("meta") if isinstance(holder, dict) else None
        for key, value in meta.items() if isinstance(meta, dict) else ():
            is_ours = is_written_here(str(key))
            yield TagAt(
                place=place, key=str(key).casefold() if is_ours else str(key), value=str(value), is_ours=is_ours
            )


def _file(node: Json) -> str:
    patch = str(node.get("patch_path") or "").partition("://")[2]
    return patch or str(node.get("original_file_path") or "")


def _document(file: str, changes: Iterable[Change], nodes: Mapping[tuple[str, ...], Json]) -> str:
    several = list(changes)
    gone = [f"# remove {one.key} from the meta of {_words(one)}" for one in several if one.value is None]
    entries: dict[str, list[Json]] = {}
    for table in sorted({one.place.table for one in several if one.value is not None}):
        _add(entries, nodes.get(table, {}), table, [one for one in several if one.place.table == table])
    text = yaml.safe_dump({"version": 2, **entries}, sort_keys=False, allow_unicode=True) if entries else ""
    head = f"---\n# merge into {file or 'a property file'}\n"
    return head + "".join(f"{line}\n" for line in gone) + text


def _words(one: Change) -> str:
    return yaml.safe_dump(str(one.place), default_style='"', width=10_000, allow_unicode=False).strip()


def _add(entries: dict[str, list[Json]], node: Json, table: tuple[str, ...], changes: Iterable[Change]) -> None:
    entry = {"name": str(node.get("name") or table[-1]), **_properties(changes)}
    kind = str(node.get("resource_type") or "model")
    if kind != "source":
        entries.setdefault(f"{kind}s", []).append(entry)
        return
    source = str(node.get("source_name") or table[-2])
    known = entries.setdefault("sources", [])
    of = next((one for one in known if one["name"] == source), None)
    if of is None:
        known.append(of := {"name": source, "tables": []})
    of["tables"].append(entry)


def _properties(changes: Iterable[Change]) -> Json:
    meta: dict[str, Json] = {}
    for one in changes:
        if one.value is not None:
            meta.setdefault(one.place.column, {})[one.key] = one.value
    own = {"config": {"meta": meta.pop("")}} if "" in meta else {}
    columns = [{"name": column, "config": {"meta": some}} for column, some in sorted(meta.items())]
    return {**own, **({"columns": columns} if columns else {})}
