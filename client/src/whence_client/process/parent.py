"""The run that started this process, and the variables that pass it to child processes.

Airflow's macros and dbt-ol use the same form, `namespace/job/runId`; a namespace may contain slashes.

>>> parse_parent("prod/nightly/01941f29-7c00-7abc-8def-000000000001").job
'nightly'
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote, unquote

from whence_client.events.runs import RunRef

PARENT, ROOT = "OPENLINEAGE_PARENT_ID", "OPENLINEAGE_ROOT_PARENT_ID"


def parent_of_process(environment: Mapping[str, str] | None = None) -> RunRef | None:
    """The run that started this process; None if no variable names one."""
    env = os.environ if environment is None else environment
    parent, root = parse_parent(env.get(PARENT, "")), parse_parent(env.get(ROOT, ""))
    return replace(parent, root=root) if parent and root else parent or root


def child_environment(run: RunRef) -> dict[str, str]:
    """The variables that make `run` the parent of the processes that get them."""
    return {PARENT: format_parent(run), ROOT: format_parent(run.root or run)}


def parse_parent(text: str) -> RunRef | None:
    """A run from `namespace/job/runId`; None for any other text."""
    head, _, run_id = text.strip().rpartition("/")
    namespace, _, job = head.rpartition("/")
    try:
        run_id = str(uuid.UUID(run_id))
    except ValueError:
        return None
    return RunRef(namespace, unquote(job), run_id) if namespace and job else None


def format_parent(run: RunRef) -> str:
    """The run as `namespace/job/runId`. A slash in the job's name is percent-encoded: it would end the namespace."""
    job = quote(run.job, safe=" :@,;=+$&!*'()[]<>|{}~^`\"?#\\") if "/" in run.job or "%" in run.job else run.job
    return f"{run.namespace}/{job}/{run.run_id}"
