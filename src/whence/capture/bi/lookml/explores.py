"""Explores: the joined views that a query reads, as a FROM clause with the joins that its fields need."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from whence.capture.bi.lookml.fields import field_sql, filtered_names, find_field
from whence.capture.bi.lookml.liquid import render
from whence.capture.bi.lookml.merging import apply_extends
from whence.capture.bi.lookml.models import Model
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json

_REFERENCE = re.compile(r"\$\{\s*([^}]*?)\s*\}")
_DEEPEST = 60


@dataclass(slots=True)
class Explore:
    """One explore of a model. `used` are the views that what was resolved so far needs, by their alias.

    `opened` are the views whose queries this is a part of.
    """

    model: Model
    spec: Json
    constants: Mapping[str, str]
    opened: tuple[str, ...] = ()
    used: set[str] = field(default_factory=set)

    @property
    def base(self) -> str:
        """The alias of the view that the others are joined to."""
        return str(self.spec.get("view_name") or self.spec["name"])

    @property
    def joins(self) -> Mapping[str, Json]:
        """The joins by their alias."""
        return {str(one["name"]): one for one in self.spec.get("joins") or ()}

    def expression(self, name: str, passed: tuple[tuple[str, str], ...] = ()) -> str:
        """The SQL of `view.field`. Raises ArtifactError if it cannot be known."""
        alias, _, column = name.rpartition(".")
        alias = alias or self.base
        if (alias, column) in passed or len(passed) > _DEEPEST:
            raise ArtifactError(name, f"{name} is made of itself")
        found = find_field(self._view(alias), column)
        if found is None:
            raise ArtifactError(name, f"the view {alias} has no field {column}")
        self.used.add(alias)
        key = self._primary_key(alias) if alias != self.base else ""
        inner = (*passed, (alias, column))
        return f"({field_sql(found, lambda text: self._resolve(text, alias, inner), key)}\n)"

    def is_measure(self, name: str) -> bool:
        """Whether a field of the explore aggregates rows."""
        alias, _, column = name.rpartition(".")
        found = find_field(self._view(alias or self.base), column)
        return found is not None and found.kind == "measures"

    def text(self, text: str) -> str:
        """The SQL of a text of the explore itself, as in `sql_on`."""
        return self._resolve(text, self.base, ())

    def source(self) -> str:
        """The FROM clause with the views that are used."""
        joins = self._needed_joins()
        table = str(self.spec.get("sql_table_name") or "")
        base = self._rendered(table) if table else self._table(self.base)
        return f"{base} {self.base}" + "".join(f"\n{self._join(alias)}" for alias in joins)

    def conditions(self, filtered: frozenset[str]) -> Iterator[str]:
        """What the explore itself filters by. `filtered` are the fields that a query filters by."""
        for key in ("sql_always_where", "sql_always_having"):
            if self.spec.get(key):
                yield self.text(str(self.spec[key]))
        names = filtered_names((self.spec.get("always_filter") or {}).get("filters__all") or [])
        names += [str(one["field"]) for one in self.spec.get("access_filters") or () if one.get("field")]
        usual = self.spec.get("conditionally_filter") or {}
        if not filtered.intersection(usual.get("unless") or ()):
            names += filtered_names(usual.get("filters__all") or [])
        yield from (f"{self.expression(name)} IS NOT NULL" for name in names)

    def _needed_joins(self) -> list[str]:
        needed = set[str]()
        while more := (self.used | {self.base}) - needed - {self.base}:
            for alias in more:
                needed.add(alias)
                if alias in self.joins:
                    self.used.update(str(one) for one in self.joins[alias].get("required_joins") or ())
                    self._condition(self.joins[alias])  # its references are used, too
        return [alias for alias in self.joins if alias in needed]

    def _join(self, alias: str) -> str:
        join = self.joins[alias]
        if join.get("sql"):
            return self.text(str(join["sql"]))
        kind = str(join.get("type") or "left_outer").replace("_", " ").upper()
        condition = self._condition(join)
        on = f" ON {condition}" if condition else ""
        return f"{kind if on or kind == 'CROSS' else 'CROSS'} JOIN {self._table(alias)} {alias}{on}"

    def _condition(self, join: Json) -> str:
        parts = [self.text(str(join[key])) for key in ("sql_on", "sql_where") if join.get(key)]
        if join.get("foreign_key"):
            key = self._primary_key(str(join["name"]))
            if not key:
                raise ArtifactError(
                    str(join["name"]), f"{join['name']} is joined by a foreign_key, and has no primary_key"
                )
            parts.append(f"{self.expression(str(join['foreign_key']))} = {self.expression(key)}")
        return " AND ".join(f"({one}\n)" for one in parts)

    def _primary_key(self, alias: str) -> str:
        """The dimension that is the key of a view; empty if none is."""
        dimensions = self._view(alias).get("dimensions") or ()
        return next((f"{alias}.{one['name']}" for one in dimensions if one.get("primary_key") == "yes"), "")

    def _resolve(self, text: str, alias: str, passed: tuple[tuple[str, str], ...]) -> str:
        rendered = self._rendered(text)

        def replace(found: re.Match[str]) -> str:
            name = found[1]
            if name == "TABLE":
                self.used.add(alias)
                return alias
            if name.endswith(".SQL_TABLE_NAME"):
                return _view_table(name.removesuffix(".SQL_TABLE_NAME"), self)
            return self.expression(name if "." in name else f"{alias}.{name}", passed)

        return _REFERENCE.sub(replace, rendered)

    def query_text(self, text: str, view: str) -> str:
        """The SQL of a view's table or query, which may be made of those of other views."""
        if view in self.opened:
            raise ArtifactError(view, f"the view {view} is derived from itself")
        inner = Explore(self.model, self.spec, self.constants, (*self.opened, view))
        return inner._resolve(text, view, ())

    def _rendered(self, text: str) -> str:
        return render(text, self.constants)

    def _view(self, alias: str) -> Json:
        return apply_extends(self._view_name(alias), self.model.views)

    def _view_name(self, alias: str) -> str:
        if alias == self.base:
            return str(self.spec.get("from") or self.spec.get("view_name") or self.spec["name"])
        if alias in self.joins:
            return str(self.joins[alias].get("from") or alias)
        raise ArtifactError(alias, f"the explore {self.spec['name']} has no view {alias}")

    def _table(self, alias: str) -> str:
        self.used.add(alias)
        return _view_table(self._view_name(alias), self)


