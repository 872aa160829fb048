"""Several processes may open a new store at once: `whence up` starts a server and a pipeline."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from whence.store.connection.sqlite import configure_sqlite

OPENERS, FILES = 6, 150


def test_many_open_a_new_file_at_once(tmp_path: Path) -> None:
    together = Barrier(OPENERS, timeout=60)

    def open_all() -> None:
        for number in range(FILES):
            together.wait()
            for _ in range(3):
                connection = sqlite3.connect(tmp_path / f"{number}.db")
                try:
                    configure_sqlite(connection, None)
                    connection.execute("create table if not exists t (a)")
                    assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
                finally:
                    connection.close()

    with ThreadPoolExecutor(OPENERS) as threads:
        for opener in [threads.submit(open_all) for _ in range(OPENERS)]:
            opener.result()
