"""SQLite files as URLs."""

from pathlib import Path


def sqlite_url(path: Path) -> str:
    """The URL of an SQLite file for SQLAlchemy. What has a meaning in a URL is escaped; the rest stays legible."""
    return f"sqlite:///{str(path).replace('%', '%25').replace('?', '%3F')}"
