"""Worksheets: the fields on their shelves and marks, and what filters and sorts them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from whence.capture.bi.queries import Query
from whence.capture.bi.reports import Lineage, join_lineages
from whence.capture.bi.tableau.data_sources import DataSource, referenced
from whence.errors import ArtifactError
from whence.model.names import DatasetName
from whence_client.events.columns import NOT_CAPTURED

_AGGREGATES = {
    "sum": "SUM",
    "avg": "AVG",
    "min": "MIN",
    "max": "MAX",
    "cnt": "COUNT",
    "ctd": "COUNTD",
    "med": "MEDIAN",
    "attr": "ATTR",
    "std": "STDEV",
    "stp": "STDEVP",
    "var": "VAR",
    "vrp": "VARP",
}
_PLAIN = frozenset(("none", "usr", "io", "fVal", "pcto", "rank"))
_NAMES = frozenset((":Measure Names", "Multiple Values"))
_MEMBER = re.compile(r"\[(?:[^\]]|\]\])*\]\.\[(?:[^\]]|\]\])*\]")


@dataclass(frozen=True, slots=True)
class Worksheet:
    """A worksheet. `sources` are the data sources of the workbook, `flaws` why others are not known."""

    element: Element
    sources: Mapping[str, DataSource]
    flaws: Mapping[str, str]

    @property
    def name(self) -> str:
        """Its name."""
        return self.element.get("name") or "without a name"

    def lineage(self, target: DatasetName) -> Lineage:
        """What its fields are made of."""
        shown = referenced(self._shown())
        filters, sorts = referenced(self._filters()), referenced(self._sorts())
        names = dict.fromkeys(one for one, _ in (*shown, *filters) if one != "Parameters")
        parts = [self._of_source(name, shown, filters, sorts, target) for name in names]
        return join_lineages(tuple(parts))

    def _of_source(
        self,
        name: str,
        shown: list[tuple[str, str]],
        filters: list[tuple[str, str]],
        sorts: list[tuple[str, str]],
        target: DatasetName,
    ) -> Lineage:
        mine, filtering, sorting = ([one for key, one in part if key == name] for part in (shown, filters, sorts))
        if name not in self.sources:
            fields = tuple(dict.fromkeys(one.strip("[]") for one in mine if not _is_names(one)))
            gap = self.flaws.get(name) or f"the data source {name} is not in the file"
            return Lineage(fields=fields, unexplained=dict.fromkeys(fields, NOT_CAPTURED), gaps=(gap,))
        query = _Instances(self.sources[name], self.element).query(mine, filtering, sorting)
        try:
            return self.sources[name].read(query, target)
        except ArtifactError as error:
            fields = (*query.outputs, *query.unread)
            return Lineage(fields=fields, unexplained=dict.fromkeys(fields, NOT_CAPTURED), gaps=(error.reason,))

    def _shown(self) -> Iterator[str]:
        table = self.element.find("table")
        if table is None:
            return
        yield from (table.findtext(key) or "" for key in ("rows", "cols"))
        for encodings in table.iter("encodings"):
            yield from (one.get("column", "") for one in encodings)
        for one in table.iter("filter"):  # the measures that share one axis
            if one.get("column", "").endswith("[:Measure Names]"):
                members = (group.get("member", "") for group in one.iter("groupfilter"))
                yield from (found for member in members for found in _MEMBER.findall(member))

    def _filters(self) -> Iterator[str]:
        yield from (one.get("column", "") for one in self.element.iter("filter"))
        yield from (one.text or "" for one in self.element.iterfind(".//slices/column"))

    def _sorts(self) -> Iterator[str]:
        for tag in ("sort", "computed-sort", "shelf-sort-v2", "natural-sort", "manual-sort"):
            for one in self.element.iter(tag):
                yield from (one.get(key, "") for key in ("using", "measure-to-sort-by"))


@dataclass(frozen=True, slots=True)
class _Instances:
    """Uses of the columns of a data source in a worksheet: `[sum:amount:qk]`."""

    source: DataSource
    sheet: Element

    def query(self, shown: Iterable[str], filters: Iterable[str], sorts: Iterable[str]) -> Query:
        outputs, unread, gaps = dict[str, str](), dict[str, str](), list[str]()
        dimensions = list[str]()
        self.source.used.clear()
        for one in shown:
            if _is_names(one):
                continue
            derivation, column = self._parts(one)
            field, used = self._field(derivation, column), set(self.source.used)
            try:
                outputs[field] = self._expression(derivation, column)
            except ArtifactError as error:
                unread[field] = error.reason
                self.source.used = used
            if derivation not in _AGGREGATES and derivation != "usr":
                dimensions.append(field)
        conditions = [f"{one} IS NOT NULL" for one in self._known(filters, gaps)]
        orders = tuple(self._known(sorts, gaps))
        return Query(
            source="",
            outputs=outputs,
            dimensions=tuple(one for one in dimensions if one in outputs),
            conditions=tuple(conditions),
            orders=orders,
            unread=unread,
            gaps=tuple(gaps),
        )

    def _known(self, names: Iterable[str], gaps: list[str]) -> Iterator[str]:
        for one in names:
            if _is_names(one):
                continue
            derivation, column = self._parts(one)
            try:
                yield self._expression(derivation, column)
            except ArtifactError as error:
                gaps.append(f"a filter or an order by {self._field(derivation, column)}: {error.reason}")

    def _parts(self, instance: str) -> tuple[str, str]:
        """The derivation and the column of an instance, as the sheet declares it, or as its name says."""
        for one in self.sheet.iter("column-instance"):
            if one.get("name") == instance:
                return instance.strip("[]").split(":")[0], one.get("column", "")
        parts = instance[1:-1].split(":")
        return (parts[0], self.source.instance_column(instance)) if len(parts) > 2 else ("none", instance)

    def _field(self, derivation: str, column: str) -> str:
        caption = self.source.caption_of(column)
        if derivation in _AGGREGATES:
            return f"{_AGGREGATES[derivation]}({caption})"
        return caption if derivation in _PLAIN else f"{derivation.upper()}({caption})"

    def _expression(self, derivation: str, column: str) -> str:
        value = self.source.expression(column)
        match _AGGREGATES.get(derivation):
            case None:
                return value if derivation in _PLAIN else f"T_DATE({value})"
            case "COUNTD":
                return f"COUNT(DISTINCT {value})"
            case "ATTR":
                return f"MAX({value})"
            case "STDEV" | "STDEVP":
                return f"STDDEV({value})"
            case "VAR" | "VARP":
                return f"VARIANCE({value})"
            case name:
                return f"{name}({value})"


def _is_names(instance: str) -> bool:
    return instance[1:-1] in _NAMES