def open_explore(model: Model, name: str, constants: Mapping[str, str], opened: tuple[str, ...] = ()) -> Explore:
    """An explore with what it extends. Raises ArtifactError if the model does not have it."""
    if name not in model.explores:
        raise ArtifactError(name, f"the model {model.name} has no explore {name}")
    return Explore(model, apply_extends(name, model.explores), constants, opened)


def _view_table(name: str, explore: Explore) -> str:
    """What a FROM clause has for a view: its table, or its query in brackets. Raises ArtifactError."""
    view = apply_extends(name, explore.model.views)
    derived = view.get("derived_table")
    if not isinstance(derived, dict):
        return explore.query_text(str(view.get("sql_table_name") or name), name)
    if derived.get("sql"):
        return f"({explore.query_text(str(derived['sql']), name)}\n)"
    if isinstance(derived.get("explore_source"), dict):
        return f"({_native(derived['explore_source'], name, explore)}\n)"
    raise ArtifactError(name, f"the derived table of {name} has neither sql nor explore_source")


def _native(source: Json, view: str, outer: Explore) -> str:
    """The query of a native derived table."""
    if view in outer.opened:
        raise ArtifactError(view, f"the view {view} is derived from itself")
    inner = open_explore(outer.model, str(source["name"]), outer.constants, (*outer.opened, view))
    names = {_column_name(one): str(one.get("field") or one["name"]) for one in source.get("columns") or ()}
    outputs = [f"{inner.expression(path)} AS {name}" for name, path in names.items()]
    filtered = filtered_names(source.get("filters__all") or source.get("filters") or [])
    conditions = [f"{inner.expression(one)} IS NOT NULL" for one in filtered]
    conditions += inner.conditions(frozenset(filtered))
    where = f" WHERE {' AND '.join(f'({one})' for one in conditions)}" if conditions else ""
    keys = [inner.expression(path) for path in names.values() if not inner.is_measure(path)]
    groups = f" GROUP BY {', '.join(keys)}" if keys and len(keys) < len(names) else ""
    query = f"SELECT {', '.join(outputs) or '1'} FROM {inner.source()}{where}{groups}"
    derived = [f"{inner.text(str(one['sql']))} AS {one['name']}" for one in source.get("derived_columns") or ()]
    return f"SELECT native.*, {', '.join(derived)} FROM ({query}) native" if derived else query


def _column_name(column: Json) -> str:
    return str(column["name"]).rpartition(".")[2]
