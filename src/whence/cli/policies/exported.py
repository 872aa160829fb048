"""`whence policy export`: policies that restrict reading, in the form of another system."""

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from whence.cli.output.streams import Exit, print_lines, safe
from whence.cli.policies.files import load_policies
from whence.govern.policies.ranger_policies import export_ranger


def write_ranger(file: Path, service: str, accesses: Sequence[str], target: Path | None) -> Exit:
    """Write the policies of a file for Apache Ranger, and print what it cannot say. Raises RulesFileError,
    ArtifactError.
    """
    policies = load_policies(file).policies
    found = export_ranger(policies, service, accesses)
    if target is None:
        sys.stdout.write(found.text)
    else:
        target.write_text(found.text, "utf-8")
    notes = [f"left out: {safe(name)}: {safe(reason)}" for name, reason in found.left_out]
    if not any(one.restricts_reading for one in policies):
        notes = [f"{safe(str(file))} has no policy that restricts reading, so there is nothing to export"]
    print_lines(map(Text, notes), Console(stderr=True, highlight=False))
    return Exit.OK
