"""Objectives in `/metrics`: what the last evaluation found, in bounded labels, and only what each viewer may see."""

import json
import random
import re
import time
from dataclasses import replace

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from security.conftest import House, now
from security.slos.test_slos import (
    DEV,
    EVERY,
    EVIL,
    HOUR,
    PROD,
    SECRETS,
    STAGING,
    declared,
    fresh,
    record,
    run,
    send,
    written,
)
from security.slos.test_slos import shop as shop
from test_docs import page
from whence.api.operations.slo_metrics import MOST_SLOS, SloExposition
from whence.api.slos.recording import SloRecording
from whence.govern.slos.declared import EvaluatedSlo, Evaluation
from whence.govern.slos.evaluation.facts import Facts, Write
from whence.govern.slos.evaluation.judge import judge
from whence.govern.slos.objectives import Objective
from whence.govern.slos.records import Declaration, declaration_of
from whence.govern.slos.slo_file import read_slos
from whence.model.access import OPEN, Grant, Role
from whence.model.names import DatasetName
from whence.model.slo_records import slo_id
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]
OLD_VERSION = '{"version": 9, "service": "shop"}'


def samples(text: str) -> Samples:
    """The samples of objectives, by name and labels. A series that is there twice would be refused by Prometheus."""
    found = [one for family in text_string_to_metric_families(text) for one in family.samples]
    of_slos = [one for one in found if one.name.startswith("whence_slo")]
    read = {(one.name, frozenset(one.labels.items())): one.value for one in of_slos}
    assert len(read) == len(of_slos)
    return read


def of_slo(found: Samples, id_: str, name: str) -> dict[str, float]:
    """The values of one metric of an objective, by its remaining label."""
    values = {}
    for (metric, labels), value in found.items():
        if metric == name and ("id", id_) in labels:
            values["".join(text for key, text in labels if key not in ("id", "service", "slo"))] = value
    return values


def evaluated(one: Objective, facts: Facts, at: int) -> EvaluatedSlo:
    record = declaration_of(one)
    id_ = slo_id(one.dataset.namespace, one.service, one.name)
    declaration = Declaration(id=id_, record=record, dataset=one.dataset, time=0, objective=one)
    return EvaluatedSlo(declaration=declaration, judgement=judge(one, facts, at))


def exposed(*slos: EvaluatedSlo, at: int) -> Samples:
    last = Evaluation(at=at, slos=slos)
    return samples(SloExposition(lambda: last).read(OPEN).decode())


def test_what_the_last_evaluation_found_is_served_and_no_request_evaluates(shop: House) -> None:
    ada, began = shop.key("ada", Role.ADMIN), now()

    async def work(client: httpx.AsyncClient, recording: SloRecording) -> None:
        bodies = [written(PROD, began - HOUR, 1), written(STAGING, began - 5 * HOUR, 2), written(EVIL, began, 3)]
        at = began - 6 * HOUR
        await send(client, ada, *bodies, *(declared(fresh(one), at, "key:ada") for one in EVERY))
        await send(client, ada, declared(fresh(DEV, title="over"), at, "key:ada"))
        await send(client, ada, declared(fresh(DEV, title="over"), at + 1, "key:ada", ended=True))
        await record(client, ada, recording)
        found = samples((await client.get("/metrics", headers=ada)).text)
        rows = (await client.get("/api/v2/slos", headers=ada)).json()["data"]["slos"]
        assert len(rows) == 4
        for row in rows:
            assert of_slo(found, row["id"], "whence_slo_state") == {
                state: float(state == row["state"].replace(" ", "_"))
                for state in ("holds", "violated", "learning", "not_evaluated", "suppressed")
            }
            rates = {
                label: window["burn_rate"]
                for burn in row["burn_rates"]
                for label, window in (("2h", burn["long_window"]), ("1h", burn["short_window"]))
            }
            assert of_slo(found, row["id"], "whence_slo_burn_rate") == pytest.approx(rates, abs=0.01)
            assert of_slo(found, row["id"], "whence_slo_alert_open") == {"page": float(row["notify"] == "page")}
            left = row["budget"] and row["budget"]["remaining"]
            assert of_slo(found, row["id"], "whence_slo_budget_remaining_ratio") == pytest.approx(
                {} if left is None else {"": left}, abs=0.01
            )
            total = of_slo(found, row["id"], "whence_slo_window_total")
            assert total == pytest.approx({"seconds": row["budget"]["total"]} if row["budget"] else {}, abs=60)
        counts = {"holds": 2, "violated": 1, "not_evaluated": 1, "learning": 0, "suppressed": 0, "hidden": 0}
        assert {state: found["whence_slos", frozenset({("state", state)})] for state in counts} == counts
        # Until the next evaluation, whatever comes: a scrape only serves what was found.
        await send(client, ada, written(STAGING, now(), 4))
        assert samples((await client.get("/metrics", headers=ada)).text) == found
        await record(client, ada, recording)
        assert samples((await client.get("/metrics", headers=ada)).text) != found
        assert (await client.get("/metrics")).status_code == 401

    run(shop, work)


