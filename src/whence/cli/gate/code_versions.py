"""Which versions of the code a change is seen in: a waiver of it is not one of what later versions change."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.model.changes import ColumnChange
from whence.model.ids import digest_of


def with_content(changes: Iterable[ColumnChange], base: ProjectCode, head: ProjectCode) -> tuple[ColumnChange, ...]:
    """The changes, each with the versions of its own code; those of all that differs, if its cause is elsewhere."""
    before, after = _texts(base), _texts(head)
    differing = [file for file in sorted({**before, **after}) if before.get(file) != after.get(file)]

    def content(change: ColumnChange) -> str:
        files = [change.file] if change.file in differing and not change.inherited else differing
        return digest_of(part for file in files for part in (file, before.get(file, ""), after.get(file, "")))

    return tuple(replace(one, content=content(one)) if one.kind.is_inexact else one for one in changes)


def _texts(project: ProjectCode) -> Mapping[str, str]:
    found: dict[str, list[str]] = {}
    for code in project.codes:
        found.setdefault(code.file, []).extend(_parts(code))
    return {file: digest_of(parts) for file, parts in found.items()}


def _parts(code: Code) -> Iterator[str]:
    yield from (code.kind, code.sql, code.content, code.materialized, code.on_schema_change)
    yield from (part for setting in sorted(code.settings.items()) for part in setting)
