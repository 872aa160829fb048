"""`report.html` of a pack: the same content for a reader, without scripts, without anything from the network."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from whence.govern.evidence.content.gather import PackContent
from whence.govern.evidence.content.raw_events import EventState
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

MOST_ROWS = 1_000
"""The most rows of a table. All of them are in the file that the table is made from."""


def render_report(content: PackContent) -> bytes:
    """The report as HTML."""
    node = content.question["node"]
    return document(
        f"Evidence: {node}",
        element("h1", "Lineage evidence"),
        *_head(content),
        *_section("Nodes", "lineage.json", ("node", "hops"), content.lineage["nodes"], _node),
        *_section(
            "Edges and their proof",
            "lineage.json",
            ("from", "to", "asserted by", "transformation", "origin", "first and last event"),
            content.lineage["edges"],
            _edge,
        ),
        *_section(
            "Runs",
            "runs.json",
            ("run", "job", "state", "ended", "commit", "read", "wrote"),
            content.runs["runs"],
            _run,
        ),
        *_records(content),
    )


def _records(content: PackContent) -> Iterator[Html]:
    yield from _section(
        "Schemas",
        "schemas.json",
        ("dataset", "first seen", "last seen", "columns"),
        content.schemas["schemas"],
        _schema,
    )
    checks = ("time", "dataset", "check", "column", "held", "expected", "found")
    yield from _section("Checks", "checks.json", checks, content.checks["checks"], _check)
    yield from _section(
        "Contracts",
        "contracts.json",
        ("dataset", "version", "violated now", "not evaluated", "changes"),
        content.contracts["contracts"],
        _contract,
    )
    slos = ("dataset", "objective", "state", "since", "budget left", "changes")
    yield from _section("Service level objectives", "slos.json", slos, content.slos["slos"], _slo)
    policies = ("policy", "node", "decision", "reason", "ask", "way of the data")
    yield from _section("Policies that do not hold", "policies.json", policies, _decisions(content), _decision)
    changes = ("time", "rule", "dataset", "before", "after")
    rows = content.policies["transitions"]
    yield from _section("Changes of policies and certifications", "policies.json", changes, rows, _rule_change)
    verdicts = ("recorded", "repository and commit", "verdict", "by", "changes")
    yield from _section("Gate verdicts", "gate.json", verdicts, content.gate["verdicts"], _verdict)
    approvals = ("recorded", "repository and commit", "person")
    yield from _section("Approvals", "gate.json", approvals, content.gate["approvals"], _approval)
    waivers = ("recorded", "repository", "change", "owner", "until", "reason")
    yield from _section("Waivers", "gate.json", waivers, content.gate["waivers"], _waiver)
    promotions = ("recorded", "node", "verdict", "by")
    yield from _section("Promotions", "gate.json", promotions, content.gate["promotions"], _promotion)
    if content.audit["shown"]:
        entries = ("at", "who", "action", "request", "status")
        yield from _section("Changes of the node, from the audit log", "audit.json", entries, _entries(content), _entry)


def _head(content: PackContent) -> Iterator[Html]:
    question, completeness, counts = content.question, content.completeness, content.events.counts
    yield description_list(
        (
            ("Node", element("code", question["node"])),
            ("As of", question["as_of"]),
            ("Edges", " and ".join(question["types"])),
            ("State of the graph", element("code", completeness["graph_version"])),
            ("Events", ", ".join(f"{counts[state]} {state}" for state in EventState if counts[state]) or "none"),
            ("Hash of all events", element("code", content.events.hash)),
            ("Signed heads of the logs", _heads(content)),
        )
    )
    if not completeness["complete"]:
        yield element("p", f"This lineage is not complete: {completeness['stopped_by']}.", class_="warn")
    if completeness["hidden_nodes"]:
        hidden = f"{completeness['hidden_nodes']} nodes are hidden from the viewer of this pack and appear as tokens."
        yield element("p", hidden, class_="warn")
    if counts[EventState.MISSING]:
        missing = f"The log does not have {counts[EventState.MISSING]} of the events any more."
        yield element("p", missing, class_="warn")
    yield element(
        "p", "This page proves nothing by itself. VERIFY.txt has the commands that verify the files.", class_="note"
    )


def _heads(content: PackContent) -> str:
    if not content.heads:
        return "none"
    return f"{len(content.heads):,}, the last of {content.heads[-1].signed_at}"


def _section(
    title: str, file: str, heads: Sequence[str], rows: Sequence[Json], row: Callable[[Json], Sequence[Part]]
) -> Iterator[Html]:
    yield element("h2", f"{title} ({len(rows):,})")
    if not rows:
        yield element("p", "None.", class_="note")
        return
    yield table(heads, (row(one) for one in rows[:MOST_ROWS]))
    if len(rows) > MOST_ROWS:
        yield element("p", f"{len(rows) - MOST_ROWS:,} more are in {file}.", class_="note")


def _node(one: Json) -> Sequence[Part]:
    aliases = f" (also {', '.join(one['aliases'])})" if one["aliases"] else ""
    return element("code", one["node"]), f"{one['depth']}{aliases}"


def _edge(one: Json) -> Sequence[Part]:
    how = "; ".join(" ".join(filter(None, (by["type"], by["subtype"]))) for by in one["transformations"])
    proof = [
        f"{event['time']}\n{event['event']}" for by in one["evidence"] for event in (by["first_seen"], by["last_seen"])
    ]
    cells = (one["source"], one["target"], one["owner"])
    return *(element("code", cell) for cell in cells), how, ", ".join(one["origins"]), "\n".join(dict.fromkeys(proof))


def _run(one: Json) -> Sequence[Part]:
    commit = one["commit"]["version"] or one["commit"]["url"] if one["commit"] else ""
    ends = (identifiers(one["inputs"]), identifiers(one["outputs"]))
    return (
        identifiers([one["run"]]),
        identifiers([one["job"]]),
        one["state"],
        instant(one["ended_at"]),
        identifiers([commit]),
        *ends,
    )


def _schema(one: Json) -> Sequence[Part]:
    columns = (f"{field.get('name', '')} {field.get('type', '')}".strip() for field in one["fields"])
    return identifiers([one["dataset"]]), instant(one["first_seen"]), instant(one["last_seen"]), ", ".join(columns)


def _check(one: Json) -> Sequence[Part]:
    held = "yes" if one["held"] else "no"
    return (
        instant(one["time"]),
        identifiers([one["dataset"]]),
        one["assertion"],
        one["column"] or "",
        held,
        one["expected"] or "",
        one["actual"] or "",
    )


def _contract(one: Json) -> Sequence[Part]:
    held, found = one["contract"] or {}, one["evaluation"] or {"violations": [], "rules": []}
    violated = [f"{rule['rule']} {rule['column'] or ''}".strip() for rule in found["violations"]]
    violated += [_rule(rule) for rule in found["rules"] if rule["outcome"] == "violated"]
    open_ = [_rule(rule) for rule in found["rules"] if rule["outcome"] not in ("violated", "holds")]
    changes = (one["transitions"] or {"changes": []})["changes"]
    times = "\n".join(f"{change['time']} {_rule(change)}: {change['after'] or 'ended'}" for change in changes)
    return identifiers([one["node"]]), held.get("version", ""), ", ".join(violated), ", ".join(open_), times


def _rule(one: Json) -> str:
    return f"{one['rule']} {one['column'] or ''}".strip()


def _slo(one: Json) -> Sequence[Part]:
    row, budget = one["slo"], one["slo"]["budget"] or {"remaining": None}
    left = "" if budget["remaining"] is None else f"{budget['remaining']:.1%}"
    changes = "\n".join(f"{change['time']} {change['after']}" for change in one["transitions"])
    name = f"{row['service']}/{row['name']}"
    return identifiers([row["dataset"]]), name, row["state"], instant(row["since"]), left, changes


def _decisions(content: PackContent) -> Sequence[Json]:
    decisions = content.policies["decisions"] or {"findings": []}
    findings: Sequence[Json] = decisions["findings"]
    return findings


def _decision(one: Json) -> Sequence[Part]:
    decision = f"{one['outcome']}: {one['unknown']}" if one["unknown"] else one["outcome"]
    return one["policy"], identifiers([one["node"]]), decision, one["reason"], one["owner"], identifiers(one["path"])


def _rule_change(one: Json) -> Sequence[Part]:
    rule = one["rule"] or one["kind"]
    return instant(one["time"]), rule, identifiers([one["node"]]), one["before"] or "", one["after"]


def _verdict(one: Json) -> Sequence[Part]:
    verdict = one["verdict"]
    changes = (
        f"{change['id']} {change['kind']} {change['node']}: {change['verdict']}" for change in verdict["changes"]
    )
    commit = f"{one['repository']} {verdict['commit']}"
    return instant(one["recorded_at"]), commit, verdict["verdict"], one["recorded_by"], "\n".join(changes)


def _approval(one: Json) -> Sequence[Part]:
    return instant(one["recorded_at"]), f"{one['repository']} {one['commit']}", one["person"]


def _waiver(one: Json) -> Sequence[Part]:
    until = instant(one["expires"])
    return instant(one["recorded_at"]), one["repository"], one["change"], one["owner"], until, one["reason"]


def _promotion(one: Json) -> Sequence[Part]:
    promoted = one["promotion"]
    return instant(one["recorded_at"]), identifiers([promoted["node"]]), promoted["verdict"], one["recorded_by"]


def _entries(content: PackContent) -> Sequence[Json]:
    entries: Sequence[Json] = content.audit["entries"]
    return entries


def _entry(one: Json) -> Sequence[Part]:
    return instant(one["at"]), one["who"], one["action"], one["what"], str(one["status"])
