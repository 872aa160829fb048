"""Texts rewritten before the parser sees them: it would read these forms without an error, and wrongly."""

import re

from whence.capture.sql.dialects import Dialect
from whence.capture.sql.pipes import PIPED, without_pipes

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


def rewritten(text: str, dialect: Dialect) -> str:
    """The text in forms that the parser reads as the dialect means them."""
    if "|>" in text and dialect.name in PIPED:
        text = without_pipes(text, dialect) or text
    if dialect.name == "snowflake":
        return _SEMANTIC_VIEW.sub(_view_query, text) if "semantic_view" in text.lower() else text
    if dialect.name == "bigquery":
        return _TABLE_ARGUMENT.sub(r"\1 (SELECT * FROM \2)", text) if "(" in text else text
    if dialect.name == "clickhouse" and _INFILE.match(text):
        return _INFILE.sub(r"\1 SELECT * FROM file(\2)", text)
    return _ORDINALITY.sub(r"\1 int", text) if "xmltable" in text.lower() else text


def _view_query(found: re.Match[str]) -> str:
    """SEMANTIC_VIEW(v METRICS a.m DIMENSIONS b.d WHERE …) as a query of the view's columns."""
    parts = re.split(r"\b(?:METRICS|DIMENSIONS|FACTS)\b", found["columns"], flags=re.IGNORECASE)
    columns = ", ".join(_QUALIFIER.sub("", one).strip() for part in parts for one in part.split(",") if one.strip())
    condition = _QUALIFIER.sub("", found["where"]) if found["where"] else ""
    return f"(SELECT {columns} FROM {found['name']}{f' WHERE {condition}' if condition else ''})"
