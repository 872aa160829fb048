"""The contract of captures: a pure translation of a source's own records into events, and one of four drivers."""

from whence_client.captures.contract import (
    ATTACH,
    POLL,
    READ,
    WRAP,
    AttachCapture,
    Capture,
    ConfigurableCapture,
    Findings,
    RecordCapture,
    Undo,
    Versions,
    Window,
    check_package,
)
from whence_client.captures.guard import Guard
from whence_client.captures.naming import Naming
from whence_client.captures.patches import Patches
from whence_client.captures.session import Session

__all__ = [
    "ATTACH",
    "POLL",
    "READ",
    "WRAP",
    "AttachCapture",
    "Capture",
    "ConfigurableCapture",
    "Findings",
    "Guard",
    "Naming",
    "Patches",
    "RecordCapture",
    "Session",
    "Undo",
    "Versions",
    "Window",
    "check_package",
]
