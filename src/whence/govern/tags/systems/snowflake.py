"""Snowflake: `TAG_REFERENCES` in, `ALTER … SET TAG` out.

In: the view of ACCOUNT_USAGE, or the table functions of INFORMATION_SCHEMA, which list inherited tags, too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from whence.errors import QuestionError
from whence.govern.tags.exports import Row, TagExport, export_of, read_rows, split_three
from whence.govern.tags.places import Place, TagAt
from whence.govern.tags.plan import Change, TagForm, TagPlan, label_tag
from whence.query.sensitivity.marks import is_written_here

_REQUIRED = ("TAG_NAME", "TAG_VALUE", "OBJECT_DATABASE", "OBJECT_SCHEMA", "OBJECT_NAME", "DOMAIN", "COLUMN_NAME")
_UNQUOTED = re.compile(r"[a-z_][a-z0-9_$]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Snowflake:
    """`tag_schema`: where the tags of Whence are, `GOVERNANCE.TAGS`. `masking`: the masking policies of categories."""

    tag_schema: str = ""
    masking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def form(self) -> TagForm:
        """What its tags look like."""
        return TagForm(split=_split, tag_of=label_tag, stored=stored)

    def read(self, text: str, name: str) -> TagExport:
        """The tags in an export of TAG_REFERENCES. Raises ArtifactError."""
        rows = read_rows(text, name, _REQUIRED)
        return export_of(self._tag(row) for row in rows if _is_of_table(row))

    def write(self, plan: TagPlan, export: str) -> str:
        """SQL statements. Raises QuestionError if they need a schema for tags, and there is none."""
        return "".join(f"{line}\n" for line in self._lines(plan.changes))

    def _tag(self, row: Row) -> TagAt:
        is_column = row["DOMAIN"].upper() == "COLUMN"
        place = Place(
            (row["OBJECT_DATABASE"], row["OBJECT_SCHEMA"], row["OBJECT_NAME"]), row["COLUMN_NAME"] if is_column else ""
        )
        is_ours = is_written_here(row["TAG_NAME"]) and self._is_in_schema(row)
        key = row["TAG_NAME"].casefold() if is_ours else row["TAG_NAME"]
        inherited = _is_inherited(row, is_column=is_column)
        return TagAt(place=place, key=key, value=row["TAG_VALUE"], inherited=inherited, is_ours=is_ours)

    def _is_in_schema(self, row: Row) -> bool:
        where = (row.get("TAG_DATABASE", ""), row.get("TAG_SCHEMA", ""))
        return not self.tag_schema or not all(where) or where == _names(self.tag_schema, 2)

    def _lines(self, changes: Iterable[Change]) -> Iterator[str]:
        several = list(changes)
        keys = sorted({one.key for one in several if one.value is not None})
        yield f"-- Tags of Whence: {_counts(several)}. Other tags are not changed."
        if not several:
            return
        for key in keys:
            yield f"CREATE TAG IF NOT EXISTS {self._tag_name(key)};"
            for policy in self.masking.get(key.partition("_")[2], ()):
                yield f"ALTER TAG {self._tag_name(key)} SET MASKING POLICY {_qualified(_names(policy, 3))} FORCE;"
        for one in several:
            yield f"ALTER {'VIEW' if one.is_view else 'TABLE'} {_qualified(one.place.table)} {self._action(one)};"

    def _action(self, one: Change) -> str:
        column = f"MODIFY COLUMN {quote(one.place.column)} " if one.place.column else ""
        if one.value is None:
            return f"{column}UNSET TAG {self._tag_name(one.key)}"
        return f"{column}SET TAG {self._tag_name(one.key)} = {literal(one.value)}"

    def _tag_name(self, key: str) -> str:
        if not self.tag_schema:
            raise QuestionError("tag-schema", "name the schema of the tags of Whence: --tag-schema GOVERNANCE.TAGS")
        return _qualified((*_names(self.tag_schema, 2), key.upper()))


def stored(name: str) -> str:
    """A name as Snowflake stores it if it is written without quotes."""
    return name.upper() if _UNQUOTED.fullmatch(name) else name


def quote(name: str) -> str:
    """A name as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as a string literal, in which a backslash escapes, too."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _split(name: str) -> tuple[str, ...] | str:
    found = split_three(name, "DATABASE.SCHEMA.TABLE")
    return found if isinstance(found, str) else tuple(map(stored, found))


def _qualified(parts: Iterable[str]) -> str:
    return ".".join(map(quote, parts))


def _names(text: str, count: int) -> tuple[str, ...]:
    parts = tuple(text.split("."))
    if len(parts) != count or not all(parts):
        raise QuestionError(
            "", f"{text!r} has not {count} parts; write {'DATABASE.SCHEMA.NAME'[: 15 if count == 2 else 20]}"
        )
    return tuple(map(stored, parts))


def _is_of_table(row: Row) -> bool:
    """Whether a row is about a table, a view or a column that still exists."""
    kind = row["DOMAIN"].upper()
    is_table = kind == "COLUMN" or "TABLE" in kind or "VIEW" in kind
    return is_table and bool(row["OBJECT_NAME"] and row["OBJECT_SCHEMA"]) and not row.get("OBJECT_DELETED")


def _is_inherited(row: Row, *, is_column: bool) -> bool:
    level = row.get("LEVEL", "").upper()
    return (
        row.get("APPLY_METHOD", "").upper() == "INHERITED"
        or bool(level and (level == "COLUMN") != is_column)
        or (level in ("ACCOUNT", "DATABASE", "SCHEMA"))
    )


def _counts(changes: Iterable[Change]) -> str:
    removed = [one.value is None for one in changes]
    return f"{len(removed) - sum(removed)} to set, {sum(removed)} to remove"
