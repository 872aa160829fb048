"""`whence report expirations`: what ends soon."""

from collections.abc import Iterator

import msgspec
from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.acts.expirations import Expirations
from whence.client.questions import Client


def show_expirations(questions: Client, within: str, output: Output) -> Exit:
    """Print what ends within a time."""
    found = questions.expirations(within=within)
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        print_lines(_lines(found))
    return Exit.OK


def _lines(found: Expirations) -> Iterator[Text]:
    for one in found.expiring:
        place = f"  {one.place}" if one.place else ""
        yield Text(safe(f"{one.expires_at}  {one.kind}  {one.name}{place}"))
        about = "; ".join(filter(None, (one.reason, f"ask {one.owner}" if one.owner else "")))
        if about:
            yield Text(safe(f"    {about}"), style="dim")
    count = len(found.expiring)
    yield Text(f"{count:,} end{'s' * (count == 1)} until {found.until}")
    if not found.keys_shown:
        yield Text("API keys are not listed: only an administrator of everything sees them", style="yellow")
