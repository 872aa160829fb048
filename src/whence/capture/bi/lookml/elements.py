"""Elements of dashboards: which fields of which explore a chart shows, filters by, and computes by itself."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.capture.bi.lookml.explores import Explore
from whence.capture.bi.lookml.fields import filtered_names
from whence.capture.bi.queries import Query
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json

_REFERENCE = re.compile(r"\$\{\s*([\w.]+)(?::\w+)?\s*\}")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_MEASURES = {"sum": "SUM", "average": "AVG", "count_distinct": "COUNT_DISTINCT", "count": "COUNT"}
_LISTS = ("fields", "dimensions", "measures", "pivots", "columns")
"""Where elements have fields; `dimensions` and `measures` in dashboards of the first syntax."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element, or one of the queries that it merges."""

    spec: Json

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields, without those that it computes by itself."""
        listed = [str(one) for key in _LISTS for one in self.spec.get(key) or () if isinstance(one, str)]
        return tuple(one for one in dict.fromkeys(listed) if one not in self.computed)

    @property
    def computed(self) -> Mapping[str, Json]:
        """Its table calculations and custom fields, by name."""
        found = self.spec.get("dynamic_fields") or ()
        try:
            listed = json.loads(found) if isinstance(found, str) else found
        except ValueError:
            listed = ()
        named = {_computed_name(one): one for one in listed if isinstance(one, dict)}
        return {name: one for name, one in named.items() if name}

    @property
    def filters(self) -> tuple[str, ...]:
        """The fields that it, or a filter of the dashboard that it listens to, filters by."""
        listens = self.spec.get("listen")
        heard = [str(one) for one in listens.values() if isinstance(one, str)] if isinstance(listens, dict) else []
        return tuple(dict.fromkeys((*filtered_names(self.spec.get("filters") or []), *heard)))

    @property
    def orders(self) -> tuple[str, ...]:
        """The fields that it is sorted by."""
        return tuple(str(one).split()[0] for one in self.spec.get("sorts") or () if str(one).split())


def make_query(explore: Explore, element: Element) -> Query:
    """The query of an element. Raises ArtifactError if what it reads from is not known."""
    expressions = _Expressions(explore, element.computed)
    outputs, unread, gaps = dict[str, str](), dict[str, str](), list[str]()
    for name in (*element.fields, *element.computed):
        used = set(explore.used)
        try:
            outputs[name] = expressions.of(name)
        except ArtifactError as error:
            unread[name] = error.reason
            explore.used = used
    conditions = [f"{one} IS NOT NULL" for one in _known(expressions, element.filters, gaps)]
    if element.spec.get("filter_expression"):
        conditions += _known(expressions, (str(element.spec["filter_expression"]),), gaps, expressions.looker)
    conditions += explore.conditions(frozenset(element.filters))
    orders = tuple(_known(expressions, element.orders, gaps))
    return Query(
        source=explore.source(),
        outputs=outputs,
        dimensions=tuple(name for name in outputs if not expressions.is_aggregated(name)),
        conditions=tuple(conditions),
        orders=orders,
        unread=unread,
        gaps=tuple(gaps),
    )


@dataclass(frozen=True, slots=True)
class _Expressions:
    """The SQL of an element's fields, with those that it computes by itself."""

    explore: Explore
    computed: Mapping[str, Json]

    def of(self, name: str, passed: tuple[str, ...] = ()) -> str:
        if name not in self.computed:
            return self.explore.expression(name)
        if name in passed:
            raise ArtifactError(name, f"{name} is made of itself")
        spec, inner = self.computed[name], (*passed, name)
        if spec.get("based_on"):
            return self._custom_measure(spec, inner)
        text = spec.get("expression")
        if not text and isinstance(spec.get("args"), list) and spec["args"]:
            return self.of(str(spec["args"][0]), inner)
        if not text:
            raise ArtifactError(name, "it has neither an expression nor based_on")
        return self.looker(str(text), inner)

    def looker(self, text: str, passed: tuple[str, ...] = ()) -> str:
        """An expression of Looker's own language as SQL: texts are in double quotes."""
        quoted = _TEXT.sub(lambda found: "'" + found[1].replace("'", "''") + "'", text)
        return f"({_REFERENCE.sub(lambda found: self.of(found[1], passed), quoted)})"

    def is_aggregated(self, name: str) -> bool:
        return (name in self.computed and "dimension" not in self.computed[name]) or self.explore.is_measure(name)

    def _custom_measure(self, spec: Json, passed: tuple[str, ...]) -> str:
        value = self.of(str(spec["based_on"]), passed)
        filters = [f"{self.of(one, passed)} IS NOT NULL" for one in filtered_names(spec.get("filters") or [])]
        if spec.get("filter_expression"):
            filters.append(self.looker(str(spec["filter_expression"]), passed))
        value = f"CASE WHEN {' AND '.join(filters)} THEN {value} END" if filters else value
        kind = str(spec.get("type") or "")
        if kind == "count_distinct":
            return f"COUNT(DISTINCT {value})"
        return f"{_MEASURES.get(kind, kind.upper() or 'VALUE')}({value})"


def _known(
    expressions: _Expressions, names: Iterable[str], gaps: list[str], make: Callable[[str], str] | None = None
) -> Iterator[str]:
    for name in names:
        try:
            yield (make or expressions.of)(name)
        except ArtifactError as error:
            gaps.append(f"a filter or an order by {name}: {error.reason}")


def _computed_name(spec: Json) -> str:
    return next((str(spec[key]) for key in ("table_calculation", "measure", "dimension") if spec.get(key)), "")
