"""Answers to questions as messages of Slack. Pure but for what an answer reads on demand."""

from collections.abc import Iterator, Mapping
from urllib.parse import urlencode

from whence.api.slack.commands import Command, Sent
from whence.client.values.timeline import describe_change
from whence.errors import AmbiguousNodeError, NodeNotFoundError, WhenceError
from whence.govern.gate.rendering.names import HIDDEN_NAME, name_of
from whence.govern.slack_blocks import Block, Message, item, text
from whence.model.names import Node, parse_node
from whence.query.answers.instants import iso
from whence.query.answers.values import Completeness
from whence.query.history.changes.values import (
    Change,
    NotKnown,
    Part,
    Unknown,
    UpstreamChange,
    UpstreamChanges,
)
from whence.query.questions.impact import Affected, Impact
from whence.query.traversal.result import TraversalResult

MOST_ITEMS = 15
_MOST_PARTS = 3
_MOST_CANDIDATES = 8
_NOT_KNOWN = {
    Unknown.HIDDEN: "{count} upstream may not be seen here.",
    Unknown.COLUMNS: "column lineage ends at {count}.",
    Unknown.SCHEMA: "nobody reports the columns of {count}.",
    Unknown.CHECKS_WITHHELD: "checks: only who may read all namespaces sees them.",
    Unknown.CHECKS: "checks of runs before the latest 500.",
    Unknown.CONTRACTS: "contracts of {count} were not evaluated for the whole period.",
    Unknown.COMMITS: "all versions of the code of {count}.",
    Unknown.OWNERS: "all owners of {count}.",
    Unknown.RUNS: "failures before the latest 10,000 runs.",
}


def changes_message(found: UpstreamChanges, base: str, since: str) -> Message:
    """What changed upstream of a node. `base`: where browsers find Whence, empty if that is not known."""
    searched = f"{_counted(found.datasets, 'dataset')} and {_counted(found.jobs, 'job')} searched"
    period = f"{_minute(found.since)} to {_minute(found.until)} UTC"
    shown = found.changes[:MOST_ITEMS]
    rest = len(found.changes) - len(shown)
    count = _counted(len(found.changes), "change") if found.changes else "no change that anybody reported"
    return Message(
        title=f"What changed upstream of {name_of(found.node)}",
        about=f"{period} · {searched} · {count}",
        items=[_change(one) for one in shown],
        notes=[
            *([f"{rest:,} earlier ones are not shown."] if rest else ()),
            *(f"Not known: {_unknown(one)}" for one in found.not_known),
            *(["Not complete: there are more nodes or changes."] if _is_cut(found.completeness) else ()),
        ],
        link=_link(base, "changes", {"node": str(found.node), "since": since}),
    )


def upstream_message(found: TraversalResult, base: str) -> Message:
    """The nodes upstream of a node, the nearest first."""
    # The first node is the requested one.
    answer, total = found.answer(1, 1 + MOST_ITEMS), len(found.order) - 1
    return Message(
        title=f"Upstream of {name_of(answer.root)}",
        about=f"{_counted(total, 'node')}, the nearest first" if total else "Nothing upstream is known.",
        items=[item(text(name_of(one.name), code=True), text(f"  {_hops(one.depth)}")) for one in answer.nodes],
        notes=[*_more(total), *_completeness(found.completeness(), len(answer.gaps))],
        link=_link(base, "lineage", _focus(answer.root)),
    )


def impact_message(found: Impact, base: str) -> Message:
    """What depends on a node, the nearest first."""
    counts = found.counts
    types = ", ".join(_counted(count, kind.lower()) for kind, count in sorted(counts.by_type.items()))
    return Message(
        title=f"What breaks if {name_of(found.root)} changes",
        about=f"{_counted(counts.nodes, 'node')} ({types}) through {_counted(counts.jobs, 'job')}"
        if counts.nodes
        else "Nothing depends on it, as far as is known.",
        items=[_affected(one) for one in found.nodes(0, MOST_ITEMS)],
        notes=[*_more(counts.nodes), *_completeness(found.completeness, 0)],
        link=_link(base, "lineage", {**_focus(found.root), "panel": "impact"}),
    )


def help_message(command: str, mistake: str = "") -> Message:
    """How to ask."""
    uses = (
        ("NODE [--since 7d]", "what changed upstream of it in a period; 24h if not given"),
        ("upstream NODE", "what it comes from"),
        ("impact NODE", "what breaks if it changes"),
    )
    return Message(
        title=f"This is not a question: {mistake}" if mistake else "Ask for lineage",
        items=[item(text(f"{command} {use}", code=True), text(f"  {meaning}")) for use, meaning in uses],
        notes=[
            "NODE is a dataset, a column or a job by its id or the end of its name: gold.revenue.total",
            "Only you see the answer. --share shows it to the channel, with the rights of the channel alone.",
        ],
    )


