"""The pictures of the README: `make pictures`. The story that the tests of the UI tell, in a real Chromium."""

import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import expect, sync_playwright

from ui.browser.chromium import chromium
from ui.stories.datasets import FEATURES, PREDICTIONS
from ui.stories.serve import prepared
from whence.model.names import FieldName

CHURN = str(FieldName(PREDICTIONS, "churn_probability"))
PICTURES = {
    "explorer": ("lineage", {"node": str(PREDICTIONS), "col": CHURN, "lens": "column"}, ".row-mark"),
    "diff": ("lineage", {"node": str(FEATURES), "vs": "12h ago", "panel": "time"}, ".fate-added"),
    "on-call": ("board", {"of": "oncall"}, ".trouble-failing"),
}
"""Each with the page, what is asked of it, and what must be on it."""
MOST_BYTES = 220_000
SERVE = "import sys; from ui.conftest import SERVE; exec(SERVE)"


def take(into: Path) -> None:
    """Write each picture as PNG. Raises SystemExit if one is too large for a README."""
    with tempfile.TemporaryDirectory(prefix="whence-ui-") as directory:
        settings = prepared(Path(directory))
        with socket.create_server(("127.0.0.1", 0)) as listening:
            fd = listening.fileno()
            command = [sys.executable, "-c", SERVE, str(settings.data), settings.store_url, str(fd)]
            process = subprocess.Popen(command, pass_fds=[fd], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            assert process.stdout is not None
            with process, process.stdout:
                try:
                    assert process.stdout.readline() == b"ready\n"
                    _take_all(f"http://127.0.0.1:{listening.getsockname()[1]}/ui/", into)
                finally:
                    process.terminate()


def _take_all(base: str, into: Path) -> None:
    browser = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = opened.new_page(base_url=base, viewport={"width": 1440, "height": 760})
        for name, (where, asked, on_it) in PICTURES.items():
            page.goto(f"{where}?{urlencode(asked)}")
            expect(page.locator(on_it).first).to_be_visible(timeout=60_000)
            page.wait_for_load_state("networkidle")
            expect(page.locator(".skeleton, .laying, .progress")).to_have_count(0, timeout=60_000)
            path = into / f"{name}.png"
            page.screenshot(path=path, animations="disabled", type="png")
            if path.stat().st_size > MOST_BYTES:
                raise SystemExit(f"{path}: {path.stat().st_size} bytes are too many for a README")
            sys.stdout.write(f"{path}: {path.stat().st_size:,} bytes\n")
        opened.close()


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
    target.mkdir(parents=True, exist_ok=True)
    take(target)
