"""Alerting rules of Prometheus that open and close when the alerts of objectives do.

An alert of Whence closes when its long window burns less than half of its factor, which no rule can say of itself: it
asks for its own series `ALERTS`. Texts of people are in labels and annotations only, where templates are expanded, and
never in an expression.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from whence.govern.slos.burn_rates import factor_of, open_time_of
from whence.govern.slos.evaluation.alerts import RELEASE
from whence.govern.slos.export.series import (
    BURN_RATE,
    EVALUATED,
    INFO,
    RECENT_BAD,
    STATE,
    label_text,
    state_label,
    window_label,
)
from whence.govern.slos.objectives import BurnRate, Misses, Notify, Objective, kind_of_indicator
from whence.govern.slos.slo_file import SloFile
from whence.model.slo_records import slo_id

Json = dict[str, Any]
BURNS, MISSED, UNEVALUATED, MISSING, STALE = (
    "WhenceSloBurnRate",
    "WhenceSloMissed",
    "WhenceSloNotEvaluated",
    "WhenceSloMissing",
    "WhenceSlosNotEvaluating",
)
"""The names of the alerts."""
STALE_SECONDS = 900
_BY = "max by (id, service, slo)"
"""Several instances of the API serve the same objectives."""


def prometheus_rules(file: SloFile) -> str:
    """The rules of the objectives of a file, as YAML."""
    rules = [rule for one in file.objectives for rule in _rules(one)]
    group = {"name": f"whence objectives of {label_text(file.service)}", "rules": [*rules, _stale(file)]}
    head = "# Written by `whence slo export`. Prometheus reads it as one of its rule_files.\n"
    text: str = yaml.dump({"groups": [group]}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return head + text


class _Dumper(yaml.SafeDumper):
    """Texts of several lines are written as such."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)


def id_of(one: Objective) -> str:
    """The label `id` of an objective's series."""
    return slo_id(one.dataset.namespace, one.service, one.name)


def _rules(one: Objective) -> Iterator[Json]:
    yield from (_burns(one, rate) for rate in one.burn_rates)
    yield from (_missed(one, rule) for rule in one.misses)
    not_evaluated = f"{_series(STATE, one, state=state_label('not evaluated'))} == 1"
    about = "nothing decides the objective: no run wrote the dataset, its source is silent, or nothing measured it"
    yield _rule(UNEVALUATED, one, not_evaluated, Notify.TICKET, "", about, lasts="1h")
    absent = f'absent({INFO}{{id="{id_of(one)}"}})'
    about = "Whence serves no such objective: it is not declared, or the key of the scrape may not see it"
    yield _rule(MISSING, one, absent, Notify.TICKET, "", about, lasts="15m")


def _burns(one: Objective, rate: BurnRate) -> Json:
    factor = factor_of(rate, open_time_of(one.calendar, one.window))
    long, short = (_series(BURN_RATE, one, window=window_label(length)) for length in (rate.long, rate.short))
    opens = f"{long} >= {float(factor)!r}\n    and {short} >= {float(factor)!r}"
    held = f"{long} >= {float(factor * RELEASE)!r}"
    text = f"{float(factor):.6g} times in {window_label(rate.long)} and {window_label(rate.short)}"
    about = f"the error budget burns {text} of open time"
    return _rule(BURNS, one, _hysteresis(one, opens, held, BURNS, text), rate.notify, text, about)


def _missed(one: Objective, rule: Misses) -> Json:
    bad = _series(RECENT_BAD, one, of=str(rule.of))
    text = f"{rule.bad} of {rule.of} bad"
    expression = _hysteresis(one, f"{bad} >= {rule.bad}", f"{bad} > 0", MISSED, text)
    return _rule(MISSED, one, expression, rule.notify, text, f"{rule.bad} or more of the last {rule.of} were bad")


def _hysteresis(one: Objective, opens: str, held: str, alert: str, rule: str) -> str:
    """Opens by one condition and stays open while the other holds; in maintenance nothing is open."""
    itself = f'ALERTS{{alertname="{alert}",alertstate="firing",id="{id_of(one)}",rule="{rule}"}}'
    suppressed = f"{_series(STATE, one, state='suppressed')} == 1"
    return f"(\n  {opens}\n  or {held}\n    and on (id) {itself}\n)\nunless {suppressed}\n"


def _rule(
    alert: str, one: Objective, expression: str, notify: Notify, rule: str, about: str, *, lasts: str = ""
) -> Json:
    """`service` and `slo` are stated for `absent`, whose result has only the labels of its matchers."""
    name, service, dataset = (_literal(text) for text in (one.name, one.service, str(one.dataset)))
    labels = {"severity": notify.value, "service": service, "slo": name, "dataset": dataset}
    return {
        "alert": alert,
        "expr": expression,
        **({"for": lasts} if lasts else {}),
        "labels": labels | ({"rule": rule} if rule else {}) | {"indicator": kind_of_indicator(one.indicator)},
        "annotations": {
            "summary": f"{name}: {about}",
            "description": f"{name} of {service}, for {dataset}. Its history: `whence slo show {id_of(one)}`",
            **({"runbook_url": _literal(one.runbook)} if one.runbook else {}),
        },
    }


def _stale(file: SloFile) -> Json:
    newest = f"max({EVALUATED})"
    return {
        "alert": STALE,
        "expr": f"time() - {newest} > {STALE_SECONDS} or absent({EVALUATED})",
        "for": "5m",
        "labels": {"severity": Notify.TICKET.value, "service": _literal(file.service)},
        "annotations": {
            "summary": "Whence evaluates no objectives",
            "description": "No other alert of objectives can open. Look at Whence's log, and at its target here.",
        },
    }


def _series(name: str, one: Objective, **labels: str) -> str:
    matchers = ",".join(f'{key}="{value}"' for key, value in {"id": id_of(one), **labels}.items())
    return f"{_BY} ({name}{{{matchers}}})"


def _literal(text: str) -> str:
    """A text of people in which Prometheus finds nothing to expand."""
    return label_text(text).replace("{{", '{{"{{"}}')
