"""Answers as trees: names, transformations, the job, the run and its age."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from rich.text import Text

from whence.cli.output.labels import Labels, label, name_of, run_of
from whence.cli.output.streams import safe
from whence.client.answers.graph import Lineage
from whence.client.values.graph import Completeness, Edge, Gap, ReachedNode, Transformation
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.transformations import directness
from whence.query.answers.values import GapReason, dataset_of

SHOWN = 2
"""The most transformations to write for one edge."""
LEAST = 12
"""The least width of an expression."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The line characters of a tree: `branches` for direct, indirect and inferred edges."""

    branches: tuple[str, str, str] = ("├─ ", "├╌ ", "├┈ ")
    ends: tuple[str, str, str] = ("└─ ", "└╌ ", "└┈ ")
    bar: str = "│"
    above: str = "↑"
    more: str = "…"
    left: str = "←"
    right: str = "→"
    dot: str = " · "


UNICODE = Glyphs()
ASCII = Glyphs(
    branches=("|- ", "|~ ", "|. "),
    ends=("`- ", "`~ ", "`. "),
    bar="|",
    above="^",
    more="...",
    left="<-",
    right="->",
    dot=", ",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The style of a tree. `now` in microseconds UTC; `width` in columns, None for lines of any length."""

    now: int
    width: int | None = None
    glyphs: Glyphs = UNICODE


@dataclass(frozen=True, slots=True)
class _Branch:
    """One child of a node: the far end, as asserted by one owner."""

    far: Node
    owner: Node
    edges: tuple[Edge, ...]

    @property
    def kind(self) -> int:
        """The kind of line: 0 direct or unknown, 1 indirect, 2 inferred."""
        if all(edge.inferred for edge in self.edges):
            return 2
        best = min(directness(one.type) for edge in self.edges for one in edge.transformations)
        return 1 if best == directness("INDIRECT") else 0


@dataclass(frozen=True, slots=True)
class _Drawing:
    answer: Lineage
    style: Style
    labels: Labels
    root: Node
    nodes: Mapping[Node, ReachedNode]
    edges: Mapping[Node, Sequence[Edge]]
    """By their near end."""
    inside: Mapping[Node, Sequence[Edge]]
    """By the whole dataset of a near end that is a field."""
    gaps: Mapping[Node, Sequence[Gap]]
    drawn: set[Node] = field(default_factory=set)
    """Nodes whose branches were drawn, and datasets whose aliases were printed."""


_Item = tuple[Text, Node | None, str]
"""A line, the node whose branches follow it, and their prefix."""


def tree(answer: Lineage, style: Style) -> Iterator[Text]:
    """The lines of an answer: a head, the tree, and its completeness."""
    drawing = _drawing(answer, style)
    yield _head(drawing)
    drawing.drawn.add(drawing.root)
    open_items = [_items(drawing, drawing.root, "")]
    while open_items:
        item = next(open_items[-1], None)
        if item is None:
            open_items.pop()
            continue
        line, node, prefix = item
        yield line
        if node is not None:
            open_items.append(_items(drawing, node, prefix))
    yield Text()
    yield from closing(answer, drawing.labels)


def closing(answer: Lineage, labels: Labels) -> Iterator[Text]:
    """The size of the answer, and where and why it stopped."""
    completeness = answer.completeness
    when = "" if completeness.as_of is None else f" as of {completeness.as_of}"
    hops = f"{completeness.depth_reached} hop{'' if completeness.depth_reached == 1 else 's'}"
    counted = f"{number(len(answer.nodes), 'node')}, {number(len(answer.edges), 'edge')}, {hops}{when}."
    if completeness.complete and len(answer.nodes) == 1:
        yield Text.assemble(("Complete: ", "bold green"), f"nothing {answer.direction} is known{when}.")
    elif completeness.complete:
        yield Text.assemble(("Complete: ", "bold green"), counted)
    elif completeness.stopped_by == "columns":
        yield Text.assemble(("Not complete: ", "bold yellow"), counted)
    elif completeness.stopped_by not in ("retention", "beginning"):
        places = _some([labels.of(name_of(node)) for node in completeness.frontier], 3, completeness.frontier_nodes)
        why = {"depth": "at the depth asked for", "nodes": "by --max-nodes", "edges": "by --max-edges"}
        stopped = f"Stopped {why.get(completeness.stopped_by or '', '')}: "
        yield Text.assemble((stopped, "bold yellow"), f"{counted} There is more beyond {places}.")
    if limit := past_limit_text(completeness):
        yield limit
    for reason, text in _GAPS.items():
        if at := sorted({labels.of(name_of(gap.at)) for gap in answer.gaps if gap.reason == reason}):
            yield Text.assemble((f"{_unknown(reason)} not known: ", "bold yellow"), f"{text}, at {_some(at, 3)}.")


_GAPS = {
    GapReason.NO_COLUMNS: "some jobs report whole datasets only",
    GapReason.UNREPORTED: "some jobs do not report where all the columns that they write come from",
    GapReason.INCOMPLETE: "some jobs report that they do not know all sources of what they write",
}


def _unknown(reason: GapReason) -> str:
    return "Sources" if reason is GapReason.INCOMPLETE else "Columns"


def past_limit_text(completeness: Completeness) -> Text | None:
    """Why the store does not cover the requested time; None if it does."""
    if completeness.forgotten_before is not None:
        notice = (
            f"history before {completeness.forgotten_before} was deleted by retention. This held then, and still later."
        )
        return Text.assemble(("Not all is known: ", "bold yellow"), notice)
    if completeness.recorded_from is not None:
        notice = f"the first event is of {completeness.recorded_from}; nothing was recorded before it."
        return Text.assemble(("Not known: ", "bold yellow"), notice)
    return None


def transformation_text(edges: Iterable[Edge]) -> tuple[str, str]:
    """The transformations of some parallel edges: expressions, and types. Both are safe to print."""
    transformations = {one for edge in edges for one in edge.transformations}
    ordered = sorted(transformations, key=lambda one: (directness(one.type), one))
    expressions = list(dict.fromkeys(safe(" ".join(one.description.split())) for one in ordered if one.description))
    types = list(dict.fromkeys(filter(None, map(_type_text, ordered))))
    masked = ["masked"] if ordered and all(one.masking for one in ordered) else []
    return _some(expressions, SHOWN), " ".join([_some(types, SHOWN), *masked]).strip()


def _drawing(answer: Lineage, style: Style) -> _Drawing:
    edges: dict[Node, list[Edge]] = {}
    inside: dict[Node, list[Edge]] = {}
    for edge in answer.edges:
        near = _near(answer, edge)
        edges.setdefault(near, []).append(edge)
        if isinstance(near, FieldName):
            inside.setdefault(near.dataset, []).append(edge)
    gaps: dict[Node, list[Gap]] = {}
    for gap in answer.gaps:
        gaps.setdefault(name_of(gap.at), []).append(gap)
    known = [node for gap in answer.gaps for node in (gap.owner, *gap.datasets)]
    known += [node for edge in answer.edges for node in (edge.source, edge.target, edge.owner)]
    labels = label(map(name_of, [answer.root, *(one.node for one in answer.nodes), *known]), style.glyphs.more)
    nodes = {name_of(one.node): one for one in answer.nodes}
    return _Drawing(answer, style, labels, name_of(answer.root), nodes, edges, inside, gaps)


def _head(drawing: _Drawing) -> Text:
    answer = drawing.answer
    types = "" if len(answer.types) > 1 else f", {' '.join(sorted(answer.types))} only"
    when = "" if answer.completeness.as_of is None else f", as of {answer.completeness.as_of}"
    name = (drawing.labels.of(drawing.root), "bold")
    return Text.assemble(name, (f"  {answer.direction}{types}{when}", "dim"), *_aliases(drawing, drawing.root))


def _items(drawing: _Drawing, node: Node, prefix: str) -> Iterator[_Item]:
    branches = _branches(drawing, node)
    gaps = drawing.gaps.get(node, ())
    left = len(branches) + len(gaps)
    for owner, several in groupby(branches, key=lambda branch: branch.owner):
        by_owner = list(several)
        if owner != node and [branch.far for branch in by_owner] != [owner]:
            yield _owner_line(drawing, owner, by_owner, prefix), None, ""
        for branch in by_owner:
            left -= 1
            yield _branch_item(drawing, node, branch, prefix, last=not left)
    for gap in gaps:
        left -= 1
        yield _gap_line(drawing, gap, prefix, last=not left), None, ""


def _branches(drawing: _Drawing, node: Node) -> list[_Branch]:
    by_far: dict[tuple[Node, Node], list[Edge]] = {}
    for edge in _edges_at(drawing, node):
        by_far.setdefault((name_of(edge.owner), _far(drawing.answer, edge)), []).append(edge)
    branches = [_Branch(far, owner, tuple(edges)) for (owner, far), edges in by_far.items()]
    return sorted(branches, key=lambda one: (str(one.owner), one.kind, drawing.labels.of(one.far), str(one.far)))


def _edges_at(drawing: _Drawing, node: Node) -> list[Edge]:
    """The edges whose near end touches a node (`query.touches`)."""
    own = drawing.edges.get(node, ())
    match node:
        case FieldName(dataset):
            return [*own, *drawing.edges.get(dataset, ())]
        case DatasetName():
            return [*own, *drawing.inside.get(node, ())]
        case JobName():
            return list(own) if node == drawing.root else []


def _near(answer: Lineage, edge: Edge) -> Node:
    return name_of(edge.target if answer.direction == "upstream" else edge.source)


def _far(answer: Lineage, edge: Edge) -> Node:
    return name_of(edge.source if answer.direction == "upstream" else edge.target)


def _owner_line(drawing: _Drawing, owner: Node, branches: Iterable[_Branch], prefix: str) -> Text:
    evidence = [one for branch in branches for edge in branch.edges for one in edge.evidence]
    confirmed = all(edge.confirmed for branch in branches for edge in branch.edges)
    words = [drawing.labels.of(owner), run_of(evidence, drawing.style.now), "" if confirmed else "not confirmed"]
    line = Text().append(f"{prefix}{drawing.style.glyphs.bar} ", style="dim")
    return line.append(drawing.style.glyphs.dot.join(filter(None, words)), style="dim italic")


def _branch_item(drawing: _Drawing, node: Node, branch: _Branch, prefix: str, *, last: bool) -> _Item:
    glyphs = drawing.style.glyphs
    line = Text().append(prefix + (glyphs.ends if last else glyphs.branches)[branch.kind], style="dim")
    line.append(drawing.labels.of(branch.far), style="")
    line.append_text(_branch_text(drawing, node, branch, room=_room(drawing, line)))
    inner = prefix + ("   " if last else f"{glyphs.bar}  ")
    has_more = bool(_branches(drawing, branch.far) or drawing.gaps.get(branch.far))
    if branch.far in drawing.drawn:
        line.append(f" {glyphs.above}" if has_more else "", style="bold")
        return line, None, ""
    drawing.drawn.add(branch.far)
    for words in _aliases(drawing, branch.far):
        line.append(*words)
    if (reached := drawing.nodes.get(branch.far)) and reached.more:
        line.append(f" {glyphs.more}", style="bold yellow")
    return line, branch.far if has_more else None, inner


def _branch_text(drawing: _Drawing, node: Node, branch: _Branch, room: int | None) -> Text:
    """The transformation of a branch, its expression cut to the available width."""
    glyphs = drawing.style.glyphs
    upstream = drawing.answer.direction == "upstream"
    if isinstance(branch.far, JobName):
        run = run_of(branch.edges[0].evidence, drawing.style.now)
        reached = drawing.nodes.get(branch.far)
        reads = "checks" if reached and reached.role == "check" else "reads"
        return Text(f"  job that {'writes' if upstream else reads} it{glyphs.dot}{run}", "dim")
    expression, types = transformation_text(branch.edges)
    notes = " ".join(filter(None, [types, _mark(branch), _part_text(drawing, node, branch)]))
    if not expression and not notes:
        return Text()
    arrow = f"  {glyphs.left if upstream else glyphs.right} "
    if expression and room is not None:
        expression = _cut(expression, max(room - len(arrow) - len(notes) - 2, LEAST), glyphs.more)
    colour = {0: "green", 1: "yellow", 2: "magenta"}[branch.kind]
    return Text.assemble((arrow, "dim"), (expression, "cyan"), "  " if expression and notes else "", (notes, colour))


def _mark(branch: _Branch) -> str:
    """The mark of a branch that no producer reports."""
    if branch.kind == 2:
        return "inferred"
    return "parsed from SQL" if all(edge.parsed or edge.inferred for edge in branch.edges) else ""


def _part_text(drawing: _Drawing, node: Node, branch: _Branch) -> str:
    """The part of a dataset that an edge is about, if that is not the node itself."""
    upstream = drawing.answer.direction == "upstream"
    ends = {_near(drawing.answer, edge) for edge in branch.edges}
    fields = sorted(safe(end.field) for end in ends if isinstance(end, FieldName) and end != node)
    if isinstance(node, FieldName) and any(isinstance(end, DatasetName) for end in ends):
        return "(all columns)" if upstream else "(from all columns)"
    return f"({'into' if upstream else 'from'} {_some(fields, 3)})" if fields and isinstance(node, DatasetName) else ""


def _gap_line(drawing: _Drawing, gap: Gap, prefix: str, *, last: bool) -> Text:
    glyphs = drawing.style.glyphs
    others = _some([drawing.labels.of(name_of(node)) for node in gap.datasets], 4)
    owner = drawing.labels.of(name_of(gap.owner))
    text = _gap_text(gap, owner, others, upstream=drawing.answer.direction == "upstream")
    line = Text().append(prefix + (glyphs.ends if last else glyphs.branches)[2], style="dim")
    return line.append("? ", style="bold yellow").append(text, style="yellow")


def _gap_text(gap: Gap, owner: str, others: str, *, upstream: bool) -> str:
    """What is not known of a derivation by a job, or of a dataset that declares its own, such as a chart."""
    if isinstance(name_of(gap.owner), JobName):
        derivation = f"{owner} derives it from {others}" if upstream else f"{owner} derives {others} from it"
        derivation = derivation if others else f"the job {owner} {'writes' if upstream else 'reads'} it"
        return f"{derivation}; {_unknown_part(gap, upstream)}"
    if not upstream:
        return f"{owner} is made of it; not all sources are known"
    return f"it is made of {others}; not all sources are known" if others else "not all of its sources are known"


def _unknown_part(gap: Gap, upstream: bool) -> str:
    match gap.reason:
        case GapReason.NO_COLUMNS:
            return "its columns are not known"
        case GapReason.INCOMPLETE:
            return "it reports that it does not know all sources" if upstream else "not all sources are known"
    return "from which columns is not reported" if upstream else "not all columns are reported"


def _aliases(drawing: _Drawing, name: Node) -> Iterator[tuple[str, str]]:
    """The other names of a node's dataset, where it first appears."""
    node = drawing.nodes.get(name)
    if node and node.aliases:
        wholes = [alias for alias in map(dataset_of, map(name_of, node.aliases)) if alias]
        if wholes[0] not in drawing.drawn:
            drawing.drawn.add(wholes[0])
            yield f"  = {_some([safe(alias.name) for alias in wholes], 2)}", "dim"


def _type_text(one: Transformation) -> str:
    match one.type:
        case "DIRECT":
            return safe(one.subtype) or "DIRECT"
        case "UNKNOWN":
            return ""
    return safe(f"{one.type} {one.subtype}".strip())


def _room(drawing: _Drawing, line: Text) -> int | None:
    return None if drawing.style.width is None else drawing.style.width - line.cell_len


def _cut(text: str, room: int, more: str) -> str:
    return text if len(text) <= room else text[: room - len(more)] + more


def number(count: int, noun: str) -> str:
    """`1 node`, `1,204 nodes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _some(items: Sequence[str], shown: int, count: int | None = None) -> str:
    rest = (len(items) if count is None else count) - shown
    return ", ".join(items[:shown]) + (f" and {rest:,} more" if rest > 0 else "")
