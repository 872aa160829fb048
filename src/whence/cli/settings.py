"""Locations of the data: an option, else the environment, else the platform's directory for application data."""

import os
from pathlib import Path

from whence.sqlite_files import sqlite_url

DATA = "WHENCE_DATA"
STORE = "WHENCE_STORE"
LOG = "WHENCE_LOG"
ARCHIVE = "WHENCE_ARCHIVE"
TABLES = "WHENCE_TABLES"
SECURITY = "WHENCE_SECURITY"
EVIDENCE = "WHENCE_EVIDENCE"


def data_directory(given: Path | None = None) -> Path:
    """The data directory: `--data`, else WHENCE_DATA, else the user's data directory of this platform. Absolute."""
    chosen = given or os.environ.get(DATA)
    if not chosen:
        from platformdirs import user_data_path

        chosen = user_data_path("whence")
    return Path(chosen).expanduser().absolute()


def log_url(data: Path, given: str | None = None) -> str:
    """The event log: `--log`, else WHENCE_LOG, else segments in the data directory."""
    return given or os.environ.get(LOG) or str(data / "log")


def store_url(data: Path, given: str | None = None) -> str:
    """The store: `--store`, else WHENCE_STORE, else an SQLite file in the data directory."""
    return given or os.environ.get(STORE) or sqlite_url(data / "store.db")


def security_db(store: str, given: str | None = None) -> str:
    """The security database: `--security`, else WHENCE_SECURITY, else beside the store."""
    if chosen := given or os.environ.get(SECURITY):
        return chosen
    from whence.store.security.database import security_url

    return security_url(store)


def archive_uri(data: Path, given: str | None = None) -> str:
    """The archive: `--archive`, else WHENCE_ARCHIVE, else a directory in the data directory."""
    return given or os.environ.get(ARCHIVE) or str(data / "archive")


def tables_uri(data: Path, given: str | None = None) -> str:
    """The published tables: `--tables`, else WHENCE_TABLES, else a directory in the data directory."""
    return given or os.environ.get(TABLES) or str(data / "tables")


def evidence_keys(data: Path) -> Path:
    """The directory with the keys that sign evidence packs."""
    return data / "evidence-keys"


def signed_heads(data: Path) -> Path:
    """The file of the signed heads of both logs."""
    return data / "signed-heads.jsonl"


def stored_packs(data: Path, given: str | None = None) -> str:
    """The packs of certified datasets: a path or URL, else WHENCE_EVIDENCE, else a directory in the data directory."""
    return given or os.environ.get(EVIDENCE) or str(data / "evidence")


def target_url(given: str) -> str:
    """The store to build: a URL, or an SQLite file in a data directory, which is created."""
    if "://" in given:
        return given
    directory = data_directory(Path(given))
    directory.mkdir(parents=True, exist_ok=True)
    return sqlite_url(directory / "store.db")
