"""`whence slo export`: the objectives of a file for Prometheus, Grafana and OpenSLO."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text

from whence.cli.output.streams import Exit, print_lines, safe
from whence.cli.slos.files import load_slos
from whence.errors import ArtifactError
from whence.govern.slos.export.grafana import grafana_dashboard
from whence.govern.slos.export.openslo import losses, openslo_documents
from whence.govern.slos.export.prometheus import prometheus_rules
from whence.govern.slos.slo_file import SloFile

FORMS: Mapping[str, Callable[[SloFile], str]] = {
    "prometheus": prometheus_rules,
    "grafana": grafana_dashboard,
    "openslo": openslo_documents,
}
"""What writes each form."""


def export_slos(file: Path, targets: Mapping[str, Path]) -> Exit:
    """Write the objectives of a file in each form. Raises RulesFileError, ArtifactError."""
    found = load_slos(file)
    for form, target in targets.items():
        _write(target, FORMS[form](found))
    if "openslo" in targets:
        _say_losses(found)
    return Exit.OK


def _say_losses(file: SloFile) -> None:
    lost = Counter(loss for one in file.objectives for loss in losses(one))
    lines = (
        f"OpenSLO has no words for {safe(loss)} ({count} of {len(file.objectives)})" for loss, count in lost.items()
    )
    print_lines(map(Text, lines), Console(stderr=True))


def _write(target: Path, text: str) -> None:
    if target == Path("-"):
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        return
    try:
        target.write_text(text, "utf-8")
    except OSError as error:
        raise ArtifactError(str(target), f"{error.strerror}; name a file in a folder that exists") from error
