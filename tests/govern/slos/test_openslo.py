"""Documents of OpenSLO v1 by the text of its specification, and what an objective loses in them."""

import json
import re
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from whence.govern.slos.export.openslo import duration_of, losses, name_of, openslo_documents
from whence.govern.slos.slo_file import SloFile, read_slos
from whence.model.names import DatasetName

DAY, HOUR, MINUTE = 86_400_000_000, 3_600_000_000, 60_000_000
HOSTILE = ("été / ночь", "\x1b[2J\u202e\n<b>", "A" * 200, "- !!python/object: {}", "{{ x }}", "--")
NAME = {"type": "string", "pattern": r"\A[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z"}
DURATION = {"type": "string", "pattern": r"\A[1-9][0-9]*[mhdwMQY]\Z"}
TEXT = {"type": "string", "maxLength": 1050}


def closed(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


ANNOTATIONS = {
    "type": "object",
    "propertyNames": {"pattern": r"\A[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?\Z"},
    "additionalProperties": {"type": "string"},
}
METADATA = closed({"name": NAME}, {"displayName": {"type": "string"}, "annotations": ANNOTATIONS})
METRIC = closed(
    {"metricSource": closed({"metricSourceRef": NAME, "type": {"type": "string"}, "spec": {"type": "object"}})}
)
RATIO = closed({"counter": {"type": "boolean"}, "rawType": {"enum": ["success", "failure"]}, "raw": METRIC})
SLI = {"oneOf": [closed({"thresholdMetric": METRIC}), closed({"ratioMetric": RATIO})]}
CONDITION = closed(
    {
        "kind": {"const": "AlertCondition"},
        "metadata": METADATA,
        "spec": closed(
            {
                "severity": {"type": "string"},
                "condition": closed(
                    {
                        "kind": {"const": "burnrate"},
                        "threshold": {"type": "number"},
                        "lookbackWindow": DURATION,
                        "alertAfter": {"const": "0m"},
                    }
                ),
            }
        ),
    }
)
POLICY = closed(
    {
        "kind": {"const": "AlertPolicy"},
        "metadata": METADATA,
        "spec": closed(
            {
                **{key: {"type": "boolean"} for key in ("alertWhenBreaching", "alertWhenResolved", "alertWhenNoData")},
                "conditions": {"type": "array", "items": CONDITION, "minItems": 1, "maxItems": 1},
                "notificationTargets": {"type": "array", "items": closed({"targetRef": NAME}), "minItems": 1},
            }
        ),
    }
)
TARGET = {"displayName": {"type": "string"}, "target": {"type": "number", "minimum": 0, "exclusiveMaximum": 1}}
SLICES = {
    "op": {"enum": ["lte", "gte", "lt", "gt"]},
    "value": {"type": "number"},
    "timeSliceTarget": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    "timeSliceWindow": DURATION,
}
SLO = closed(
    {
        "description": TEXT,
        "service": NAME,
        "indicator": closed({"metadata": METADATA, "spec": SLI}),
        "timeWindow": {
            "type": "array",
            "items": closed({"duration": DURATION, "isRolling": {"const": True}}),
            "minItems": 1,
            "maxItems": 1,
        },
        "budgetingMethod": {"enum": ["Occurrences", "Timeslices"]},
        "objectives": {"type": "array", "minItems": 1},
        "alertPolicies": {"type": "array", "items": POLICY},
    }
)
SPECS = {
    "Service": closed({}, {"description": TEXT}),
    "DataSource": closed({"type": {"type": "string"}, "connectionDetails": {"type": "object"}}),
    "AlertNotificationTarget": closed({"target": {"type": "string"}}),
    "SLO": SLO,
}


def check(schema: dict[str, Any], value: Any) -> None:
    Draft202012Validator(schema).validate(value)


def shop(*names: str) -> SloFile:
    entries = [
        f"""
  - name: {json.dumps(name)}
    description: {json.dumps(name * 200)}
    dataset: {json.dumps(str(DatasetName("postgres://prod:5432", name)))}
    indicator: {indicator}
    objective: {{target: {target}}}
    timeWindow: {{duration: {window}}}{calendar}"""
        for number, name in enumerate(names)
        for indicator, target, window, calendar in [
            [("{freshness: {limit: 2h}}", "99.9%", "28d", ""), ("{volume: {}}", "0.5", "36h", "")][number % 2]
        ]
    ]
    office = """
  - name: office
    dataset: dataset:postgres://staging:5432:shop.revenue
    indicator: {freshness: {limit: 2h, age: business}}
    objective: {target: 95%}
    calendar: office"""
    return read_slos(f"""\
version: 1
service: {json.dumps(HOSTILE[1])}
calendars: {{office: {{timeZone: Europe/Berlin, open: {{mon-fri: "08:00-18:00"}}}}}}
maintenance: [{{from: 2026-01-01T00:00Z, until: 2026-01-02T00:00Z, reason: moving, dataset: dataset:postgres://staging:5432:shop.revenue}}]
slos:{"".join(entries)}{office}
""")


def test_documents_are_those_of_the_specification() -> None:
    file = shop(*HOSTILE)
    text = openslo_documents(file)
    assert not {"\x1b", "\u202e"} & set(text)
    documents = list(yaml.safe_load_all(text))
    kinds = [one["kind"] for one in documents]
    assert kinds == ["Service", "DataSource", *["AlertNotificationTarget"] * 2, *["SLO"] * (len(HOSTILE) + 1)]
    defined = {(one["kind"], one["metadata"]["name"]) for one in documents}
    assert len(defined) == len(documents)
    for one in documents:
        check(
            closed(
                {"apiVersion": {"const": "openslo/v1"}, "kind": {}, "metadata": METADATA, "spec": SPECS[one["kind"]]}
            ),
            one,
        )
        if one["kind"] == "SLO":
            is_time = one["spec"]["budgetingMethod"] == "Timeslices"
            check(closed({**TARGET, **(SLICES if is_time else {})}), one["spec"]["objectives"][0])
            assert is_time == ("thresholdMetric" in one["spec"]["indicator"]["spec"])
            assert ("Service", one["spec"]["service"]) in defined
            for policy in one["spec"]["alertPolicies"]:
                assert ("AlertNotificationTarget", policy["spec"]["notificationTargets"][0]["targetRef"]) in defined


def test_what_has_no_words_in_openslo_is_named() -> None:
    file = shop("fresh", "volume")
    fresh, volume, office = file.objectives
    assert list(losses(fresh)) == [
        "exact times: slices of a minute are counted",
        *(
            f"the short window of {window} of an alert: a policy has one condition"
            for window in ("5 min", "30 min", "6 h")
        ),
        "hysteresis: an alert stays open until it burns less than half as fast",
    ]
    assert list(losses(volume)) == [
        "single occurrences: the metric is the share of the time window",
        "the ticket at 1 bad of 1: conditions are burn rates",
    ]
    assert list(losses(office))[:2] == ["the calendar office: closed hours count", "maintenance: it counts"]
    documents = [one for one in yaml.safe_load_all(openslo_documents(file)) if one["kind"] == "SLO"]
    for document, one in zip(documents, file.objectives, strict=True):
        assert document["metadata"]["annotations"]["whence-not-exported"] == "; ".join(losses(one))


@pytest.mark.parametrize(
    ("length", "text"),
    [(30 * DAY, "30d"), (36 * HOUR, "36h"), (90 * MINUTE, "90m"), (5 * MINUTE, "5m"), (MINUTE + 1, "2m"), (1, "1m")],
)
def test_durations_are_whole_minutes(length: int, text: str) -> None:
    assert duration_of(length) == text


def test_names_differ_where_texts_do() -> None:
    texts = [*HOSTILE, "shop", "Shop", "shop ", "-shop", "sh-op", "A" * 201]
    names = {name_of(text) for text in texts}
    assert len(names) == len(texts)
    assert all(re.search(NAME["pattern"], name) for name in names)
    assert name_of("shop") == "shop"