def problem_message(error: WhenceError) -> Message:
    """Why there is no answer, with the names that may have been meant."""
    match error:
        case NodeNotFoundError(name=name, nearest=candidates):
            title = f"No dataset, column or job is named {name}"
        case AmbiguousNodeError(name=name, candidates=candidates):
            title = f"{name} fits several: write the id of one"
        case _:
            return Message(title=f"There is no answer: {str(error).splitlines()[0]}")
    ids = candidates[:_MOST_CANDIDATES]
    return Message(title=title, about="Perhaps you mean:" if ids else "", items=[item(text(one)) for one in ids])


def failure_message() -> Message:
    """That there is no answer because of a mistake of Whence."""
    return Message(title="There is no answer: something went wrong in Whence", about="The log of the server has it.")


def refusal_message(sent: Sent, command: Command) -> Message:
    """What an administrator has to do so that somebody gets answers."""
    group = f"group:{sent.channel_group}"
    subjects = (group,) if command.share else (sent.person_subject, group)
    return Message(
        title="This channel has no grant in Whence" if command.share else "You have no grant in Whence",
        about="Ask an administrator of Whence for one:",
        items=[
            item(text(f"whence access grant {subject} --role reader --namespaces '…'", code=True))
            for subject in subjects
        ],
    )


def slow_message(command: Command, base: str, *, is_sent_later: bool) -> Message:
    """That an answer takes longer than Slack waits: it comes later, or has to be asked for elsewhere."""
    return Message(
        title="The answer takes longer than Slack waits",
        about="It comes here as soon as it is there."
        if is_sent_later
        else f"Ask in a terminal: whence {command.verb} {command.node}",
        link=f"{base.rstrip('/')}/ui/" if base else "",
    )


def _change(one: UpstreamChange) -> Block:
    parts = [_part(part) for part in one.parts[:_MOST_PARTS]]
    more = [f"{len(one.parts) - _MOST_PARTS} more"] if len(one.parts) > _MOST_PARTS else []
    details = "; ".join(filter(None, (*parts, *more)))
    by = f" · by {name_of(one.job)}" if one.job and one.job != one.node else ""
    return item(
        text(f"{_minute(one.time)} {one.kind} ", bold=True),
        text(name_of(one.node), code=True),
        text(f" {describe_change(one.kind, one.change, str(one.node))}"),
        *([text(f": {details}")] if details else ()),
        *([text(f" · {_hops(one.distance)} upstream")] if one.distance else ()),
        *([text(by)] if by else ()),
    )


def _part(one: Part) -> str:
    sign = {Change.ADDED: "+", Change.REMOVED: "-"}.get(one.change, "")
    end = "" if one.end is None else f"from {name_of(one.end)}"
    if one.change is Change.RENAMED:
        return " ".join(filter(None, (one.name, end, f"was {one.before}" if one.before else "")))
    turn = " → ".join(filter(None, (one.before, one.after)))
    return " ".join(filter(None, (f"{sign}{one.name}" if one.name else "", end, turn)))


def _affected(one: Affected) -> Block:
    owners = f" · {', '.join(one.owners)}" if one.owners else ""
    tier = f" · tier {one.tier}" if one.tier else ""
    about = f"  {one.type.lower()} · {_hops(one.distance)}{tier}{owners}"
    return item(text(name_of(one.name), code=True), text(about))


def _unknown(one: NotKnown) -> str:
    names = ", ".join(name_of(node) for node in one.nodes[:3])
    return _NOT_KNOWN[one.reason].format(count=_counted(one.total, "node")) + (f" {names}" if names else "")


def _more(total: int) -> Iterator[str]:
    if total > MOST_ITEMS:
        yield f"{total - MOST_ITEMS:,} more are not shown."


def _completeness(found: Completeness, gaps: int) -> Iterator[str]:
    if found.hidden_nodes:
        yield f"{_counted(found.hidden_nodes, 'node')} of them may not be seen here."
    if gaps or found.stopped_by == "columns":
        yield "Not complete: some jobs do not report which columns they read and write."
    elif _is_cut(found):
        yield f"Not complete: it stopped at the limit of {found.stopped_by}."


def _is_cut(found: Completeness) -> bool:
    return found.stopped_by in ("nodes", "edges", "changes", "retention")


def _focus(node: Node) -> Mapping[str, str]:
    return {"node": str(node)}


def _link(base: str, page: str, query: Mapping[str, str]) -> str:
    node = parse_node(query["node"])
    is_hidden = node is None or name_of(node) == HIDDEN_NAME
    return f"{base.rstrip('/')}/ui/{page}?{urlencode(query)}" if base and not is_hidden else ""


def _minute(time: int) -> str:
    return iso(time)[:16].replace("T", " ")


def _hops(count: int) -> str:
    return _counted(count, "hop")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
