"""Unity Catalog: `information_schema.column_tags` and `table_tags` in, `ALTER … SET TAGS` out."""

from dataclasses import dataclass

from whence.errors import ArtifactError
from whence.govern.tags.exports import Row, TagExport, export_of, read_rows, split_three
from whence.govern.tags.places import Place, TagAt
from whence.govern.tags.plan import Change, TagForm, TagPlan, label_tag
from whence.query.sensitivity.marks import is_written_here

_TABLE = (("CATALOG_NAME", "TABLE_CATALOG"), ("SCHEMA_NAME", "TABLE_SCHEMA"), ("TABLE_NAME",))


@dataclass(frozen=True, slots=True)
class UnityCatalog:
    """Tags of Unity Catalog."""

    @property
    def form(self) -> TagForm:
        """What its tags look like."""
        return TagForm(split=_split, tag_of=label_tag, stored=str.lower)

    def read(self, text: str, name: str) -> TagExport:
        """The tags in an export. Raises ArtifactError."""
        return export_of(_tag(row, name) for row in read_rows(text, name, ("TABLE_NAME", "TAG_NAME")))

    def write(self, plan: TagPlan, export: str) -> str:
        """SQL statements, for Databricks Runtime 13.3 and newer; those about views for 16.1 and newer."""
        removed = sum(one.value is None for one in plan.changes)
        counts = f"{len(plan.changes) - removed} to set, {removed} to remove"
        lines = [f"-- Tags of Whence: {counts}. Other tags are not changed.", *map(_statement, plan.changes)]
        return "".join(f"{line}\n" for line in lines)


def quote(name: str) -> str:
    """A name as a quoted identifier."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text as a string literal, in which a backslash escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _split(name: str) -> tuple[str, ...] | str:
    found = split_three(name, "catalog.schema.table")
    return found if isinstance(found, str) else tuple(part.lower() for part in found)


def _tag(row: Row, name: str) -> TagAt:
    parts = tuple(next((row[key] for key in keys if row.get(key)), "") for keys in _TABLE)
    if not all(parts):
        raise ArtifactError(name, "a row has no catalog_name, schema_name or table_name")
    key, is_ours = row["TAG_NAME"], is_written_here(row["TAG_NAME"])
    place = Place(parts, row.get("COLUMN_NAME", ""))
    return TagAt(place=place, key=key.casefold() if is_ours else key, value=row.get("TAG_VALUE", ""), is_ours=is_ours)


def _statement(one: Change) -> str:
    table = ".".join(map(quote, one.place.table))
    if one.is_view:
        return _statement_of_view(one, table)
    column = f"ALTER COLUMN {quote(one.place.column)} " if one.place.column else ""
    if one.value is None:
        return f"ALTER TABLE {table} {column}UNSET TAGS ({literal(one.key)});"
    return f"ALTER TABLE {table} {column}SET TAGS ({literal(one.key)} = {literal(one.value)});"


def _statement_of_view(one: Change, table: str) -> str:
    """`ALTER VIEW` has no columns."""
    if not one.place.column:
        tags = literal(one.key) if one.value is None else f"{literal(one.key)} = {literal(one.value)}"
        return f"ALTER VIEW {table} {'UNSET' if one.value is None else 'SET'} TAGS ({tags});"
    column = f"{table}.{quote(one.place.column)}"
    if one.value is None:
        return f"UNSET TAG ON COLUMN {column} {quote(one.key)};"
    return f"SET TAG ON COLUMN {column} {quote(one.key)} = {quote(one.value)};"
