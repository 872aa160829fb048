"""Retention over a log of several lanes: each has positions of its own."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, insert, select

from whence.derive.rebuild import split_at_horizons
from whence.errors import StoreError
from whence.log import Lane, Position
from whence.store.connection.engine import writing
from whence.store.ingest.retention_summary import EnforcedHorizon, RetentionHorizon
from whence.store.lifecycle.purge import enforce_horizon, preview_purge
from whence.store.schema.tables import event, progress, receipt

HORIZON = RetentionHorizon(runs=100, keep=0, history=100)


def place(partition: int, offset: int) -> int:
    return Position(partition, offset).as_int


def fill(engine: Engine, young: Sequence[int], refused: Sequence[int], ends: Sequence[int]) -> None:
    """Dataset events of after the horizon, refused records, and how far three lanes are read."""
    names = [name for name in event.columns.keys() if name not in ("id", "position")]  # noqa: SIM118
    same = dict.fromkeys(names, 0) | {"kind": 2, "time": 100, "warnings": ""}
    with writing(engine) as connection:
        connection.execute(insert(event), [{**same, "id": number, "position": at} for number, at in enumerate(young)])
        rows = [{"position": at, "event_id": -1, "rest": 0, "reason": "/run: is no run"} for at in refused]
        connection.execute(insert(receipt), rows)
        connection.execute(
            insert(progress),
            [{"name": f"t/{number}", "position": place(number, end)} for number, end in enumerate(ends)],
        )


def test_what_was_refused_goes_if_it_is_older_than_its_own_lane_remembers(store: Engine) -> None:
    refused = [place(0, 4), place(0, 6), place(1, 4), place(1, 6), place(2, 4)]
    fill(store, young=[place(0, 5), place(1, 3)], refused=refused, ends=[9, 9, 9])
    with preview_purge(store, HORIZON) as expired:
        assert [key for table, (*key,) in expired.iterate_keys() if table == "receipt"] == [[place(0, 4)]]
    assert enforce_horizon(store, HORIZON)["receipt"] == 1
    with writing(store) as connection:
        left = sorted(connection.execute(select(receipt.c.position)).scalars())
    assert left == [place(0, 6), place(1, 4), place(1, 6), place(2, 4)]


@pytest.mark.parametrize("beyond", [place(0, 9), place(1, 9)])
def test_a_store_is_not_settled_if_one_lane_is_ahead(store: Engine, beyond: int) -> None:
    fill(store, young=[place(0, 8), beyond], refused=[place(2, 8)], ends=[9, 9, 9])
    with pytest.raises(StoreError, match="start the pipeline once"), preview_purge(store, HORIZON):
        pass


LANES = (
    (Lane("log", Position(3, 16), Position(5, 40)),),
    tuple(Lane(f"t/{number}", Position(number, 2), Position(number, 10 + number)) for number in range(3)),
)


@given(lanes=st.sampled_from(LANES), data=st.data())
def test_the_parts_of_a_rebuild_are_the_log(lanes: tuple[Lane, ...], data: st.DataObject) -> None:
    offsets = [sorted(data.draw(st.lists(st.integers(0, 60), min_size=2, max_size=2))) for _ in lanes]
    segments = [lane.end.segment for lane in lanes]
    enforced = [
        EnforcedHorizon(
            number=number,
            horizon=HORIZON,
            reached={
                lane.name: place(segment, some[number])
                for lane, segment, some in zip(lanes, segments, offsets, strict=True)
                if data.draw(st.integers(0, 4))
            },
            finished=True,
        )
        for number in range(2)
    ]
    found = list(split_at_horizons(lanes, enforced))
    assert [horizon for _, horizon in found] == [HORIZON, HORIZON, None]
    for lane, *pieces in zip(lanes, *(part for part, _ in found), strict=True):
        assert pieces[0].start <= lane.start
        assert [piece.end for piece in pieces[:-1]] == [piece.start for piece in pieces[1:]]
        assert all(piece.start <= piece.end for piece in pieces)
        assert pieces[-1].end == lane.end
        assert pieces[0].start.segment == (0 if len(lanes) == 1 else lane.start.segment)
        for piece, one in zip(pieces, enforced, strict=False):
            if lane.name in one.reached and lane.start.as_int <= one.reached[lane.name] <= lane.end.as_int:
                assert piece.end.as_int >= one.reached[lane.name] or piece.end == lane.end
