"""`card.html` of a pack: the card of a model for a reader, without scripts, without anything from the network."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from whence.govern.evidence.rendering.html import (
    Html,
    Part,
    description_list,
    document,
    element,
    identifiers,
    instant,
    table,
)

Json = dict[str, Any]


def render_card(card: Json) -> bytes:
    """The card as HTML."""
    model = card["model"]
    return document(
        f"Model card: {model['node']}",
        element("h1", "Model card"),
        description_list(_facts(model)),
        *_section("Training runs", ("run", "job", "state", "ended", "commit", "read"), card["training"], _run),
        *_section("Features", ("feature", "made of", "sensitive data in it"), card["features"], _feature),
        *_section("Sensitive data in the model", ("category", "grade", "way"), card["labels"], _label),
        *_drift(card["drift"]),
        *_section("Promotions", ("recorded", "verdict", "by"), card["promotions"], _promotion),
        *_section("Approvals", ("recorded", "repository and commit", "person"), card["approvals"], _approval),
        element("p", "This page proves nothing by itself. VERIFY.txt has the commands that verify it.", class_="note"),
    )


def _facts(model: Json) -> Iterator[tuple[str, Part]]:
    yield "Model", element("code", model["node"])
    yield "Description", model["description"] or "none"
    yield "Owners", ", ".join(one["name"] for one in model["owners"]) or "none"
    yield "Tier", str(model["tier"] or "none")
    yield "Certification", ", ".join(model["certification"]) or "none"
    tags = (f"{one['key']}={one['value']}" for one in model["tags"] if not one["field"])
    yield "Tags", ", ".join(tags) or "none"


def _section(
    title: str, heads: Sequence[str], rows: Sequence[Json], row: Callable[[Json], Sequence[Part]]
) -> Iterator[Html]:
    yield element("h2", f"{title} ({len(rows):,})")
    yield table(heads, map(row, rows)) if rows else element("p", "None is known.", class_="note")


def _drift(drift: Json) -> Iterator[Html]:
    if drift["since"] is None:
        yield element("h2", "Changes since training")
        yield element("p", "Not known: no completed training run is reported.", class_="warn")
        return
    yield from _section(
        f"Changes since training, after {drift['since']}", ("dataset", "hops", "evidence"), drift["changed"], _changed
    )
    if drift["not_known"]:
        reasons = ", ".join(sorted({one["reason"] for one in drift["not_known"]}))
        yield element("p", f"Not all is known: {reasons}.", class_="warn")


def _run(one: Json) -> Sequence[Part]:
    commit = one["commit"]["version"] or one["commit"]["url"] if one["commit"] else ""
    return (
        identifiers([one["run"]]),
        identifiers([one["job"]]),
        one["state"],
        instant(one["ended_at"]),
        identifiers([commit]),
        identifiers(one["inputs"]),
    )


def _feature(one: Json) -> Sequence[Part]:
    more = one["origins_total"] - len(one["origins"])
    origins = "\n".join([*one["origins"], *([f"and {more:,} more"] if more else [])])
    labels = "\n".join(f"{label['category']}: {label['grade']}{_assumed(label)}" for label in one["labels"])
    return identifiers([one["node"]]), element("code", origins), labels or "none known"


def _label(one: Json) -> Sequence[Part]:
    return one["category"], one["grade"] + _assumed(one), identifiers([" →\n".join(one["path"])])


def _assumed(label: Json) -> str:
    return " (assumed)" if label["assumed"] else ""


def _changed(one: Json) -> Sequence[Part]:
    evidence = "\n".join(f"{fact['time']} {fact['text']}" for fact in one["evidence"])
    return element("code", one["node"]), str(one["distance"]), evidence


def _promotion(one: Json) -> Sequence[Part]:
    return instant(one["recorded_at"]), one["promotion"]["verdict"], one["recorded_by"]


def _approval(one: Json) -> Sequence[Part]:
    return instant(one["recorded_at"]), f"{one['repository']} {one['commit']}", one["person"]
