"""Notebooks: `%load_ext whence_client` makes each cell a run, under one run for the session of the kernel."""

from __future__ import annotations

import ast
import atexit
import hashlib
import logging
import os
from typing import Any

from whence_client.captures.contract import Undo
from whence_client.captures.imports import install_on_import
from whence_client.captures.registry import uninstall_all
from whence_client.captures.session import Session, process_session
from whence_client.events.facets import own_facet
from whence_client.runs.run import CAPTURE, Run

log = logging.getLogger(__name__)

UNKNOWN = "notebook"
_loaded: dict[int, Notebook] = {}


class Notebook:
    """The lineage of one IPython shell."""

    def __init__(self, shell: Any, session: Session | None = None) -> None:
        self._shell = shell
        self._session = session or process_session()
        self._guard = self._session.guard(CAPTURE)
        self._path = notebook_path(shell)
        self._kernel = Run(self._path, job_type="NOTEBOOK", session=self._session)
        self._cell: Run | None = None
        self._order: list[str] = []
        self._error: BaseException | None = None
        self._undo: Undo = install_on_import(self._session)

    def load(self) -> None:
        """Begin the run of the session, and watch the cells."""
        if self._path == UNKNOWN:
            log.warning("the notebook's name is not known, so its jobs are those of any notebook: set WHENCE_NOTEBOOK")
        self._kernel.start()
        self._kernel.activate()
        self._shell.events.register("pre_run_cell", self._pre_run_cell)
        self._shell.events.register("post_run_cell", self._post_run_cell)
        atexit.register(self.unload)

    def unload(self) -> None:
        """End the run of the session, which has failed if its last cell has, and leave the shell as it was."""
        atexit.unregister(self.unload)
        for event, callback in (("pre_run_cell", self._pre_run_cell), ("post_run_cell", self._post_run_cell)):
            with self._guard(event):
                self._shell.events.unregister(event, callback)
        self._kernel.deactivate()
        self._kernel.finish(self._error)
        self._undo()
        uninstall_all()

    def _pre_run_cell(self, info: Any) -> None:
        with self._guard("pre_run_cell"):
            source = str(getattr(info, "raw_cell", "") or "")
            cell = str(getattr(info, "cell_id", "") or "") or hashlib.sha256(source.encode()).hexdigest()[:8]
            if parameters := papermill_parameters(source):
                self._kernel.parameters(parameters)
                self._kernel.progress()
            self._order.append(cell)
            self._cell = Run(
                f"{self._path}#{cell}",
                job_type="CELL",
                part_of=self._path,
                parent=self._kernel.ref,
                session=self._session,
            )
            self._cell.add_facet("whence_cell", self._cell_facet(cell))
            self._cell.start()
            self._cell.activate()

    def _post_run_cell(self, result: Any) -> None:
        run, self._cell = self._cell, None
        with self._guard("post_run_cell"):
            if run is not None:
                run.deactivate()
                self._error = getattr(result, "error_before_exec", None) or getattr(result, "error_in_exec", None)
                run.finish(self._error)

    def _cell_facet(self, cell: str) -> dict[str, Any]:
        """Which execution of the session this is, and after which cell: cells need not run in the order of the page."""
        members: dict[str, Any] = {"cellId": cell, "execution": len(self._order)}
        members["executionsOfCell"] = self._order.count(cell)
        previous = self._order[-2] if len(self._order) > 1 else None
        return own_facet("CellRunFacet", **members, **({"previousCellId": previous} if previous else {}))


def notebook_path(shell: Any) -> str:
    """The path of the notebook, if its environment has it; else `notebook`: papermill and nbconvert do not give it."""
    names = getattr(shell, "user_ns", {})
    found = (
        os.environ.get("WHENCE_NOTEBOOK")
        or names.get("__vsc_ipynb_file__")
        or names.get("__session__")
        or os.environ.get("JPY_SESSION_NAME")
        or _databricks_path(names)
    )
    return str(found or UNKNOWN)


def papermill_parameters(source: str) -> dict[str, Any]:
    """The parameters of the cell that papermill injects; empty for any other cell."""
    if not source.startswith("# Parameters\n"):
        return {}
    try:
        tree = ast.parse(source)
        return {
            node.targets[0].id: ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
    except (SyntaxError, ValueError):
        return {}


def load(shell: Any) -> None:
    """`%load_ext whence_client`."""
    if id(shell) not in _loaded:
        notebook = Notebook(shell)
        notebook.load()
        _loaded[id(shell)] = notebook


def unload(shell: Any) -> None:
    """`%unload_ext whence_client`."""
    notebook = _loaded.pop(id(shell), None)
    if notebook is not None:
        notebook.unload()


def _databricks_path(names: dict[str, Any]) -> str:
    utilities = names.get("dbutils")
    if utilities is None:
        return ""
    try:
        context = utilities.notebook.entry_point.getDbutils().notebook().getContext()
        return str(context.notebookPath().get())
    except Exception:  # another release of Databricks
        return ""
