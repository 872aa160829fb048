"""Spark's Python daemon, with what the workers need imported before they fork: they start at once, and share that
memory.
"""

import gc
import importlib
import sys

from pyspark.daemon import manager

_NEEDED = ("pyspark.sql.pandas.serializers", "whence.derive.read", "whence.derive.settlement", "whence.derive.source")


def main() -> None:
    """Import, then fork workers as Spark asks for them. The data source's own planning workers stay small."""
    if sys.argv[1:] == ["pyspark.worker"]:
        for module in _NEEDED:
            importlib.import_module(module)
    gc.freeze()  # what was imported is not garbage, and is not touched by the collector, so stays shared
    manager()


if __name__ == "__main__":
    main()
