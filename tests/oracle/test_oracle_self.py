"""The oracle against itself: order, duplicates and writing do not matter; and its dump hangs together."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from generators import arrivals, body, histories
from oracle import comparable, dump


@given(data=st.data(), history=histories())
def test_arrival_does_not_matter(data: st.DataObject, history: list[dict[str, object]]) -> None:
    batches = data.draw(arrivals(history))
    assert dump(one for batch in batches for one in batch) == dump(map(body, history))


@given(history=histories())
def test_spans_of_an_owner_follow_one_another(history: list[dict[str, object]]) -> None:
    lines = [json.loads(line) for line in dump(map(body, history))]
    spans = [line for line in lines if line.get("derived") == "validity_interval"]
    spans.sort(key=lambda span: (span["owner"], span["aspect"], span["from"]))
    for span in spans:
        assert span["sets"]
        assert span["to"] is None or span["from"] < span["to"]
    for before, after in pairwise(spans):
        if (before["owner"], before["aspect"]) == (after["owner"], after["aspect"]):
            assert before["to"] <= after["from"]
            assert (
                before["to"] < after["from"]
                or before["sets"] != after["sets"]
                or before["confirmed"] != after["confirmed"]
            )


@given(history=histories())
def test_every_reference_is_a_fact(history: list[dict[str, object]]) -> None:
    lines = [json.loads(line) for line in dump(map(body, history))]
    sets = {line["set"]: line for line in lines if line.get("fact") == "set"}
    nodes = {line["node"] for line in lines if line.get("fact") in ("dataset", "job", "field")}
    used = {one for line in lines for one in line.get("sets", ())} | {line["set"] for line in lines if "set" in line}
    assert used <= set(sets)
    assert {end for one in sets.values() for edge in one["edges"] for end in edge[:2]} <= nodes
    assert {line[key] for line in lines if line.get("fact") == "alias" for key in ("dataset", "alias")} <= nodes


def test_comparable_blanks_the_warnings_only() -> None:
    (line,) = [
        line
        for line in dump([body({"eventTime": "2026-01-01T00:00:00Z", "dataset": {"namespace": "n", "name": "a"}})])
        if '"event"' in line
    ]
    warned = line.replace('"warnings":[]', '"warnings":["no producer"]')
    assert warned != line
    assert comparable([warned]) == [line]
