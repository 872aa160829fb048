"""Lineage answers by brute force: every edge looked at in every round, in names, straight from the rules in words."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from query.worlds.random_worlds import World
from whence.model.lineage import GAPS, Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName, Node


@dataclass(frozen=True)
class Brute:
    """Distances, edges taken (source, target, owner), gaps (node, owner, datasets), nodes with more beyond, and which
    edges each node takes.
    """

    distance: dict[Node, int]
    edges: frozenset[tuple[Node, Node, Node]]
    gaps: frozenset[tuple[Node, Node, frozenset[Node], str]]
    more: frozenset[Node]
    takes: dict[Node, set[tuple[Node, Node, Node]]]


def one_name(world: World) -> Callable[[Node], Node]:
    """Every name → the name that its alias group goes by."""
    first = {member: group[0] for group in world.groups for member in group}

    def name(node: Node) -> Node:
        if isinstance(node, FieldName):
            return FieldName(first.get(node.dataset, node.dataset), node.field)
        return first.get(node, node) if isinstance(node, DatasetName) else node

    return name


def holding(world: World, at: int | None) -> Iterator[tuple[Node, Edge, Origin]]:
    """(owner, edge, origin) of all that holds at a time, under one name each."""
    name = one_name(world)
    for owner, one, origin in _holding(world, at):
        yield owner, Edge(source=name(one.source), target=name(one.target), type=one.type, subtype=one.subtype), origin


def _holding(world: World, at: int | None) -> Iterator[tuple[Node, Edge, Origin]]:
    """The same under the names that were said."""
    for statement in world.statements:
        if statement.end > 10**18 if at is None else statement.start <= at < statement.end:
            yield from ((statement.owner, one, origin) for one, origin in statement.edges)


def whole(node: Node) -> Node | None:
    return node.dataset if isinstance(node, FieldName) else None


def meets(node: Node, end: Node) -> bool:
    return node == end or whole(node) == end or whole(end) == node


def ask(
    world: World,
    root: Node,
    direction: str,
    types: set[str],
    depth: int | None,
    at: int | None,
    fine: bool | None = None,
) -> Brute:
    """The whole answer, without budgets; `fine`: over the edges of columns, else as the root is."""
    root = one_name(world)(root)
    all_edges = [one for one in holding(world, at) if one[2] not in GAPS]
    fine = isinstance(root, FieldName) if fine is None else fine
    if fine:
        usable = [one for one in all_edges if FieldName in (type(one[1].source), type(one[1].target))]
    else:
        usable = [one for one in all_edges if FieldName not in (type(one[1].source), type(one[1].target))]
    of_root_job = [
        (o, Edge(source=whole(e.source) or e.source, target=whole(e.target) or e.target, type=e.type), g)
        for o, e, g in all_edges
    ]

    def near(one: Edge) -> Node:
        return one.target if direction == "upstream" else one.source

    def far(one: Edge) -> Node:
        return one.source if direction == "upstream" else one.target

    def follow(node: Node) -> set[tuple[Node, Node, Node]]:
        if isinstance(node, JobName):
            here = [(o, e) for o, e, _ in of_root_job if near(e) == node] if node == root else []
        else:
            here = [(o, e) for o, e, _ in usable if (meets(node, near(e)) if fine else near(e) == node)]
        derives = {o for o, e in here if not isinstance(far(e), JobName)}
        kept = [(o, e) for o, e in here if e.type in types or e.type not in ("DIRECT", "INDIRECT")]
        return {(e.source, e.target, o) for o, e in kept if not (isinstance(far(e), JobName) and far(e) in derives)}

    distance, taken, round_, frontier = {root: 0}, set(), 0, {root}
    takes: dict[Node, set[tuple[Node, Node, Node]]] = {}
    while frontier and round_ != depth:
        round_ += 1
        steps = {node: follow(node) for node in frontier}
        taken |= {step for several in steps.values() for step in several}
        takes |= steps
        reached = {
            source if direction == "upstream" else target for several in steps.values() for source, target, _ in several
        }
        frontier = {node for node in reached if node not in distance}
        distance.update(dict.fromkeys(frontier, round_))
        frontier = {node for node in frontier if not isinstance(node, JobName)}
    more = {node for node in frontier if follow(node) - taken}
    ended = set(distance) - more
    gaps = set(find_incomplete(world, at, ended, direction, None if fine else set(distance)))
    if fine:
        gaps |= {*find_gaps(all_edges, ended, direction), *find_unreported(world, at, ended, direction)}
    return Brute(distance, frozenset(taken), frozenset(gaps), frozenset(more), takes)


def find_gaps(
    all_edges: list[tuple[Node, Edge, Origin]], nodes: set[Node], direction: str
) -> Iterator[tuple[Node, Node, frozenset[Node], str]]:
    """For each node, the owners that speak of its whole dataset only."""
    fine = {(o, whole(e.target) or e.target) for o, e, _ in all_edges if FieldName in (type(e.source), type(e.target))}
    coarse = [
        (o, e) for o, e, _ in all_edges if isinstance(e.source, DatasetName) and isinstance(e.target, DatasetName)
    ]
    for node in nodes:
        of = whole(node) or node
        here = [
            (o, e)
            for o, e in coarse
            if (e.target if direction == "upstream" else e.source) == of and (o, e.target) not in fine
        ]
        for owner in {o for o, _ in here}:
            yield (
                node,
                owner,
                frozenset(e.source if direction == "upstream" else e.target for o, e in here if o == owner),
                "no column lineage",
            )
        if direction == "downstream":
            readers = {e.target for _, e, _ in all_edges if e.source == of and isinstance(e.target, JobName)}
            for reader in readers - {o for o, _ in here}:
                if not any(_is_finer(o, e, reader, of) for o, e, _ in all_edges):
                    yield node, reader, frozenset(), "no column lineage"


def find_unreported(
    world: World, at: int | None, nodes: set[Node], direction: str
) -> Iterator[tuple[Node, Node, frozenset[Node], str]]:
    """For each node, the jobs that write it, or read it for what they write, and do not say where a column is from."""
    name, holding = one_name(world), list(_holding(world, at))
    reached = {(o, e.target) for o, e, origin in holding if origin not in GAPS}
    columns = {(o, e.target) for o, e, origin in holding if origin is Origin.UNREPORTED} - reached
    reads = _reads(world, at)
    for node in nodes:
        for owner in {o for o, _ in columns}:
            mine = {name(column) for o, column in columns if o == owner}
            if direction == "upstream":
                if any(node in (column, whole(column)) for column in mine):
                    yield node, owner, frozenset(of for of, o in reads if o == owner), "column not reported"
            elif (whole(node) or node, owner) in reads:
                yield node, owner, frozenset(of for column in mine if (of := whole(column))), "column not reported"


def find_incomplete(
    world: World, at: int | None, nodes: set[Node], direction: str, answer: set[Node] | None
) -> Iterator[tuple[Node, Node, frozenset[Node], str]]:
    """For each node, the jobs that write it, or read it for what they write, and report that they do not know all
    sources; upstream of such a job, the job itself. `answer`: all nodes of an answer about whole datasets; None of one
    about columns.
    """
    name, reads, reason = one_name(world), _reads(world, at), "sources not known"
    lost = {(o, name(e.target)) for o, e, origin in _holding(world, at) if origin is Origin.INCOMPLETE}
    for node in nodes:
        for owner in {o for o, _ in lost}:
            mine = {end for o, end in lost if o == owner}
            outputs = frozenset(whole(end) or end for end in mine)
            if direction == "upstream":
                is_near = any(meets(node, end) for end in mine) if answer is None else node in outputs
                if node == owner and isinstance(node, JobName):
                    yield node, owner, frozenset(), reason
                elif is_near:
                    yield node, owner, frozenset(of for of, o in reads if o == owner), reason
            elif (whole(node) or node, owner) in reads and (others := outputs - (answer or set())):
                yield node, owner, others, reason


def _reads(world: World, at: int | None) -> set[tuple[Node, Node]]:
    """Each whole dataset that a job reads, with the job."""
    name, edges = one_name(world), [(o, e) for o, e, origin in _holding(world, at) if origin not in GAPS]
    return {(name(e.source), o) for o, e in edges if e.target == o and isinstance(e.source, DatasetName)}


def _is_finer(owner: Node, one: Edge, reader: Node, of: Node) -> bool:
    from_it = (whole(one.source) or one.source) == of
    return owner == reader and from_it and (not isinstance(one.target, JobName) or isinstance(one.source, FieldName))
