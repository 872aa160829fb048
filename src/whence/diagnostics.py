"""The diagnostic log of processes on stderr: lines of text, or JSON objects, one a line."""

import atexit
import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

from whence.errors import WhenceError

FORMAT = "WHENCE_LOG_FORMAT"
"""Setting: `json`, or `text`, which is the default."""

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is being answered; empty outside one."""


class JsonLines(logging.Formatter):
    """A record as a JSON object without line breaks: `time` (UTC), `level`, `logger`, `message`, and where there are
    any, `request_id`, `trace_id` and `exception` (its traceback).
    """

    def format(self, record: logging.LogRecord) -> str:
        members = _line(record.created, record.levelname, record.name, record.getMessage())
        if request := request_id.get():
            members["request_id"] = request
        if trace := getattr(record, "trace_id", ""):
            members["trace_id"] = trace
        if record.exc_info:
            members["exception"] = self.formatException(record.exc_info)
        return json.dumps(members)


def is_json_log(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the settings ask for JSON. Raises WhenceError if they ask for something else than that or text."""
    match environ.get(FORMAT, "").strip().lower():
        case "json":
            return True
        case "" | "text":
            return False
        case other:
            raise WhenceError(f"{FORMAT} is {other!r}; set it to json or text")


def log_to_stderr(level: int, *, wrap: bool = False) -> None:
    """Send what this process logs to stderr, in the form of the settings. With `wrap`, what else it and its children
    write there gets that form, too. Raises WhenceError.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    if is_json_log():
        handler = logging.StreamHandler(_wrapped() if wrap else sys.stderr)
        handler.setFormatter(JsonLines())
        _log_all()
    logging.basicConfig(level=level, handlers=[handler])


def as_json(text: str) -> str:
    """A line of somebody else as JSON: unless it is, of Spark's logger, or of nobody known."""
    if text.startswith("{") and _is_json(text):
        return text
    found = _OF_SPARK.fullmatch(text)
    level, logger, message = found.groups() if found else ("INFO", "stderr", text)
    return json.dumps(_line(time.time(), level, logger, message))


_OF_SPARK = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d ([A-Z]+) ([^ :]+): (.*)", re.DOTALL)


def _line(at: float, level: str, logger: str, message: str) -> dict[str, str]:
    when = datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
    return {"time": when, "level": level, "logger": logger, "message": message}


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _wrapped() -> TextIO:
    """Put a pipe in the place of stderr, from which a thread reads lines. Returns stderr as it was."""
    stderr = os.dup(sys.stderr.fileno())
    reading, writing = os.pipe()
    os.dup2(writing, sys.stderr.fileno())
    os.close(writing)
    relaying = threading.Thread(target=_relay, args=(reading, stderr), daemon=True)
    relaying.start()
    atexit.register(_unwrap, stderr, relaying)
    return open(stderr, "w", encoding="utf-8", closefd=False)


def _relay(reading: int, stderr: int) -> None:
    with open(reading, "rb") as lines:
        for line in lines:
            if text := line.decode("utf-8", "replace").rstrip():
                os.write(stderr, f"{as_json(text)}\n".encode())


def _unwrap(stderr: int, relaying: threading.Thread) -> None:
    os.dup2(stderr, sys.stderr.fileno())
    relaying.join(1)  # a child that is still running may hold the pipe


def _log_all() -> None:
    """What Python itself would write to stderr is logged, too."""
    logger = logging.getLogger("python")
    logging.captureWarnings(True)
    sys.excepthook = lambda *error: logger.critical("the process ends by an error", exc_info=error)
    threading.excepthook = lambda it: logger.error("a thread ends by an error", exc_info=it.exc_value)
    sys.unraisablehook = lambda it: logger.error("an error that nobody catches: %s", it.object, exc_info=it.exc_value)
