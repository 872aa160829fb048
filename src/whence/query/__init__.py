"""Questions, pure over a store: upstream, downstream, impact, paths, why, history, what changed, runs, names."""

from whence.query.answers import (
    Answer,
    AnswerEdge,
    AnswerNode,
    Extent,
    Filter,
    Gap,
    Path,
    Paths,
    Question,
    Step,
    touches,
)
from whence.query.diff import Diff, Side, diff
from whence.query.document import answer_document, found_document, paths_document
from whence.query.evidence import prove
from whence.query.history import History, history
from whence.query.impact import Impact, impact
from whence.query.instants import instant
from whence.query.lineage import downstream, upstream
from whence.query.paths import paths
from whence.query.resolve import resolve
from whence.query.runs import RunLineage, resolve_run, run_lineage
from whence.query.search import Found, search
from whence.query.why import Reason, WhyNot, why, why_not

__all__ = [
    "Answer",
    "AnswerEdge",
    "AnswerNode",
    "Diff",
    "Extent",
    "Filter",
    "Found",
    "Gap",
    "History",
    "Impact",
    "Path",
    "Paths",
    "Question",
    "Reason",
    "RunLineage",
    "Side",
    "Step",
    "WhyNot",
    "answer_document",
    "diff",
    "downstream",
    "found_document",
    "history",
    "impact",
    "instant",
    "paths",
    "paths_document",
    "prove",
    "resolve",
    "resolve_run",
    "run_lineage",
    "search",
    "touches",
    "upstream",
    "why",
    "why_not",
]
