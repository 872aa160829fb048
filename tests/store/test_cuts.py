"""Aliases that people cut, whatever the order of arrival, against the oracle."""

import json
from itertools import permutations
from typing import Any

import pytest
from sqlalchemy import Engine, delete

from fixtures.stores_of_events import apply_bodies
from oracle import comparable
from oracle import dump as meaning
from whence.model.names import DatasetName
from whence.openlineage.write import dataset_event
from whence.store.connection.engine import writing
from whence.store.lifecycle.dump import dump
from whence.store.schema.tables import metadata

PATH, TABLE, MOUNT = (DatasetName("n", name) for name in ("/path", "t", "/mnt"))


def link(time: int, of: DatasetName, other: DatasetName, kind: str, facet: str = "symlinks") -> dict[str, Any]:
    link = {"namespace": other.namespace, "name": other.name, "type": kind}
    return dataset_event(time, of, facets={facet: {"identifiers": [link]}})


STORY = [
    link(1, PATH, TABLE, "TABLE"),
    link(2, PATH, MOUNT, "LOCATION"),
    link(3, TABLE, PATH, "whence:cut", "whence_aliases"),
    link(4, PATH, TABLE, "whence:joined", "whence_aliases"),
    link(5, PATH, MOUNT, "whence:cut", "whence_aliases"),
]


@pytest.mark.parametrize("last", [3, 4, 5])
def test_order_does_not_matter(store: Engine, last: int) -> None:
    bodies = [json.dumps(one).encode() for one in STORY[:last]]
    expected = comparable(meaning(bodies))
    for order in list(permutations(range(last)))[:: last * 2]:
        with writing(store) as connection:
            for table in metadata.sorted_tables:
                connection.execute(delete(table))
        for place in order:
            apply_bodies(store, [bodies[place]], first=place + 1)
        assert comparable(dump(store)) == expected
