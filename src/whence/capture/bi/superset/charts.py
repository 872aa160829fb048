"""What a chart asks of its dataset: columns, metrics, filters and order in its form data, as SQL."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whence.capture.bi.connections import Connection
from whence.capture.bi.queries import Query
from whence.capture.bi.superset.templates import render
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json

_COLUMNS = (
    "x_axis",
    "groupby",
    "columns",
    "groupbyColumns",
    "groupbyRows",
    "all_columns",
    "entity",
    "series",
    "source",
)
_COLUMNS_TOO = ("target", "all_columns_x", "all_columns_y", "latitude", "longitude", "geohash", "dimension", "path")
_METRICS = ("metrics", "metric", "percent_metrics", "metric_2", "metrics_b", "secondary_metric", "size", "x", "y")
_ORDERS = ("timeseries_limit_metric", "order_by_cols", "orderby", "series_limit_metric")
_RAW = "raw"


@dataclass(frozen=True, slots=True)
class ChartQuery:
    """The form data of a chart over the answer of `dataset/{id}`."""

    form: Json
    dataset: Json
    connection: Connection

    def query(self) -> Query:
        """The query. Raises ArtifactError if what the dataset reads is not known."""
        outputs, unread, gaps = dict[str, str](), dict[str, str](), list[str]()
        dimensions = list[str]()
        for label, kind, value in self._shown():
            try:
                outputs[label] = self._metric(value) if kind == "metric" else self._column(value)
            except ArtifactError as error:
                unread[label] = error.reason
            if kind == "column" and label in outputs:
                dimensions.append(label)
        has_metrics = len(dimensions) < len(outputs)
        return Query(
            source=f"{self._source()} {self._quote(self._alias)}",
            outputs=outputs,
            dimensions=tuple(dimensions) if has_metrics else (),
            conditions=tuple(self._known(self._conditions(), gaps)),
            orders=tuple(self._known(self._orders(), gaps)),
            unread=unread,
            gaps=tuple(gaps),
        )

    def _shown(self) -> Iterator[tuple[str, str, Any]]:
        """The label, kind and value of each field. A table in raw mode has `all_columns`, else what it groups by."""
        is_raw = self.form.get("query_mode") == _RAW
        for key in (*_COLUMNS, *_COLUMNS_TOO):
            if key in ("all_columns",) and not is_raw and self.form.get("query_mode"):
                continue
            if is_raw and key in ("groupby", "columns"):
                continue
            for one in _listed(self.form.get(key)):
                yield _label(one), "column", one
        for key in () if is_raw else _METRICS:
            for one in _listed(self.form.get(key)):
                if isinstance(one, dict) or str(one) in self._metrics:
                    yield _label(one), "metric", one

    @property
    def _alias(self) -> str:
        """The name of the dataset in the query: that of its table, which answers show in expressions."""
        name = str(self.dataset.get("table_name") or "")
        return name if name.isidentifier() else "dataset"

    @property
    def _metrics(self) -> Mapping[str, str]:
        return {str(one["metric_name"]): str(one["expression"]) for one in self.dataset.get("metrics") or ()}

    @property
    def _computed(self) -> Mapping[str, str]:
        listed = self.dataset.get("columns") or ()
        return {str(one["column_name"]): str(one["expression"]) for one in listed if one.get("expression")}

    def _column(self, value: Any) -> str:
        """A column by its name, a calculated column, or an ad-hoc expression."""
        if isinstance(value, dict):
            return f"({render(str(value.get('sqlExpression') or ''))})"
        name = str(value)
        if name in self._computed:
            return f"({render(self._computed[name])}\n)"
        known = {str(one["column_name"]) for one in self.dataset.get("columns") or ()}
        if known and name not in known:
            raise ArtifactError(name, f"the dataset {self.dataset.get('table_name')} has no column {name}")
        return f"{self._quote(self._alias)}.{self._quote(name)}"

    def _metric(self, value: Any) -> str:
        if not isinstance(value, dict):
            return f"({render(self._metrics[str(value)])}\n)"
        if value.get("expressionType") == "SQL":
            return f"({render(str(value.get('sqlExpression') or ''))}\n)"
        column, aggregate = (value.get("column") or {}).get("column_name"), str(value.get("aggregate") or "")
        inner = self._column(column) if column else "*"
        return f"COUNT(DISTINCT {inner})" if aggregate == "COUNT_DISTINCT" else f"{aggregate or 'MAX'}({inner})"

    def _conditions(self) -> Iterator[Any]:
        for one in self.form.get("adhoc_filters") or ():
            if isinstance(one, dict):
                yield one
        for one in self.form.get("filters") or ():  # of charts from before ad-hoc filters
            if isinstance(one, dict) and one.get("col"):
                yield {"expressionType": "SIMPLE", "subject": one["col"]}
        for key in ("where", "having"):
            if self.form.get(key):
                yield {"expressionType": "SQL", "sqlExpression": self.form[key]}
        ranged = self.form.get("time_range")
        if self.form.get("granularity_sqla") and ranged and ranged != "No filter":
            yield {"expressionType": "SIMPLE", "subject": self.form["granularity_sqla"]}

    def _orders(self) -> Iterator[Any]:
        for key in _ORDERS:
            for one in _listed(self.form.get(key)):
                yield {"order": _order(one)}

    def _known(self, wanted: Iterable[Json], gaps: list[str]) -> Iterator[str]:
        for one in wanted:
            try:
                yield self._clause(one)
            except ArtifactError as error:
                gaps.append(f"a filter or an order: {error.reason}")

    def _clause(self, one: Json) -> str:
        if "order" in one:
            value = one["order"]
            return self._metric(value) if isinstance(value, dict) or value in self._metrics else self._column(value)
        if one.get("expressionType") == "SQL":
            return render(str(one.get("sqlExpression") or ""))
        subject = one.get("subject")
        value = (
            self._metric(subject) if isinstance(subject, dict) or subject in self._metrics else self._column(subject)
        )
        return f"{value} IS NOT NULL"

    def _source(self) -> str:
        sql = self.dataset.get("sql")
        if sql:
            return f"({render(str(sql)).strip().rstrip(';')}\n)"
        parts = (self.dataset.get("catalog"), self.dataset.get("schema"), self.dataset.get("table_name"))
        return ".".join(self._quote(str(part)) for part in parts if part)

    def _quote(self, name: str) -> str:
        return self.connection.quote(name)


def read_form(chart: Json) -> Json:
    """The form data of a chart. Raises ArtifactError if it is no JSON."""
    try:
        found = json.loads(chart.get("params") or "{}")
    except (TypeError, ValueError):
        raise ArtifactError("", "its params are no JSON") from None
    return found if isinstance(found, dict) else {}


def _listed(value: Any) -> list[Any]:
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if one not in (None, "", [], {})]


def _order(value: Any) -> Any:
    """What is ordered by: `["amount", false]`, as text in old charts."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    return value[0] if isinstance(value, list) and value else value


def _label(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    column = (value.get("column") or {}).get("column_name")
    named = value.get("label") or (f"{value.get('aggregate')}({column})" if column else value.get("sqlExpression"))
    return str(named or "expression")
