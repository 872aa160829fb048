"""Fields of views as SQL expressions: dimensions, groups of dimensions, and measures by their type."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json

Resolve = Callable[[str], str]
"""The SQL of a text of LookML, with all references replaced."""

_AGGREGATES = {
    "average": "AVG({})",
    "average_distinct": "AVG({})",
    "count_distinct": "COUNT(DISTINCT {})",
    "list": "ARRAY_AGG({})",
    "max": "MAX({})",
    "median": "MEDIAN({})",
    "median_distinct": "MEDIAN({})",
    "min": "MIN({})",
    "percentile": "PERCENTILE({})",
    "percentile_distinct": "PERCENTILE({})",
    "sum": "SUM({})",
    "sum_distinct": "SUM({})",
}
_PLAIN = frozenset(
    ("number", "string", "date", "yesno", "running_total", "percent_of_total", "percent_of_previous", "int")
)
"""Types whose SQL has the aggregates in it."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field by the name that queries use; `part` is the interval or timeframe of a group."""

    kind: str
    spec: Json
    part: str = ""


def find_field(view: Json, name: str) -> Field | None:
    """The field of a view that a name means; None if there is none."""
    for kind in ("dimensions", "measures", "filters", "parameters"):
        for spec in view.get(kind) or ():
            if spec["name"] == name:
                return Field(kind, spec)
    return next(
        (Field("groups", spec, part) for spec in view.get("dimension_groups") or () if (part := _part(spec, name))),
        None,
    )


def field_sql(field: Field, resolve: Resolve, key: str = "") -> str:
    """The SQL of a field. `key` is what rows are counted by. Raises ArtifactError for a type whose SQL is not known."""
    match field.kind:
        case "measures":
            return _measure(field.spec, resolve, key)
        case "groups":
            return _group(field.spec, resolve)
        case "dimensions":
            return _dimension(field.spec, resolve)
    if field.spec.get("sql"):
        return resolve(str(field.spec["sql"]))
    raise ArtifactError(str(field.spec["name"]), "it is what a user enters, and no column")


def filtered_names(filters: object) -> list[str]:
    """The fields in the filters of a measure, an explore or an element, in each syntax that there was."""
    found: list[str] = []
    for one in filters if isinstance(filters, list) else [filters]:
        if isinstance(one, list):
            found += filtered_names(one)
        elif isinstance(one, Mapping) and isinstance(one.get("field"), str):
            found.append(str(one["field"]))
        elif isinstance(one, Mapping):
            found += [str(name) for name in one]
    return list(dict.fromkeys(found))


def _part(spec: Json, name: str) -> str:
    """The timeframe of `created_date`, or the interval of `days_open`, in a group; empty if it is none of them."""
    group = str(spec["name"])
    if spec.get("type") == "duration":
        interval = name.removesuffix(f"s_{group}")
        is_known = interval != name and interval in (spec.get("intervals") or (interval,))
        return interval if is_known else ""
    timeframe = name.removeprefix(f"{group}_")
    return timeframe if timeframe != name and timeframe in (spec.get("timeframes") or (timeframe,)) else ""


def _dimension(spec: Json, resolve: Resolve) -> str:
    if "sql_case" in spec:
        raise ArtifactError(str(spec["name"]), "sql_case is not read; use case")
    if isinstance(spec.get("case"), dict):
        return _case(spec["case"], resolve)
    if spec.get("type") == "location":
        return f"POINT({resolve(_sql(spec, 'sql_latitude'))}, {resolve(_sql(spec, 'sql_longitude'))})"
    if spec.get("type") == "distance":
        ends = (f"${{{spec.get('start_location_field')}}}", f"${{{spec.get('end_location_field')}}}")
        return f"DISTANCE({resolve(ends[0])}, {resolve(ends[1])})"
    return resolve(str(spec.get("sql") or f"${{TABLE}}.{spec['name']}"))


def _case(case: Json, resolve: Resolve) -> str:
    whens = [f"WHEN {resolve(_sql(one, 'sql'))} THEN ''" for one in case.get("whens") or ()]
    if not whens:
        raise ArtifactError("case", "it has no when")
    return f"CASE {' '.join(whens)} ELSE '' END"


def _group(spec: Json, resolve: Resolve) -> str:
    if spec.get("type") == "duration":
        return f"DURATION({resolve(_sql(spec, 'sql_start'))}, {resolve(_sql(spec, 'sql_end'))})"
    return resolve(str(spec.get("sql") or f"${{TABLE}}.{spec['name']}"))


def _measure(spec: Json, resolve: Resolve, key: str) -> str:
    kind = str(spec.get("type") or "string")
    if kind == "period_over_period":
        return resolve(f"${{{_sql(spec, 'based_on')}}}")
    if kind == "count":
        counted = f"DISTINCT {_where(spec, resolve(f'${{{key}}}'), resolve)}" if key else _where(spec, "1", resolve)
        return f"COUNT({counted})" if key or _deciding(spec) else "COUNT(*)"
    if kind in _PLAIN:
        return resolve(_sql(spec, "sql"))
    if kind not in _AGGREGATES:
        raise ArtifactError(str(spec["name"]), f"the type {kind} of measures is not known")
    return _AGGREGATES[kind].format(_where(spec, resolve(_sql(spec, "sql")), resolve))


def _where(spec: Json, value: str, resolve: Resolve) -> str:
    """The value in those rows that the filters of a measure leave, and once for each distinct key."""
    conditions = [f"{resolve(f'${{{name}}}')} IS NOT NULL" for name in _deciding(spec)]
    if spec.get("sql_distinct_key"):
        conditions.append(f"{resolve(str(spec['sql_distinct_key']))} IS NOT NULL")
    return f"CASE WHEN {' AND '.join(conditions)} THEN {value} END" if conditions else value


def _deciding(spec: Json) -> list[str]:
    return filtered_names(spec.get("filters__all") or spec.get("filters") or [])


def _sql(spec: Json, key: str) -> str:
    if not spec.get(key):
        raise ArtifactError(str(spec.get("name", key)), f"it has no {key}")
    return str(spec[key])
