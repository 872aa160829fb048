"""What the asking commands do: open the store, ask one question, show the answer. Each returns the exit code."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console

from whence.cli.listing import found_lines, path_lines
from whence.cli.output import Exit, Output, print_document, print_lines
from whence.cli.tree import ASCII, UNICODE, Style, tree
from whence.model.names import Node
from whence.query.answers import Answer, Extent, Question
from whence.query.document import answer_document, found_document, paths_document
from whence.query.lineage import downstream, upstream
from whence.query.paths import paths
from whence.query.ports import Graph
from whence.query.resolve import resolve
from whence.query.search import search
from whence.store.graph import open_graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Which store is asked, and in which form the answer is shown."""

    store_url: str
    output: Output


def show_upstream(asking: Asking, node: str, question: Question) -> Exit:
    """Where a node comes from."""
    return _show_lineage(asking, node, question, upstream)


def show_downstream(asking: Asking, node: str, question: Question) -> Exit:
    """What depends on a node."""
    return _show_lineage(asking, node, question, downstream)


def show_paths(asking: Asking, source: str, target: str, question: Question, limit: int) -> Exit:
    """How data gets from one node to another."""
    with open_graph(asking.store_url) as graph:
        answer = paths(graph, resolve(graph, source), resolve(graph, target), question, limit)
    if asking.output is Output.JSON:
        print_document(paths_document(answer))
    else:
        console = Console(highlight=False)
        print_lines(path_lines(answer, _style(console)), console)
    return _exit(answer.extent)


def show_found(asking: Asking, text: str, limit: int) -> Exit:
    """Names that contain a text."""
    with open_graph(asking.store_url) as graph:
        found = search(graph, text, limit)
    if asking.output is Output.JSON:
        print_document(found_document(found))
    else:
        print_lines(found_lines(found))
    return Exit.OK


def _show_lineage(
    asking: Asking, node: str, question: Question, ask: Callable[[Graph, Node, Question], Answer]
) -> Exit:
    with open_graph(asking.store_url) as graph:
        answer = ask(graph, resolve(graph, node), question)
    if asking.output is Output.JSON:
        print_document(answer_document(answer))
    else:
        console = Console(highlight=False)
        print_lines(tree(answer, _style(console)), console)
    return _exit(answer.extent)


def _style(console: Console) -> Style:
    glyphs = UNICODE if console.encoding.lower().replace("-", "") == "utf8" else ASCII
    width = console.width if console.is_terminal else None
    return Style(now=time.time_ns() // 1_000, width=width, glyphs=glyphs)


def _exit(extent: Extent) -> Exit:
    """A depth that was asked for is no failing; a budget that cut the answer is."""
    return Exit.OK if extent.stopped_by in (None, "depth") else Exit.CUT
