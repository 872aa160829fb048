"""Rewrites applied before parsing: the parser would read these forms wrongly, without an error."""

import re

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.syntax.pipes import PIPED, rewrite_pipes

_TABLE_ARGUMENT = re.compile(r"([(,]\s*)TABLE\s+(`[^`]+`|[\w.-]+)(?=\s*[,)])", re.IGNORECASE)
_SEMANTIC_VIEW = re.compile(
    r"\bSEMANTIC_VIEW\s*\(\s*(?P<name>[\w.\"]+)(?P<columns>(?:\s+(?:METRICS|DIMENSIONS|FACTS)\s+[\w.\"\s,]+?)+)"
    r"(?:\s+WHERE\s+(?P<where>[^()]*(?:\([^()]*\)[^()]*)*))?\s*\)",
    re.IGNORECASE,
)
_INFILE = re.compile(
    r"^(INSERT\s+INTO\s+\S+?\s*(?:\([^()]*\))?)\s+FROM\s+INFILE\s+('[^']*').*$", re.IGNORECASE | re.DOTALL
)
_QUALIFIER = re.compile(r"(?<![\w.'])[A-Za-z_]\w*\.(?=[A-Za-z_\"])")
_ORDINALITY = re.compile(r"(\w+)\s+FOR\s+ORDINALITY\b", re.IGNORECASE)


def rewrite_for_parser(text: str, dialect: Dialect) -> str:
    """Rewrite a text into forms that the parser reads as the dialect means them."""
    if "|>" in text and dialect.name in PIPED:
        text = rewrite_pipes(text, dialect) or text
    if dialect.name == "snowflake":
        return _SEMANTIC_VIEW.sub(_view_query, text) if "semantic_view" in text.lower() else text
    if dialect.name == "bigquery":
        return _TABLE_ARGUMENT.sub(r"\1 (SELECT * FROM \2)", text) if "(" in text else text
    if dialect.name == "clickhouse" and _INFILE.match(text):
        return _INFILE.sub(r"\1 SELECT * FROM file(\2)", text)
    return _ORDINALITY.sub(r"\1 int", text) if "xmltable" in text.lower() else text


def _view_query(view: re.Match[str]) -> str:
    """Rewrite SEMANTIC_VIEW(v METRICS a.m DIMENSIONS b.d WHERE …) as a query of the view's columns."""
    parts = re.split(r"\b(?:METRICS|DIMENSIONS|FACTS)\b", view["columns"], flags=re.IGNORECASE)
    columns = ", ".join(
        _QUALIFIER.sub("", piece).strip() for part in parts for piece in part.split(",") if piece.strip()
    )
    condition = _QUALIFIER.sub("", view["where"]) if view["where"] else ""
    return f"(SELECT {columns} FROM {view['name']}{f' WHERE {condition}' if condition else ''})"
