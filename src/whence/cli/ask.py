"""What the asking commands do: open the store, ask one question, show the answer. Each returns the exit code."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from whence.cli.listing import found_lines, path_lines, radius_line
from whence.cli.output import Exit, Output, print_document, print_lines
from whence.cli.tree import ASCII, UNICODE, Style, tree
from whence.query.answers import Answer, Extent, Question
from whence.query.blast import blast_document, blast_radius
from whence.query.document import answer_document, found_document, paths_document
from whence.query.lineage import downstream, upstream
from whence.query.paths import paths
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
    with open_graph(asking.store_url) as graph:
        answer = upstream(graph, resolve(graph, node), question)
    return _show(asking, answer, answer_document(answer))


def show_downstream(asking: Asking, node: str, question: Question) -> Exit:
    """What depends on a node, and how much that is in all, if that was counted."""
    with open_graph(asking.store_url) as graph:
        answer = downstream(graph, root := resolve(graph, node), question)
        radius = blast_radius(graph, root) if question.at is None else None
    counted = None if radius is None else blast_document(radius)
    lines = [] if radius is None else [radius_line(radius, time.time_ns() // 1_000)]
    return _show(asking, answer, {**answer_document(answer), "blast_radius": counted}, lines)


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


def _show(asking: Asking, answer: Answer, document: dict[str, Any], more: Iterable[Text] = ()) -> Exit:
    if asking.output is Output.JSON:
        print_document(document)
    else:
        console = Console(highlight=False)
        print_lines([*tree(answer, _style(console)), *more], console)
    return _exit(answer.extent)


def _style(console: Console) -> Style:
    glyphs = UNICODE if console.encoding.lower().replace("-", "") == "utf8" else ASCII
    width = console.width if console.is_terminal else None
    return Style(now=time.time_ns() // 1_000, width=width, glyphs=glyphs)


def _exit(extent: Extent) -> Exit:
    """A depth that was asked for is no failing; a budget that cut the answer is."""
    return Exit.OK if extent.stopped_by in (None, "depth") else Exit.CUT