def test_no_viewer_reads_a_hidden_name_or_what_became_of_it(shop: House) -> None:
    ada, began, rng = shop.key("ada", Role.ADMIN), now(), random.Random("viewers")
    viewers = [(shop.key("writer", Role.WRITER, "nothing"), frozenset[DatasetName]())]
    for number in range(8):
        seen = frozenset(one for one in (PROD, STAGING, DEV) if rng.random() < 0.6)
        headers = shop.key(f"viewer{number}", Role.READER, "nothing")
        with write_security(shop.engine) as connection:
            for one in seen:
                add_grant(connection, f"key:viewer{number}", Grant(Role.READER, one.namespace))
        viewers.append((headers, seen))

    async def work(client: httpx.AsyncClient, recording: SloRecording) -> None:
        bodies = [written(one, began - n * HOUR, n, "secret_load") for n, one in enumerate(EVERY)]
        slos = [declared(fresh(one, title=f"{one.namespace} \x1b[2J"), began - 9 * HOUR, "key:ada") for one in EVERY]
        await send(client, ada, *bodies, *slos)
        await record(client, ada, recording)
        for headers, seen in viewers:
            text = (await client.get("/metrics", headers=headers)).text
            hidden = [*SECRETS, *(one.namespace for one in EVERY if one not in seen)]
            assert not [name for name in hidden if name in text]
            found = samples(text)
            names = {dict(labels).get("dataset") for metric, labels in found if metric == "whence_slo_info"}
            assert names == {str(one) for one in seen}
            states = {dict(labels)["state"]: value for (name, labels), value in found.items() if name == "whence_slos"}
            assert states.pop("hidden") == len(EVERY) - len(seen)
            assert sum(states.values()) == len(seen)

    run(shop, work)


def test_hostile_names_make_lines_that_prometheus_reads() -> None:
    names = ['a"b\\', "line\nbreak", "\x1b[2J\u202e", "\ud800", "x" * 180, "{{ .Labels }}", "é / 日本"]
    at, slos = now(), []
    for number, name in enumerate(names):
        dataset = DatasetName(f"s3://{number}", f"{name}{'y' * 500}")
        one = replace(fresh(PROD, service="\r\n shop"), name=name, dataset=dataset)
        slos.append(evaluated(one, Facts(writes=(Write(time=at - HOUR),)), at))
    last = Evaluation(at=at, slos=tuple(slos))
    text = SloExposition(lambda: last).read(OPEN).decode()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", text)
    found = samples(text)
    info = [dict(labels) for metric, labels in found if metric == "whence_slo_info"]
    assert {one["id"] for one in info} == {one.declaration.id for one in slos}
    assert max(len(value) for one in info for value in one.values()) <= 200
    # In Python's names of characters, so that no two of these are one.
    assert {'a"b\\', "line\\nbreak", "\\x1b[2J\\u202e", "\\ud800", "é / 日本"} < {one["slo"] for one in info}


