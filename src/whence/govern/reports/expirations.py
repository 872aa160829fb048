"""What ends within a time: certifications, waivers, exceptions of policies, and API keys."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from typing_extensions import TypedDict

from whence.govern.certification.current import CertifiedDataset, certify, list_named, rules_by_namespace
from whence.govern.certification.judge import Outcome, Requirement
from whence.govern.certification.records import CERTIFICATION
from whence.govern.contracts.evaluation.observations import Observed
from whence.govern.declared_rules import held_rules
from whence.govern.gate.records import waivers_of
from whence.govern.policies.records import held_policies
from whence.govern.slos.objectives import DAY
from whence.model.names import DatasetName
from whence.query.answers.instants import iso
from whence.query.ports.catalog import Catalog
from whence.store.security.api_key_rows import StoredKey

ExpiringKind = Literal["certification", "waiver", "policy exception", "api key"]


class Expiring(TypedDict):
    """Something that ends. `name`: the dataset, change, policy or key; `place`: the namespace or repository that it
    holds in. `owner`: whom to ask; `node`: the dataset, if it is about one.
    """

    kind: ExpiringKind
    name: str
    place: str | None
    expires_at: str
    owner: str | None
    reason: str | None
    node: str | None


class Expirations(TypedDict):
    """What ends after `at` and not after `until`, the first first. `keys_shown`: whether the caller may see keys."""

    at: str
    until: str
    expiring: list[Expiring]
    keys_shown: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpirationSources:
    """One snapshot. `catalog` is what the viewer sees; `whole` and `graph` are not restricted: they decide. `keys`:
    None if the viewer may not see them.
    """

    catalog: Catalog
    whole: Catalog
    graph: Observed
    keys: Sequence[StoredKey] | None


def list_expirations(sources: ExpirationSources, now: int, until: int) -> Expirations:
    """What ends after a time and not after another (µs)."""
    found = [
        *_certifications(sources, now, until),
        *_waivers(sources.catalog),
        *_exceptions(sources, now),
        *_keys(sources.keys or (), now),
    ]
    within = [one for one in found if iso(now) < one["expires_at"] <= iso(until)]
    within.sort(key=lambda one: (one["expires_at"], one["kind"], one["name"], one["place"] or ""))
    return {"at": iso(now), "until": iso(until), "expiring": within, "keys_shown": sources.keys is not None}


def _certifications(sources: ExpirationSources, now: int, until: int) -> Iterator[Expiring]:
    """The datasets that are certified now, and would not be if nothing more were reported: from which day on."""
    ruled = rules_by_namespace(held_rules(CERTIFICATION, sources.whole, now))
    named = (one.name for one in list_named(sources.catalog, ruled, now))
    names = [one for one in named if isinstance(one, DatasetName)]
    certified = [one.name for one in certify(sources.whole, sources.graph, names, now) if _is_certified(one)]
    lapsed = [one.name for one in certify(sources.whole, sources.graph, certified, until) if not _is_certified(one)]
    for name in lapsed:
        first, last = now, until
        while last - first > DAY:
            middle = first + (last - first) // (2 * DAY) * DAY or first + DAY
            first, last = (middle, last) if _is_certified(_judge(sources, name, middle)) else (first, middle)
        yield _certification(_judge(sources, name, last), last)


def _judge(sources: ExpirationSources, name: DatasetName, at: int) -> CertifiedDataset:
    (found,) = certify(sources.whole, sources.graph, [name], at)
    return found


def _is_certified(one: CertifiedDataset) -> bool:
    return one.found.status == "certified"


def _certification(one: CertifiedDataset, at: int) -> Expiring:
    rule, missing = next(
        (rule, each) for rule in one.found.rules for each in rule.requirements if each.outcome is not Outcome.MET
    )
    return {
        "kind": "certification",
        "name": one.name.name,
        "place": one.name.namespace,
        "expires_at": iso(at),
        "owner": rule.rule.owner or None,
        "reason": _reason(missing),
        "node": str(one.name),
    }


def _reason(missing: Requirement) -> str:
    return f"unless more is reported, {missing.requirement}: {missing.text}"


def _waivers(catalog: Catalog) -> Iterator[Expiring]:
    for one in waivers_of(catalog, ""):
        yield {
            "kind": "waiver",
            "name": one.change,
            "place": one.repository,
            "expires_at": iso(_end_of(one.expires)),
            "owner": one.owner,
            "reason": one.reason or None,
            "node": None,
        }


def _exceptions(sources: ExpirationSources, now: int) -> Iterator[Expiring]:
    for one in held_policies(sources.whole, now, sources.catalog):
        for policy in one.rule.policies if one.rule else ():
            for day in sorted({each.expires for each in policy.unless if each.expires is not None}):
                yield {
                    "kind": "policy exception",
                    "name": policy.name,
                    "place": one.namespace,
                    "expires_at": iso(_end_of(day)),
                    "owner": policy.owner,
                    "reason": policy.reason,
                    "node": None,
                }


def _keys(keys: Iterable[StoredKey], now: int) -> Iterator[Expiring]:
    """The newest live key of each name: one that was rotated has ended already."""
    newest = {one.name: one for one in sorted(keys, key=lambda one: one.created_at) if one.is_live(now)}
    for one in newest.values():
        if one.expires_at is not None:
            yield {
                "kind": "api key",
                "name": one.name,
                "place": None,
                "expires_at": iso(one.expires_at),
                "owner": f"key:{one.name}",
                "reason": None,
                "node": None,
            }


def _end_of(day: date) -> int:
    """The end of a day (µs, UTC)."""
    end = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    return int(end.timestamp()) * 1_000_000
