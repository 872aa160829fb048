"""Objectives as documents of OpenSLO v1. What an objective has and OpenSLO lacks is named in it, never left out in
silence.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import yaml

from whence.govern.slos.burn_rates import factor_of, length_text, open_time_of
from whence.govern.slos.calendars import ALWAYS
from whence.govern.slos.export.prometheus import id_of
from whence.govern.slos.export.series import GOOD, STATE, TOTAL, label_text
from whence.govern.slos.objectives import BurnRate, Freshness, Objective, kind_of_indicator
from whence.govern.slos.slo_file import SloFile

Json = dict[str, Any]
SOURCE: Final = "whence-prometheus"
_VERSION: Final = "openslo/v1"
_LONGEST_NAME = 63
_LONGEST_DESCRIPTION = 1_050
_MINUTE = 60_000_000
_UNITS = ((1_440 * _MINUTE, "d"), (60 * _MINUTE, "h"), (_MINUTE, "m"))


def openslo_documents(file: SloFile) -> str:
    """The objectives of a file as YAML: a service, the source of its metrics, and a document for each objective."""
    service = name_of(file.service)
    used = sorted({alert.notify for one in file.objectives for alert in one.burn_rates})
    documents = [
        _document("Service", service, file.service, {}),
        _document(
            "DataSource", SOURCE, "Prometheus that scrapes Whence", {"type": "Prometheus", "connectionDetails": {}}
        ),
        *(
            _document("AlertNotificationTarget", notify.value, notify.value, {"target": notify.value})
            for notify in used
        ),
        *(_slo(one, service) for one in file.objectives),
    ]
    head = "# Written by `whence slo export`. The annotation whence-not-exported says what OpenSLO has no words for.\n"
    text: str = yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True, explicit_start=True, width=120)
    return head + text


def losses(one: Objective) -> Iterator[str]:
    """What of an objective OpenSLO has no words for."""
    if one.calendar != ALWAYS:
        yield f"the calendar {label_text(one.calendar.name)}: closed hours count"
    if one.maintenance:
        yield "maintenance: it counts"
    if isinstance(one.indicator, Freshness):
        yield "exact times: slices of a minute are counted"
    else:
        yield "single occurrences: the metric is the share of the time window"
    for rate in one.burn_rates:
        yield f"the short window of {length_text(rate.short)} of an alert: a policy has one condition"
    if one.burn_rates:
        yield "hysteresis: an alert stays open until it burns less than half as fast"
    for rule in one.misses:
        yield f"the {rule.notify} at {rule.bad} bad of {rule.of}: conditions are burn rates"


def name_of(text: str) -> str:
    """A name as OpenSLO has it (RFC 1123), another for each text."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if plain == text and len(plain) <= _LONGEST_NAME:
        return plain
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: _LONGEST_NAME - 9].strip('-')}-{digest}".strip("-")


def duration_of(length: int) -> str:
    """A length (µs) as OpenSLO writes it: whole minutes, rounded up."""
    whole = -(-length // _MINUTE) * _MINUTE
    return next(f"{whole // size}{unit}" for size, unit in _UNITS if whole % size == 0)


def _document(kind: str, name: str, shown: str, spec: Mapping[str, Any], **more: Any) -> Json:
    metadata = {"name": name, "displayName": label_text(shown), **more}
    return {"apiVersion": _VERSION, "kind": kind, "metadata": metadata, "spec": dict(spec)}


def _slo(one: Objective, service: str) -> Json:
    name = f"whence-{id_of(one)}"
    annotations = {
        "whence-dataset": label_text(str(one.dataset)),
        "whence-indicator": kind_of_indicator(one.indicator),
        "whence-not-exported": "; ".join(losses(one)),
        **({"whence-runbook": label_text(one.runbook)} if one.runbook else {}),
    }
    spec = {
        "description": (label_text(one.description) or label_text(one.name))[:_LONGEST_DESCRIPTION],
        "service": service,
        "indicator": {"metadata": {"name": f"{name}-sli"}, "spec": _indicator(one)},
        "timeWindow": [{"duration": duration_of(one.window), "isRolling": True}],
        "budgetingMethod": one.budgeting.value,
        "objectives": [_objective(one)],
        "alertPolicies": [_policy(one, rate, f"{name}-{number}") for number, rate in enumerate(one.burn_rates, 1)],
    }
    return _document("SLO", name, one.name, spec, annotations=annotations)


def _indicator(one: Objective) -> Json:
    def series(name: str, more: str = "") -> str:
        return f'max({name}{{id="{id_of(one)}"{more}}})'

    if isinstance(one.indicator, Freshness):
        return {"thresholdMetric": _metric(series(STATE, ',state="violated"'))}
    return {
        "ratioMetric": {"counter": False, "rawType": "success", "raw": _metric(f"{series(GOOD)} / {series(TOTAL)}")}
    }


def _metric(query: str) -> Json:
    return {"metricSource": {"metricSourceRef": SOURCE, "type": "Prometheus", "spec": {"query": query}}}


def _objective(one: Objective) -> Json:
    target: Json = {"displayName": label_text(one.name), "target": float(one.target)}
    if isinstance(one.indicator, Freshness):
        target = {**target, "op": "lte", "value": 0, "timeSliceTarget": 1, "timeSliceWindow": "1m"}
    return target


def _policy(one: Objective, rate: BurnRate, name: str) -> Json:
    factor = float(factor_of(rate, open_time_of(one.calendar, one.window)))
    condition = {
        "kind": "burnrate",
        "threshold": factor,
        "lookbackWindow": duration_of(rate.long),
        "alertAfter": "0m",
    }
    inlined: Sequence[Json] = [
        {
            "kind": "AlertCondition",
            "metadata": {"name": f"{name}-condition"},
            "spec": {"severity": rate.notify.value, "condition": condition},
        }
    ]
    spec = {
        "alertWhenBreaching": True,
        "alertWhenResolved": True,
        "alertWhenNoData": False,
        "conditions": inlined,
        "notificationTargets": [{"targetRef": rate.notify.value}],
    }
    return {"kind": "AlertPolicy", "metadata": {"name": name}, "spec": spec}
