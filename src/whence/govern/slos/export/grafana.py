"""A dashboard of Grafana for the objectives of a file: an overview, and for each its budget and its alerts' windows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from whence.govern.slos.burn_rates import factor_of, open_time_of
from whence.govern.slos.export.prometheus import STALE_SECONDS, id_of
from whence.govern.slos.export.series import (
    BURN_RATE,
    COUNT,
    EVALUATED,
    GOOD,
    INFO,
    RECENT_BAD,
    REMAINING,
    STATE,
    SUPPRESSED_SHARE,
    TOTAL,
    label_text,
    window_label,
)
from whence.govern.slos.objectives import Objective
from whence.govern.slos.slo_file import SloFile

Json = dict[str, Any]
MOST_SHOWN = 50
"""Objectives with a row of their own: the first of the file. All are in the overview."""
_SCHEMA = 39
_WIDTH = 24
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_CHOSEN = 'id=~"$slo"'
_BY = "max by (id, service, slo)"
_GREEN, _ORANGE, _RED = "green", "orange", "red"
_STATES = {
    0: ("holds", _GREEN),
    1: ("not evaluated, or learning", "gray"),
    2: ("suppressed", "blue"),
    3: ("violated", _RED),
}


def grafana_dashboard(file: SloFile) -> str:
    """The dashboard, as JSON that Grafana imports."""
    service = label_text(file.service)
    dashboard = {
        "uid": sha256(f"whence {file.service}".encode("utf-8", "surrogatepass")).hexdigest()[:16],
        "title": f"Objectives of {service}",
        "description": "Written by `whence slo export`.",
        "tags": ["whence", "slo"],
        "schemaVersion": _SCHEMA,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-7d", "to": "now"},
        "templating": {"list": _variables(service)},
        "panels": _placed([*_overview(), *_rows(file.objectives[:MOST_SHOWN])]),
    }
    return json.dumps(dashboard, indent=2) + "\n"


def _variables(service: str) -> list[Json]:
    """The values of `slo` are ids, so that no name has to be escaped in an expression."""
    query = f"query_result({INFO}{{service={json.dumps(service, ensure_ascii=False)}}})"
    slo = {
        "name": "slo",
        "label": "Objective",
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": "slo"},
        "definition": query,
        "regex": '/id="(?<value>[0-9a-f]+)".*slo="(?<text>.*?)"[,}]/',
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "current": {"text": ["All"], "value": ["$__all"]},
    }
    return [{"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}, slo]


def _overview() -> Iterator[Json]:
    yield _row("Overview")
    yield _panel("stat", "Objectives by state", {f"max by (state) ({COUNT})": "{{state}}"}, width=10, height=4)
    limits = _steps({STALE_SECONDS: _RED})
    age = {f"time() - max({EVALUATED})": "age"}
    yield _panel("stat", "Since the last evaluation", age, unit="s", width=4, height=4, more=limits)
    firing = {f'count by (alertname, severity) (ALERTS{{alertstate="firing",{_CHOSEN}}})': "{{alertname}} {{severity}}"}
    yield _panel("stat", "Alerts that fire", firing, width=10, height=4)
    yield _panel("state-timeline", "State", {_state_code(): "{{slo}}"}, height=8, more=_mappings())
    yield _panel("timeseries", "Error budget that is left", {_of(REMAINING): "{{slo}}"}, unit="percentunit", width=12)
    good = f"{_of(GOOD)} / {_of(TOTAL)}"
    yield _panel("timeseries", "Good in the time window", {good: "{{slo}}"}, unit="percentunit", width=12)
    share = {_of(SUPPRESSED_SHARE): "{{slo}}"}
    yield _panel("timeseries", "Left out: maintenance and backfills", share, unit="percentunit")


def _of(name: str, more: str = "") -> str:
    return f"{_BY} ({name}{{{_CHOSEN}{more}}})"


def _state_code() -> str:
    """One number for each state, since a timeline shows one series as one line."""
    terms = {"violated": 3, "suppressed": 2, "not_evaluated": 1, "learning": 1}
    return " + ".join(f"{number} * {_of(STATE, _matching(state))}" for state, number in terms.items())


def _matching(state: str) -> str:
    return f',state="{state}"'


def _mappings() -> Json:
    options = {str(code): {"text": text, "color": color} for code, (text, color) in _STATES.items()}
    return {"mappings": [{"type": "value", "options": options}], "max": 3, "min": 0}


def _rows(objectives: Sequence[Objective]) -> Iterator[Json]:
    for one in objectives:
        yield _row(label_text(one.name))
        left = {f'{_BY} ({REMAINING}{{id="{id_of(one)}"}})': "left"}
        budget = _steps({0: _ORANGE, 0.25: _GREEN}, first=_RED)
        yield _panel("timeseries", "Error budget that is left", left, unit="percentunit", width=12, more=budget)
        yield _alert_panel(one)


def _alert_panel(one: Objective) -> Json:
    """The windows of its alerts, with the lines at which they open."""
    factors = {float(factor_of(rate, open_time_of(one.calendar, one.window))): _RED for rate in one.burn_rates}
    bounds = factors or {float(rule.bad): _RED for rule in one.misses}
    lengths = dict.fromkeys(length for rate in one.burn_rates for length in (rate.long, rate.short))
    if lengths:
        expressions = {
            f'{_BY} ({BURN_RATE}{{id="{id_of(one)}",window="{window_label(length)}"}})': window_label(length)
            for length in lengths
        }
        return _panel("timeseries", "Burn rates", expressions, width=12, more=_lines(bounds))
    recent = {
        f'{_BY} ({RECENT_BAD}{{id="{id_of(one)}",of="{of}"}})': f"of the last {of}"
        for of in dict.fromkeys(rule.of for rule in one.misses)
    }
    recent = recent or {f'{_BY} ({TOTAL}{{id="{id_of(one)}"}} - {GOOD}{{id="{id_of(one)}"}})': "bad in the time window"}
    return _panel("timeseries", "Bad occurrences", recent, width=12, more=_lines(bounds))


def _steps(bounds: Mapping[float, str], first: str = _GREEN) -> Json:
    steps = [{"value": bound, "color": color} for bound, color in sorted(bounds.items())]
    return {"thresholds": {"mode": "absolute", "steps": [{"value": None, "color": first}, *steps]}}


def _lines(bounds: Mapping[float, str]) -> Json:
    return _steps(bounds) | {"custom": {"thresholdsStyle": {"mode": "line"}}}


def _row(title: str) -> Json:
    return {"type": "row", "title": title, "collapsed": False, "panels": [], "gridPos": {"w": _WIDTH, "h": 1}}


def _panel(
    kind: str,
    title: str,
    expressions: Mapping[str, str],
    *,
    unit: str = "short",
    width: int = _WIDTH,
    height: int = 7,
    more: Json | None = None,
) -> Json:
    """`expressions`: each with the name of its series."""
    targets = [
        {"refId": f"Q{number}", "expr": expression, "legendFormat": legend, "datasource": _SOURCE}
        for number, (expression, legend) in enumerate(expressions.items())
    ]
    return {
        "type": kind,
        "title": title,
        "datasource": _SOURCE,
        "targets": targets,
        "fieldConfig": {"defaults": {"unit": unit, **(more or {})}, "overrides": []},
        "gridPos": {"w": width, "h": height},
    }


def _placed(panels: Sequence[Json]) -> list[Json]:
    """Panels in their places, from left to right, line by line."""
    placed = list[Json]()
    left = top = tallest = 0
    for number, panel in enumerate(panels, 1):
        size = panel["gridPos"]
        if left + size["w"] > _WIDTH:
            left, top, tallest = 0, top + tallest, 0
        placed.append({**panel, "id": number, "gridPos": {**size, "x": left, "y": top}})
        left, tallest = left + size["w"], max(tallest, size["h"])
    return placed
