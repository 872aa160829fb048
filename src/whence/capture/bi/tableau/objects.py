"""The logical tables of newer data sources and their relationships: a query joins only those that its fields need."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from whence.capture.bi.tableau.relations import Relations
from whence.errors import ArtifactError

_OTHERS = "it has logical tables, and no relationship joins {} to the others"


@dataclass(frozen=True, slots=True)
class Relationship:
    """What joins two logical tables."""

    first: str
    second: str
    expression: Element | None


@dataclass(frozen=True, slots=True)
class ObjectGraph:
    """Logical tables by their id."""

    objects: dict[str, Element]
    relationships: tuple[Relationship, ...]

    def clause(self, relations: Relations, used: Iterable[str], column: Callable[[str], str]) -> str:
        """The FROM clause of the tables with these names, and of those between them. Raises ArtifactError."""
        wanted = [key for key, element in self.objects.items() if element.get("name") in set(used)]
        joined = wanted[:1] or list(self.objects)[:1]
        text = relations.clause(self.objects[joined[0]])
        for key in wanted[1:]:
            for step in self._path(joined, key):
                added = step.second if step.first in joined else step.first
                on = "1 = 1" if step.expression is None else relations.condition(step.expression, column)
                text += f" LEFT JOIN {relations.clause(self.objects[added])} ON {on}"
                joined.append(added)
        return text

    def _path(self, joined: list[str], key: str) -> list[Relationship]:
        """The relationships that lead from the joined tables to another."""
        if key in joined:
            return []
        ways: dict[str, list[Relationship]] = {one: [] for one in joined}
        queue = list(joined)
        for here in queue:
            for one in self.relationships:
                there = {one.first: one.second, one.second: one.first}.get(here)
                if there and there not in ways:
                    ways[there] = [*ways[here], one]
                    queue.append(there)
        if key not in ways:
            raise ArtifactError("", _OTHERS.format(self.objects[key].get("name")))
        return ways[key]


def read_graph(source: Element) -> ObjectGraph | None:
    """The logical tables of a data source; None of one that has joined tables only."""
    graph = source.find("object-graph")
    if graph is None:
        return None
    found = {one.get("id", ""): _relation(one) for one in graph.findall("objects/object")}
    objects = {key: relation for key, relation in found.items() if relation is not None}
    relationships = (_relationship(one) for one in graph.findall("relationships/relationship"))
    known = tuple(one for one in relationships if one.first in objects and one.second in objects)
    return ObjectGraph(objects, known) if objects else None


def _relation(element: Element) -> Element | None:
    """What an object is made of in the database, and not in an extract."""
    properties = element.findall("properties")
    best = next((one for one in properties if not one.get("context")), properties[0] if properties else None)
    return best.find("relation") if best is not None else None


def _relationship(element: Element) -> Relationship:
    ends = [element.find(f"{which}-end-point") for which in ("first", "second")]
    first, second = ("" if one is None else one.get("object-id", "") for one in ends)
    return Relationship(first, second, element.find("expression"))
