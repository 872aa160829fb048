"""What the asking commands do: open the store, ask one question, show the answer. Each returns the exit code."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from rich.console import Console
from rich.text import Text

from whence.cli.impact import impact_lines
from whence.cli.listing import found_lines, path_lines, radius_line
from whence.cli.output import Exit, Rows, print_csv, print_document, print_lines
from whence.cli.tree import ASCII, UNICODE, Style, tree
from whence.model.ids import node_id
from whence.model.names import Node
from whence.query import listings
from whence.query.answers import Extent, Filter, Question, dataset_of
from whence.query.blast import blast_document, blast_radius
from whence.query.impact import impact
from whence.query.instants import iso
from whence.query.lineage import reach_downstream, reach_upstream
from whence.query.listings import Listing, Whole
from whence.query.narrowed import narrowed
from whence.query.paths import paths
from whence.query.ports import Names
from whence.query.resolve import resolve
from whence.query.search import search
from whence.store.dropped import read_dropped
from whence.store.graph import StoreGraph, open_graph

Draw = Callable[[Style], Iterable[Text]]
"""An answer as lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Which store is asked, and in which form the answer is shown."""

    store_url: str
    output: Rows


def show_upstream(asking: Asking, node: str, question: Question) -> Exit:
    """Where a node comes from."""
    with open_graph(asking.store_url) as graph:
        found = reach_upstream(graph, root := resolve(graph, node), of_jobs(graph, question))
        lines = list(_dropped_lines(graph, root, question.at))
        return show(asking, listings.lineage_listing(found), lambda style: [*tree(found.answer(), style), *lines])


def show_downstream(asking: Asking, node: str, question: Question) -> Exit:
    """What depends on a node, and how much that is in all, if that was counted."""
    with open_graph(asking.store_url) as graph:
        found = reach_downstream(graph, root := resolve(graph, node), of_jobs(graph, question))
        radius = blast_radius(graph, root) if question.at is None else None
        listing = listings.lineage_listing(found)
        counted = {"blast_radius": None if radius is None else blast_document(radius)}
        lines = [] if radius is None else [radius_line(radius, time.time_ns() // 1_000)]
        lines += _dropped_lines(graph, root, question.at)
        answer = replace(listing, head=listing.head | counted)
        return show(asking, answer, lambda style: [*tree(found.answer(), style), *lines])


def show_impact(asking: Asking, node: str, question: Question, limit: int) -> Exit:
    """What breaks if a node changes."""
    with open_graph(asking.store_url) as graph:
        found = impact(graph, root := resolve(graph, node), of_jobs(graph, question))
        lines = list(_dropped_lines(graph, root, question.at))
        return show(asking, listings.impact_listing(found), lambda style: [*impact_lines(found, limit, style), *lines])


def _dropped_lines(graph: StoreGraph, root: Node, at: int | None) -> Iterable[Text]:
    """That the dataset asked about is no more, if it is so at that time."""
    of = dataset_of(root)
    since = read_dropped(graph.connection, node_id(of), at) if of else None
    if since is not None:
        told = f"the dataset was dropped or renamed at {iso(since)}. Ask --as-of an earlier time for what held before."
        yield Text.assemble(("Deleted: ", "bold yellow"), told)


def show_paths(asking: Asking, source: str, target: str, question: Question, limit: int) -> Exit:
    """How data gets from one node to another."""
    with open_graph(asking.store_url) as graph:
        answer = paths(graph, resolve(graph, source), resolve(graph, target), question, limit)
    return show(asking, listings.paths_listing(answer), lambda style: path_lines(answer, style))


def show_found(asking: Asking, text: str, only: Filter, limit: int) -> Exit:
    """What a search finds."""
    with open_graph(asking.store_url) as graph:
        found = search(narrowed(graph, only), text, limit)
    return show(asking, listings.found_listing(found), lambda _: found_lines(found))


def show(asking: Asking, answer: Listing | Whole, draw: Draw) -> Exit:
    """Show an answer in the form that is wanted."""
    match asking.output:
        case Rows.JSON:
            print_document(answer.document())
        case Rows.CSV:
            print_csv(answer.csv())
        case Rows.TEXT:
            console = Console(highlight=False)
            print_lines(draw(style_of(console)), console)
    return _exit(answer.extent)


def of_jobs(names: Names, question: Question) -> Question:
    """The question with the jobs of its filter in full. Raises NodeNotFoundError, AmbiguousNodeError."""
    jobs = tuple(str(resolve(names, job)) for job in question.only.jobs)
    return replace(question, only=replace(question.only, jobs=jobs))


def style_of(console: Console) -> Style:
    """How this terminal shows trees."""
    glyphs = UNICODE if console.encoding.lower().replace("-", "") == "utf8" else ASCII
    width = console.width if console.is_terminal else None
    return Style(now=time.time_ns() // 1_000, width=width, glyphs=glyphs)


def _exit(extent: Extent | None) -> Exit:
    """A depth that was asked for and columns that nobody reports are no failing; a budget that cut the answer is."""
    return Exit.OK if extent is None or extent.stopped_by in (None, "depth", "columns") else Exit.CUT
