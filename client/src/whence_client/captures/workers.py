"""Captures in worker processes that start as new Pythons: `spawn` and `forkserver` of multiprocessing, and joblib's.

Such a worker gets its preparation data by pickle before it imports the program. One more member of the data installs
the captures as it is unpickled. A worker that was forked has them already.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable

from whence_client.captures.contract import Undo

MODULES = ("multiprocessing.spawn", "joblib.externals.loky.backend.spawn", "loky.backend.spawn")
"""The modules whose `get_preparation_data` makes the data of a worker."""

_INSTALL = """
try:
    from whence_client.captures.imports import install_on_import
    install_on_import()
except Exception:
    pass
"""


class Installation:
    """An object that installs the captures in the process that unpickles it. Nothing is needed there to do so."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return exec, (_INSTALL, {})


def prepare_workers(module_name: str) -> Undo:
    """Let the workers that this module starts install the captures."""
    module: Any = sys.modules[module_name]
    get_data = module.get_preparation_data

    @functools.wraps(get_data)
    def get_preparation_data(*args: Any, **kwargs: Any) -> dict[str, Any]:
        return {**get_data(*args, **kwargs), "whence_client": Installation()}

    module.get_preparation_data = get_preparation_data
    return lambda: setattr(module, "get_preparation_data", get_data)
