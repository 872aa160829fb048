"""Generated rules of Prometheus: Debian's promtool checks them, and each opens and closes when Whence's alert does."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.prometheus import promtool
from whence.govern.slos.burn_rates import factor_of, open_time_of
from whence.govern.slos.export.prometheus import id_of, prometheus_rules
from whence.govern.slos.export.series import window_label
from whence.govern.slos.objectives import BurnRate, Misses, Objective
from whence.govern.slos.slo_file import SloFile, read_slos
from whence.model.names import DatasetName

Json = dict[str, Any]
PROD, STAGING, DEV = (DatasetName(f"postgres://{name}:5432", "shop.revenue") for name in ("prod", "staging", "dev"))
HOSTILE = ("{{ $labels }}", 'a"b\\c', "\x1b[2J\u202e\n", "{{{{", "x" * 200, "été: - !!str", "$value %{}")
MINUTES = 90


def shop(*more: str, names: Sequence[str] = ("fresh",)) -> SloFile:
    slos = [
        f"""
  - name: {json.dumps(name)}
    dataset: {json.dumps(str(DatasetName(f"postgres://{number}:5432", name)))}
    indicator: {{freshness: {{limit: 2h, age: business}}}}
    objective: {{target: 99%}}
    calendar: office"""
        for number, name in enumerate(names)
    ]
    return read_slos(
        f"""\
version: 1
service: {json.dumps("shop {{ }}" + chr(7))}
calendars:
  office: {{timeZone: Europe/Berlin, open: {{mon-fri: "08:00-18:00"}}}}
