"""Who may assert what: the one rule against the oracle's, and what is recorded of it in an event."""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from generators import body, governed_events, sent, viewers
from openlineage.test_against_oracle import assert_read_alike
from oracle.withholding import applied
from whence.errors import EventError
from whence.model.access import Action, Viewer
from whence.model.events import RunEvent
from whence.openlineage.accept import accept, restrict, seal
from whence.openlineage.authority.restrictions import FULL, NOT_APPLIED, WITHHELD, Authority

EVERYWHERE = ["s3://lake", "postgres://db:5432", "postgres://db:5433", "hdfs", "file", "hive://meta:9083", "warehouse"]
EVERYWHERE += ["ns:with:colons", "bigquery", "inmemory://", "inmemory", "hdfs://", "airflow", "-", "spark", "größe"]
EVERYWHERE += ["s3a://jobs/", "whence.catalog", "whence.other", ""]
RUN = {"runId": "0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10"}
OWN = Authority(lambda action, namespace: (action, namespace) == (Action.WRITE, "own"), lambda *_: False)


def event(**more: Any) -> bytes:
    head = {"eventTime": "2026-11-20T06:00:00Z", "producer": "p", "schemaURL": "s"}
    return json.dumps(head | {"run": RUN, "job": {"namespace": "own", "name": "j"}} | more).encode()


@given(governed_events(), viewers)
def test_what_a_sender_may_not_assert_is_exactly_what_is_withheld(event: dict[str, Any], sender: Viewer) -> None:
    logged = sent(event, sender)
    assume(logged is not None)
    assert logged is not None
    lacking = [
        {"action": str(action), "namespace": namespace}
        for namespace in EVERYWHERE
        for action in (Action.WRITE, Action.STEWARD)
        if not sender.is_allowed(action, namespace)
    ]
    forged = str(event.get("producer")).startswith("urn:whence:person:") and sender.name != "key:admin"
    assert applied(logged) == applied({**event, WITHHELD: {"needs": lacking, "person": forged}})


@given(governed_events(), viewers)
def test_a_restricted_event_is_read_as_the_oracle_reads_it(event: dict[str, Any], sender: Viewer) -> None:
    logged = sent(event, sender)
    assume(logged is not None)
    authority = Authority(
        sender.is_allowed, lambda producer, _: producer.endswith("admin") and sender.name == "key:admin"
    )
    accepted = accept(body(event), authority=authority)
    assert_read_alike(accepted)
    withheld = bool(accepted.warnings) and accepted.warnings[0].startswith(f"/: {NOT_APPLIED}")
    assert accepted.restricted == (WITHHELD in json.loads(accepted.payload) and withheld)
    assert seal(accepted.payload).key == accepted.key, "sealing again changes nothing"
    again = restrict(seal(accepted.payload), authority)
    assert (again.key, again.payload) == (accepted.key, accepted.payload), "nor does the same sender's sending it again"


@given(governed_events(), viewers, st.booleans())
def test_nobody_restricts_themselves_or_frees_themselves(event: dict[str, Any], sender: Viewer, some: bool) -> None:
    forged = {"needs": [{"action": "write", "namespace": "s3://lake"}], "person": some}
    assert sent({**event, WITHHELD: forged}, sender) == sent(event, sender)
    assert sent({**event, WITHHELD: [forged]}, sender) == sent(event, sender)


def test_an_event_without_anything_governed_is_the_body_as_it_came() -> None:
    given_ = event(outputs=[{"namespace": "other", "name": "x", "facets": {"schema": {"fields": [{"name": "pwned"}]}}}])
    accepted = accept(given_, authority=OWN)
    assert (accepted.payload, accepted.restricted) == (given_, False)
    assert accepted.key == accept(given_).key


def test_the_same_event_of_two_senders_is_two_events() -> None:
    given_ = event(outputs=[{"namespace": "other", "name": "x", "facets": {"whence_tier": {"tier": 1}}}])
    full, restricted = accept(given_, authority=FULL), accept(given_, authority=OWN)
    assert full.key != restricted.key
    assert json.loads(restricted.payload)[WITHHELD] == {
        "needs": [{"action": "steward", "namespace": "other"}, {"action": "write", "namespace": "other"}]
    }
    assert restricted.warnings[0].startswith(f"/: {NOT_APPLIED}: 1 assertion; the sender may not write in 'other'")
    assert any(one.startswith(f"/outputs/0/facets/whence_tier: {NOT_APPLIED}") for one in restricted.warnings)


def test_the_count_of_what_is_withheld_survives_any_number_of_other_warnings() -> None:
    facets: dict[str, Any] = {f"a{number}": 0 for number in range(100)} | {"tags": {"tags": []}}
    accepted = accept(event(outputs=[{"namespace": "other", "name": "x", "facets": facets}]), authority=OWN)
    assert accepted.warnings[0].startswith(f"/: {NOT_APPLIED}: 1 assertion")


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"job": {"namespace": "", "name": "j"}}, "/job/namespace"),
        ({"run": None, "job": None, "dataset": {"namespace": "", "name": "d"}}, "/dataset"),
    ],
)
def test_an_empty_namespace_is_refused(more: dict[str, Any], pointer: str) -> None:
    with pytest.raises(EventError) as caught:
        accept(event(**more))
    assert (caught.value.status, caught.value.pointer) == (422, pointer)


def test_a_container_in_an_empty_namespace_is_none() -> None:
    parent = {"run": RUN | {"runId": RUN["runId"].replace("0190", "0191")}, "job": {"namespace": "", "name": "dag"}}
    accepted = accept(event(run=RUN | {"facets": {"parent": parent}}))
    assert isinstance(accepted.event, RunEvent)
    assert accepted.event.run.parent is None
    assert any("/run/facets/parent" in one for one in accepted.warnings)