def test_occurrences_suppression_and_texts_of_other_versions() -> None:
    at = now()
    text = f"""\
version: 1
service: shop
maintenance: [{{from: 2026-01-01T00:00Z, until: 2126-01-01T00:00Z, reason: moving, dataset: {json.dumps(str(DEV))}}}]
slos:
  - name: volume
    dataset: {json.dumps(str(PROD))}
    indicator: {{volume: {{rule: sigma, history: 5}}}}
    objective: {{target: 50%}}
    alerting: [{{bad: 2, of: 3, notify: page}}, {{bad: 1, of: 20, notify: ticket}}]
  - name: moved
    dataset: {json.dumps(str(DEV))}
    indicator: {{freshness: {{limit: 2h}}}}
    objective: {{target: 90%}}
"""
    volume, moved = read_slos(text).objectives
    rows = [100, 101, 99, 100, 102, 5, 4, 100]
    writes = tuple(Write(time=at - (20 - n) * HOUR, rows=count) for n, count in enumerate(rows))
    unread = evaluated(volume, Facts(), at)
    unread = EvaluatedSlo(declaration=replace(unread.declaration, id="old", objective=None), judgement=None)
    found = exposed(
        evaluated(volume, Facts(writes=writes), at), evaluated(moved, Facts(writes=writes), at), unread, at=at
    )
    (counted, suppressed) = (slo_id(one.dataset.namespace, "shop", one.name) for one in (volume, moved))
    # Of the last three runs, the first was too small.
    assert of_slo(found, counted, "whence_slo_recent_bad") == {"3": 1, "20": 1}
    assert of_slo(found, counted, "whence_slo_alert_open") == {"page": 0, "ticket": 1}
    assert of_slo(found, counted, "whence_slo_window_total") == {"occurrences": 3}
    assert of_slo(found, counted, "whence_slo_window_good") == {"occurrences": 2}
    assert of_slo(found, suppressed, "whence_slo_state")["suppressed"] == 1
    assert of_slo(found, suppressed, "whence_slo_alert_open") == {"page": 0, "ticket": 0}
    assert of_slo(found, suppressed, "whence_slo_suppressed_ratio") == {"": 1}
    assert of_slo(found, "old", "whence_slo_state")["not_evaluated"] == 1
    documented = re.findall(r"^\| `(whence_\w+)` \|([^|]*)\|", page("docs/reference/metrics.md"), re.MULTILINE)
    assert {(name, frozenset(label for label, _ in labels)) for name, labels in found} == {
        (name, frozenset(re.findall(r"`(\w+)`", labels))) for name, labels in documented if "_slo" in name
    }
    assert of_slo(found, "old", "whence_slo_target_ratio") == {}


def test_a_service_with_too_many_objectives_has_no_series_without_end() -> None:
    at, one = now(), fresh(PROD)
    facts = Facts(writes=(Write(time=at - 5 * HOUR),))
    judged = evaluated(one, facts, at)
    named = replace(judged.declaration.record, name="00000")
    slos = [
        replace(judged, declaration=replace(judged.declaration, id=f"{n:05}", record=replace(named, name=f"{n:05}")))
        for n in range(MOST_SLOS + 234)
    ]
    random.Random(1).shuffle(slos)
    began = time.process_time()
    found = exposed(*slos, at=at)
    assert time.process_time() - began < 5
    assert found["whence_slos_without_series", frozenset()] == 234
    assert found["whence_slos", frozenset({("state", "violated")})] == MOST_SLOS + 234
    ids = {dict(labels)["id"] for name, labels in found if name == "whence_slo_info"}
    assert ids == {f"{n:05}" for n in range(MOST_SLOS)}
    assert len(found) < 20 * MOST_SLOS


def test_nothing_is_served_before_the_first_evaluation() -> None:
    assert SloExposition(lambda: None).read(OPEN) == b""