slos:{"".join(slos)}{"".join(more)}
"""
    )


VOLUME = f"""
  - name: volume
    dataset: {json.dumps(str(STAGING))}
    indicator: {{volume: {{}}}}
    objective: {{target: 95%}}
    alerting: [{{bad: 1, of: 1, notify: ticket}}, {{bad: 3, of: 5, notify: page}}]
  - name: unwatched
    dataset: {json.dumps(str(DEV))}
    indicator: {{schema: {{}}}}
    objective: {{target: 95%}}
    alerting: []"""


def written(file: SloFile, directory: Path) -> Path:
    path = directory / "rules.yml"
    path.write_text(prometheus_rules(file), "utf-8")
    return path


def test_promtool_accepts_the_rules_of_any_name(tmp_path: Path) -> None:
    file = shop(VOLUME, names=HOSTILE)
    checked = promtool("check", "rules", "--lint=all", "--lint-fatal", written(file, tmp_path))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    # Three alerts of each freshness, and two of a volume; each objective can be missing, or not evaluated.
    assert f"SUCCESS: {3 * len(HOSTILE) + 2 + 2 * (len(HOSTILE) + 2) + 1} rules found" in checked.stdout
    text = prometheus_rules(file)
    assert not {"\x1b", "\u202e"} & set(text)


def test_each_alert_opens_and_closes_when_that_of_whence_does(tmp_path: Path) -> None:
    file, rng = shop(VOLUME, names=("fresh", HOSTILE[0])), random.Random("alerts")
    rules: list[Json] = yaml.safe_load(prometheus_rules(file))["groups"][0]["rules"]
    series, expected = dict[str, list[float]](), list[Json]()
    for one in file.objectives:
        suppressed = [float(20 <= minute < 24) for minute in range(MINUTES)]
        series[named(one, "whence_slo_state", state="suppressed")] = suppressed
        series |= random_series(one, rng)
        for alert in one.alerting:
            (rule,) = [each for each in rules if is_of(each, one, alert)]
            values = [series[name] for name in series_of(one, alert)]
            fires = list(open_while(one, alert, values, suppressed))
            assert 3 < sum(fires) < MINUTES - 3
            expected += [at(minute, rule, one, fires=fires[minute]) for minute in range(0, MINUTES, 3)]
    result = unit_tested(tmp_path, file, series, merged(expected))
    assert result.returncode == 0, result.stdout + result.stderr
    # The same with one wrong expectation fails: promtool compares what it is given.
    expected[7] = {**expected[7], "exp_alerts": [{}] if not expected[7]["exp_alerts"] else []}
    assert unit_tested(tmp_path, file, series, merged(expected)).returncode != 0


def test_what_is_not_evaluated_not_declared_or_not_scraped_is_a_ticket(tmp_path: Path) -> None:
    file = shop()
    (one,) = file.objectives
    rules = {rule["alert"]: rule for rule in yaml.safe_load(prometheus_rules(file))["groups"][0]["rules"]}
    info, evaluated = named(one, "whence_slo_info"), "whence_slo_evaluated_timestamp_seconds"
    unevaluated = named(one, "whence_slo_state", state="not_evaluated")
    # Declared for half an hour, then not; not evaluated for 70 minutes; Whence's last evaluation is that of minute 10.
    minutes = range(MINUTES)
    series = {
        unevaluated: [float(minute < 70) for minute in minutes],
        evaluated: [60.0 * min(minute, 10) for minute in minutes],
    }
    declared = {info: "1+0x29 stale"}
    missing, not_evaluated = rules["WhenceSloMissing"], rules["WhenceSloNotEvaluated"]
    expected = [
        at(59, not_evaluated, one, fires=False),
        at(60, not_evaluated, one, fires=True),
        at(70, not_evaluated, one, fires=False),
        at(44, missing, one, fires=False),
        at(45, missing, one, fires=True),
        stale_at(rules, 30, fires=False),
        stale_at(rules, 31, fires=True),
    ]
    result = unit_tested(tmp_path, file, series, merged(expected), declared)
    assert result.returncode == 0, result.stdout + result.stderr


def named(one: Objective, metric: str, **more: str) -> str:
    """A series, as two instances of the API serve it."""
    labels = {"id": id_of(one), "service": shown(one.service), "slo": shown(one.name), "instance": "a:1", **more}
    return metric + "{" + ",".join(f"{key}={json.dumps(value)}" for key, value in labels.items()) + "}"


def shown(text: str) -> str:
    return text.replace(chr(7), "\\x07")


def is_of(rule: Json, one: Objective, alert: BurnRate | Misses) -> bool:
    if isinstance(alert, BurnRate):
        ends = f"in {window_label(alert.long)} and {window_label(alert.short)}"
    else:
        ends = f"{alert.bad} of {alert.of} bad"
    return id_of(one) in rule["expr"] and rule["labels"].get("rule", "").endswith(ends)


def factor(one: Objective, alert: BurnRate) -> float:
    return float(factor_of(alert, open_time_of(one.calendar, one.window)))


def series_of(one: Objective, alert: BurnRate | Misses) -> list[str]:
    """The series that an alert is about; of a burn rate first the long window."""
    if isinstance(alert, Misses):
        return [named(one, "whence_slo_recent_bad", of=str(alert.of))]
    return [named(one, "whence_slo_burn_rate", window=window_label(length)) for length in (alert.long, alert.short)]


def random_series(one: Objective, rng: random.Random) -> dict[str, list[float]]:
    """Values around those at which the alerts open and close, and at them, each for some minutes."""
    choices = dict[str, list[float]]()
    for alert in one.alerting:
        bound = factor(one, alert) if isinstance(alert, BurnRate) else float(alert.bad)
        for name in series_of(one, alert):  # two alerts may share a window
            choices.setdefault(name, []).extend(bound * share for share in (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0))
    return {
        name: [value for _ in range(MINUTES) for value in [rng.choice(some)] * rng.randint(1, 4)][:MINUTES]
        for name, some in choices.items()
    }


def open_while(
    one: Objective, alert: BurnRate | Misses, values: Sequence[Sequence[float]], suppressed: Sequence[float]
) -> Iterator[bool]:
    """The rule in prose, minute by minute: opens when all are high, closes when the first is low."""
    is_open = False
    for minute in range(MINUTES):
        now = [some[minute] for some in values]
        if isinstance(alert, BurnRate):
            opens, holds = min(now) >= factor(one, alert), now[0] >= factor(one, alert) / 2
        else:
            opens, holds = now[0] >= alert.bad, now[0] > 0
        is_open = (opens or (is_open and holds)) and not suppressed[minute]
        yield is_open


def at(minute: int, rule: Json, one: Objective, *, fires: bool) -> Json:
    """What promtool is to expect of a rule at a minute; templates are expanded."""
    labels = {key: plain(value) for key, value in rule["labels"].items()}
    annotations = {key: plain(value) for key, value in rule["annotations"].items()}
    alert = {"exp_labels": {"id": id_of(one), **labels}, "exp_annotations": annotations}
    return {"eval_time": f"{minute}m", "alertname": rule["alert"], "exp_alerts": [alert] if fires else []}


def stale_at(rules: Mapping[str, Json], minute: int, *, fires: bool) -> Json:
    rule = rules["WhenceSlosNotEvaluating"]
    alert = {
        "exp_labels": {key: plain(value) for key, value in rule["labels"].items()},
        "exp_annotations": rule["annotations"],
    }
    return {"eval_time": f"{minute}m", "alertname": rule["alert"], "exp_alerts": [alert] if fires else []}


def plain(text: str) -> str:
    return text.replace('{{"{{"}}', "{{")


def merged(expected: Sequence[Json]) -> list[Json]:
    """All alerts of one name at one time together, as promtool compares them."""
    found: dict[tuple[str, str], Json] = {}
    for one in expected:
        known = found.setdefault((one["eval_time"], one["alertname"]), {**one, "exp_alerts": []})
        known["exp_alerts"] = [*known["exp_alerts"], *one["exp_alerts"]]
    return list(found.values())


def unit_tested(
    directory: Path,
    file: SloFile,
    series: Mapping[str, Sequence[float]],
    expected: Sequence[Json],
    more: Mapping[str, str] | None = None,
) -> Any:
    values = {name: " ".join(map(repr, some)) for name, some in series.items()} | dict(more or {})
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": text} for name, text in values.items()],
        "alert_rule_test": list(expected),
    }
    document = {"rule_files": [str(written(file, directory))], "evaluation_interval": "1m", "tests": [test]}
    path = directory / "test.yml"
    path.write_text(yaml.safe_dump(document, allow_unicode=True), "utf-8")
    return promtool("test", "rules", path)


def test_an_objective_of_another_name_is_another_series() -> None:
    assert len({id_of(one) for one in shop(VOLUME, names=HOSTILE).objectives}) == len(HOSTILE) + 2
    with pytest.raises(Exception, match="here twice"):
        shop(names=("fresh", "fresh"))
