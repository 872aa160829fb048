"""Labels after each of many random edits of a graph: those that the edits imply, computed anew by other code."""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from query.worlds.sensitive_story import made, ran, same, shaped
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node
from whence.model.sensitivity import Grade
from whence.openlineage.write import dataset, facet
from whence.query.sensitivity.dataset_labels import labels_of_datasets
from whence.query.sensitivity.estate_labels import label_estate
from whence.query.sensitivity.whole_graph import list_datasets
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

FEW, MANY = 40, 10_000
DATASETS = tuple(DatasetName(f"s3://{name}", "t") for name in "abcdef")
COLUMNS = ("x", "y", "z")
PASSES = {
    "": (Grade.FULL, True),
    "UPPER({0})": (Grade.FULL, True),
    "my_udf({0})": (Grade.FULL, False),
    "SHA2({0}, 256)": (Grade.PSEUDONYMOUS, True),
    "LEFT({0}, 3)": (Grade.PARTIAL, True),
    "AVG({0})": (Grade.STATISTIC, True),
    "CASE WHEN {0} = 1 THEN 2 END": (Grade.INFLUENCED, True),
}
"""How much an expression shows of its column, and whether that is certain."""

Grades = tuple[Grade, Grade]
"""At most, and for certain."""


class Step(NamedTuple):
    """An edge of a job: from a column to one of its columns, or to all of them (a filter)."""

    source: FieldName
    target: Node
    text: str


@dataclass(slots=True)
class Edits:
    """The jobs' last lineage, and the last tags: what there is after the edits."""

    dice: random.Random
    of_job: dict[DatasetName, list[Step]] = field(default_factory=dict)
    tags: dict[DatasetName, frozenset[str]] = field(default_factory=dict)
    count: int = 0

    def edit(self) -> bytes:
        """One more event: a job that now makes its dataset in another way, or other tags."""
        self.count += 1
        target = self.dice.choice(DATASETS)
        if self.dice.random() < 0.3:
            self.tags[target] = frozenset(one for one in COLUMNS if self.dice.random() < 0.25)
        else:
            self.of_job[target] = [self._step(target) for _ in range(self.dice.randrange(1, 4))]
        return self._run(target)

    def untag(self) -> bytes:
        """The event that takes the tags of a tagged dataset."""
        self.count += 1
        tagged = [one for one, tags in self.tags.items() if tags]
        target = self.dice.choice(tagged or DATASETS)
        self.tags[target] = frozenset()
        return self._run(target)

    def _step(self, target: DatasetName) -> Step:
        source = FieldName(self.dice.choice([one for one in DATASETS if one != target]), self.dice.choice(COLUMNS))
        if self.dice.random() < 0.15:
            return Step(source, target, "")
        return Step(source, FieldName(target, self.dice.choice(COLUMNS)), self.dice.choice(tuple(PASSES)))

    def _run(self, target: DatasetName) -> bytes:
        body = json.loads(ran(f"make {target.namespace}", self.count, dataset(target), target, self._edges(target)))
        body["inputs"] = [dataset(one) for one in sorted({step.source.dataset for step in self.of_job.get(target, ())})]
        facets: dict[str, Any] = body["outputs"][0]["facets"]
        facets["schema"] = facet("SchemaDatasetFacet", fields=[{"name": one} for one in COLUMNS])
        tags = [{"key": "pii", "value": "true", "field": one} for one in sorted(self.tags.get(target, ()))]
        facets["tags"] = facet("TagsDatasetFacet", tags=tags)
        return json.dumps(body).encode()

    def _edges(self, target: DatasetName) -> Iterator[Edge]:
        for step in self.of_job.get(target, ()):
            if isinstance(step.target, DatasetName):
                yield shaped(step.source, step.target, "FILTER")
            elif step.text:
                yield made(step.source, step.target, step.text.format(step.source.field))
            else:
                yield same(step.source, step.target)

    def labels(self) -> Mapping[FieldName, Grades]:
        """The grade of each column at most, and for certain: raised until nothing rises."""
        found = {FieldName(of, name): (Grade.NONE, Grade.NONE) for of in DATASETS for name in COLUMNS}
        found |= {FieldName(of, name): (Grade.FULL, Grade.FULL) for of, names in self.tags.items() for name in names}
        steps = [step for several in self.of_job.values() for step in several]
        for _ in range(len(found) * len(Grade)):
            before = dict(found)
            for step in steps:
                self._pass_on(step, found)
            if found == before:
                return {name: grades for name, grades in found.items() if grades[0]}
        raise AssertionError("grades rise only so often")

    @staticmethod
    def _pass_on(step: Step, found: dict[FieldName, Grades]) -> None:
        is_filter = isinstance(step.target, DatasetName)
        shown, is_sure = (Grade.INFLUENCED, True) if is_filter else PASSES[step.text]
        most, sure = found[step.source]
        carried = min(most, shown), min(sure, shown) if is_sure else Grade.NONE
        for name in [one for one in found if step.target in (one, one.dataset)]:
            found[name] = max(found[name][0], carried[0]), max(found[name][1], carried[1])


def read_labels(store: Engine, at: int | None = None) -> Mapping[FieldName, Grades]:
    """The labels of all columns by the store, at a time (µs), None: now."""
    with reading(store) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        names = {one.id: one.name for one in list_datasets(catalog)}
        found = labels_of_datasets(graph, label_estate(catalog, graph, at), names, "pii")
    return {
        FieldName(name, one.column): (one.grade, one.proven)
        for id_, several in found.items()
        for one in several
        if one.column and one.grade and isinstance(name := names[id_], DatasetName)
    }


def test_labels_follow_every_edit(store: Engine, request: pytest.FixtureRequest) -> None:
    edits = Edits(random.Random(1))
    for number in range(MANY if request.config.getoption("long") else FEW):
        apply_bodies(store, [edits.edit()], first=number + 1)
        assert read_labels(store) == edits.labels(), f"after edit {edits.count}"


def test_without_tags_nothing_that_was_derived_is_left(store: Engine) -> None:
    """In the position of the event that takes the last tag."""
    edits = Edits(random.Random(7))
    apply_bodies(store, [edits.edit() for _ in range(40)])
    assert read_labels(store)
    place = 40
    while any(edits.tags.values()):
        place += 1
        apply_bodies(store, [edits.untag()], first=place)
        assert read_labels(store) == edits.labels()
    assert read_labels(store) == {}
