"""What an event does not assert, because its sender was not entitled to it (docs/explanation/state.md, "Authority")."""

from typing import Any

from oracle.naming import dataset_node, without_credentials

Json = dict[str, Any]

OBSERVED = {
    "dataset": "schema columnLineage whence_columnEvidence catalog dataSource datasetType hierarchy storage version"
    " dataQualityAssertions dataQualityMetrics inputStatistics outputStatistics",
    "job": "jobType lineage sourceCode sourceCodeLocation sql",
}
STEWARDS = ("whence_tier", "whence_contract", "whence_lifecycle", "whence_aliases")


def applied(event: Json) -> Json:
    """The event without the member `whence_withheld` and what that withholds."""
    withheld = event.get("whence_withheld")
    if withheld is None:
        return event
    lacking = {(one["action"], one["namespace"]) for one in withheld["needs"]}
    left = {key: value for key, value in event.items() if key != "whence_withheld"}
    if withheld.get("person"):
        left["producer"] = "urn:whence:unverified:" + event["producer"][len("urn:whence:person:") :]
    for role in ("inputs", "outputs"):
        if isinstance(left.get(role), list):
            left[role] = [one for one in (_dataset(one, lacking) for one in left[role]) if one is not None]
    if "dataset" in left:
        left["dataset"] = _dataset(left["dataset"], lacking)
    if isinstance(left.get("job"), dict):
        need = ("write", without_credentials(left["job"]["namespace"]))
        left["job"] = _with_facets(left["job"], "job", need, lacking)
    return left


def need_of(one: object) -> tuple[str, str] | None:
    """The action, and the namespace, that it takes to assert something of the dataset that an object names."""
    node = dataset_node(one) if isinstance(one, dict) else None
    if node is None:
        return None
    _, namespace, name = node
    if namespace == "whence.catalog" and not name.startswith("tag/"):
        return "steward", name[name.find("/") + 1 :] if "/" in name else ""
    return ("steward" if namespace.startswith("whence.") else "write"), namespace


def _dataset(one: Any, lacking: set[tuple[str, str]]) -> Any:
    need = need_of(one)
    if need is None:
        return one
    if need[0] == "steward" and need in lacking:
        return None
    return _with_facets(one, "dataset", need, lacking)


def _with_facets(one: Json, kind: str, need: tuple[str, str], lacking: set[tuple[str, str]]) -> Json:
    facets = one.get("facets")
    if not isinstance(facets, dict):
        return one
    kept = {}
    for key, facet in facets.items():
        if isinstance(facet, dict):
            evidence = key in OBSERVED[kind].split() and facet.get("_deleted") is not True
            if not evidence and lacking & _needs(key, facet, need):
                continue
            facet = _named_freely(facet, lacking) if key in ("columnLineage", "lineage") else facet
            facet = _tagged(facet, kind, need[1], lacking) if key == "tags" else facet
        kept[key] = facet
    return {**one, "facets": kept}


def _needs(key: str, facet: Json, need: tuple[str, str]) -> set[tuple[str, str]]:
    found: list[tuple[str, str] | None] = [need]
    if key in STEWARDS:
        found.append(("steward", need[1]))
    identifiers = facet.get("identifiers")
    if key in ("symlinks", "whence_aliases") and isinstance(identifiers, list):
        words = ("whence:cut", "whence:joined") if key == "whence_aliases" else ()
        found += [need_of(one) for one in identifiers if isinstance(one, dict) and one.get("type") not in words]
    if key == "lifecycleStateChange":
        found.append(need_of(facet.get("previousIdentifier")))
    return {one for one in found if one}


def _tagged(facet: Json, kind: str, namespace: str, lacking: set[tuple[str, str]]) -> Json:
    tags = facet.get("tags")
    if ("steward", namespace) not in lacking:
        return facet
    kept = [one for one in tags if not (isinstance(one, dict) and vouches(one, kind))] if isinstance(tags, list) else []
    return {**facet, **({"tags": kept} if isinstance(tags, list) else {}), "whence_withheld": True}


def vouches(tag: Json, kind: str) -> bool:
    """Only a steward may assign it."""
    return tag.get("key") in ("certified", "canonical") or (kind == "dataset" and by_a_person(tag))


def by_a_person(tag: Json) -> bool:
    """A person assigned it, or imported it from a warehouse."""
    return tag.get("source") in ("USER", "SNOWFLAKE", "BIGQUERY", "UNITY_CATALOG", "RANGER")


def _named_freely(value: Any, lacking: set[tuple[str, str]]) -> Any:
    if isinstance(value, dict):
        return {key: _named_freely(one, lacking) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    return [_named_freely(one, lacking) for one in value if not _is_reserved(one, lacking)]


def _is_reserved(one: Any, lacking: set[tuple[str, str]]) -> bool:
    need = need_of(one)
    return need is not None and one["namespace"].startswith("whence.") and need in lacking
