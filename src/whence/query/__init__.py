"""Questions, pure over a store: upstream, downstream, paths, evidence, names."""

from whence.query.answers import Answer, AnswerEdge, AnswerNode, Extent, Gap, Path, Paths, Question, Step, touches
from whence.query.document import answer_document, found_document, paths_document
from whence.query.evidence import prove
from whence.query.instants import instant
from whence.query.lineage import downstream, upstream
from whence.query.paths import paths
from whence.query.resolve import resolve
from whence.query.search import Found, search

__all__ = [
    "Answer",
    "AnswerEdge",
    "AnswerNode",
    "Extent",
    "Found",
    "Gap",
    "Path",
    "Paths",
    "Question",
    "Step",
    "answer_document",
    "downstream",
    "found_document",
    "instant",
    "paths",
    "paths_document",
    "prove",
    "resolve",
    "search",
    "touches",
    "upstream",
]
