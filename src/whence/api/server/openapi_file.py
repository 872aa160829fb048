"""Writes the OpenAPI document to standard output, without a server: `python -m whence.api.server.openapi_file`.

The types of the web UI are generated from it (`make ui`).
"""

import sys
import tempfile
from pathlib import Path

import msgspec

from whence.api.server.app import create_app
from whence.api.settings import Settings
from whence.store.connection.engine import sqlite_url


def main() -> None:
    """Write the document, as a server of this version serves it."""
    with tempfile.TemporaryDirectory(prefix="whence-openapi-") as name:
        data = Path(name)
        app = create_app(Settings(data=data, store_url=sqlite_url(data / "store.db"), open=True))
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(app.openapi())) + b"\n")


if __name__ == "__main__":
    main()
