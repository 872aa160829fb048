"""`whence score`: the quality score of a dataset, of a store or of a server."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import msgspec
from rich.text import Text

from whence.cli.answers.tree import number
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.acts.certification import QualityScore
from whence.errors import NodeNotFoundError
from whence.govern.quality_scores.documents import score_document
from whence.govern.quality_scores.reading import read_score
from whence.model.access import OPEN
from whence.model.names import DatasetName
from whence.query.answers.instants import instant, iso
from whence.query.lookup.resolve import resolve
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph, open_graph


class ScoreQuestions(Protocol):
    """The question for a score: to a store, or to a server (`client.questions.Client`)."""

    def quality_score(self, node: str, *, as_of: str | None = None) -> QualityScore:
        """The score of a dataset at a time."""
        ...


class StoreScores:
    """The quality scores of a store."""

    def __init__(self, graph: StoreGraph) -> None:
        self._graph = graph

    def quality_score(self, node: str, *, as_of: str | None = None) -> QualityScore:
        """The score of a dataset at a time. Raises NodeNotFoundError, AmbiguousNodeError."""
        now, name = time.time_ns() // 1_000, resolve(self._graph, node)
        if not isinstance(name, DatasetName):
            raise NodeNotFoundError(f"dataset {node}", (str(name),))
        at = None if as_of is None else instant(as_of, now)
        found = read_score(StoreCatalog(self._graph.connection), self._graph, name, now, at)
        return msgspec.convert(score_document(found, name, now if at is None else at, OPEN), QualityScore)


@contextmanager
def open_scores(url: str) -> Iterator[StoreScores]:
    """Open the store at a URL. Raises StoreError."""
    with open_graph(url) as graph:
        yield StoreScores(graph)


def show_score(questions: ScoreQuestions, node: str, as_of: int | None, least: float | None, output: Output) -> Exit:
    """Print a score, and which dataset limits it. `least`: what it has to be."""
    found = questions.quality_score(node, as_of=None if as_of is None else iso(as_of))
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        print_lines(_lines(found))
    return _exit(found, least)


def _exit(found: QualityScore, least: float | None) -> Exit:
    if least is None:
        return Exit.OK
    if found.score is not None and found.score < least:
        return Exit.BLOCKED
    return Exit.OK if found.exact else Exit.UNKNOWN


def _lines(found: QualityScore) -> Iterator[Text]:
    if found.score is None:
        yield Text.assemble(("cannot know", "bold yellow"), f"  {safe(found.node)}")
    else:
        bound = "" if found.exact else "at most "
        yield Text.assemble((f"{bound}{found.score:.2f}", "bold"), f"  {safe(found.node)}")
        limit = "a dataset that this key may not see" if found.limited_by is None else safe(found.limited_by)
        yield Text(f"  limited by {found.part or 'a part'} of {limit}")
    if found.own is not None:
        yield Text(f"  {found.own:.2f} by what is known of the dataset alone", style="dim")
    if found.unknown_datasets:
        text = f"  nothing is known of {found.unknown_datasets} of {number(found.datasets, 'dataset')}"
        names = ", ".join(map(safe, found.unknown))
        yield Text(f"{text}: {names}" if names else text, style="yellow")
    if not found.complete:
        yield Text("  not all inputs were read", style="yellow")
