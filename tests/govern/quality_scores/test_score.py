"""Quality scores, by their sentences in the reference: against brute force over random lineage, and from a store."""

import json
import random
from fractions import Fraction
from typing import Any

from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from whence.govern.quality_scores.documents import score_document
from whence.govern.quality_scores.reading import read_score
from whence.govern.quality_scores.score import OwnQuality, score_of
from whence.model.access import Grant, Role, Viewer
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, facet, run_event
from whence.query.answers.instants import instant
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

HOUR, NOW = 3_600_000_000, instant("2026-11-20T09:00", 0)
Parts = dict[str, Fraction | None]


def random_parts(chance: random.Random) -> Parts:
    return {
        name: None if chance.random() < 0.5 else Fraction(chance.randint(0, 4), 4)
        for name in ("checks", "contract", "objectives")
    }


def test_a_score_is_the_weakest_on_any_way_and_nothing_that_gets_worse_makes_it_better() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        names = [DatasetName("n", f"t{number}") for number in range(7)]
        inputs = {one: [two for two in names if chance.random() < 0.25] for one in names}
        parts = {one: random_parts(chance) for one in names}

        # Scores by their recursive definition: own, and those of the inputs, again and again until nothing changes.
        scores: dict[DatasetName, Fraction | None] = {
            one: min((part for part in parts[one].values() if part is not None), default=None) for one in names
        }
        for _ in names:
            for one in names:
                below = [scores[each] for each in (one, *inputs[one])]
                scores[one] = min((each for each in below if each is not None), default=None)

        distances, frontier = {names[0]: 0}, [names[0]]
        while frontier:
            at = frontier.pop(0)
            for one in inputs[at]:
                if one not in distances:
                    distances[one] = distances[at] + 1
                    frontier.append(one)
        known = {one: OwnQuality(distance=depth, **parts[one]) for one, depth in distances.items()}
        found = score_of(names[0], known, is_whole=True)
        assert found.score == scores[names[0]], seed
        assert found.score is None or 0 <= found.score <= 1
        if found.limited_by is not None and found.part is not None:
            assert parts[found.limited_by][found.part] == found.score
            nearer = [one for one, depth in distances.items() if depth < distances[found.limited_by]]
            others = [each for one in nearer for each in parts[one].values() if each is not None]
            assert found.score is not None
            assert all(found.score < each for each in others)
        silent = {one for one in distances if all(each is None for each in parts[one].values())}
        assert set(found.unknown) == silent
        assert found.is_exact == (found.score is not None and not silent)

        worse, part = chance.choice(list(distances)), chance.choice(("checks", "contract", "objectives"))
        lower = Fraction(0) if parts[worse][part] is None else (parts[worse][part] or Fraction(0)) / 2
        again = {**parts, worse: {**parts[worse], part: lower}}
        changed = score_of(
            names[0], {one: OwnQuality(distance=depth, **again[one]) for one, depth in distances.items()}, is_whole=True
        )
        assert changed.score is not None
        assert found.score is None or changed.score <= found.score, seed


RAW, RATES, GOLD, LIMIT = (
    DatasetName(space, name) for space, name in (("hr", "raw"), ("db", "rates"), ("db", "gold"), ("db", "allowed"))
)


def run(job: str, ago: int, inputs: list[Any], outputs: list[Any]) -> bytes:
    name = RunName(f"01890000-0000-7000-8000-{NOW // HOUR - ago:012}", JobName("cron", job))
    return json.dumps(run_event(NOW - ago * HOUR, RunState.COMPLETE, name, inputs=inputs, outputs=outputs)).encode()


def checked(name: DatasetName, **results: bool) -> Any:
    found = [{"assertion": check, "success": held} for check, held in results.items()]
    facets = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=found)}
    return dataset(name) | {"inputFacets": facets}


def test_of_a_store_direct_inputs_limit_a_dataset_as_of_any_time(store: Engine) -> None:
    edges = [
        Edge(source=FieldName(RAW, "a"), target=FieldName(GOLD, "a"), type="DIRECT", subtype="IDENTITY"),
        Edge(source=FieldName(RATES, "r"), target=FieldName(GOLD, "b"), type="DIRECT", subtype="IDENTITY"),
        Edge(source=FieldName(LIMIT, "x"), target=GOLD, type="INDIRECT", subtype="FILTER"),
    ]
    gold = dataset(GOLD, facets={"columnLineage": column_lineage(edges)})
    apply_bodies(
        store,
        [
            run("build", 9, [dataset(RAW), dataset(RATES), dataset(LIMIT)], [gold]),
            run("check gold", 8, [checked(GOLD, one=True, two=True)], []),
            run("check raw", 7, [checked(RAW, one=True, two=True, three=True, four=False)], []),
            run("check limit", 6, [checked(LIMIT, one=False)], []),
            run("check raw", 2, [checked(RAW, one=True, two=True, three=True, four=True)], []),
        ],
    )
    with snapshot(store) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        past = read_score(catalog, graph, GOLD, NOW, NOW - 4 * HOUR)
        assert (past.score, past.own, past.limited_by, past.part) == (Fraction(3, 4), Fraction(1), RAW, "checks")
        assert (past.unknown, past.datasets, past.is_exact) == ((RATES,), 3, False)
        now = read_score(catalog, graph, GOLD, NOW, None)
        assert (now.score, now.limited_by) == (Fraction(1), GOLD)
        assert read_score(catalog, graph, RATES, NOW, None).score is None
    viewer = Viewer(name="ann", grants=(Grant(Role.READER, "db"),))
    shown = score_document(past, GOLD, NOW, viewer)
    assert (shown["score"], shown["limited_by"], shown["part"]) == (0.75, None, None)
    assert "hr" not in json.dumps(shown)
