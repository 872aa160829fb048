"""docs/reference/http-evidence.md tells the truth, and a server that cannot sign says so without its paths."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.asked import Client, asking
from query.worlds.churn_story import MODEL, WORLD
from query.worlds.random_worlds import load
from test_docs import EXAMPLE, page, shape
from whence.api.settings import Settings
from whence.govern.evidence.archive import unzip_files
from whence.govern.evidence.signing.key_files import create_key, current_key
from whence.govern.evidence.signing.keys import Algorithm
from whence.govern.evidence.statement import ENVELOPE
from whence.govern.evidence.verify import verify_files
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate
