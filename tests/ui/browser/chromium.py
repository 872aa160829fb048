"""The browser of the tests: found on this machine, or installed by `python -m ui.browser.chromium`.

Chromium's headless shell is preferred: it has no windows, and takes two thirds of the CPU time of the whole browser.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

_SHELL = "chromium-headless-shell"
_NAMES = (_SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_UPDATE = ("apt-get", "update", "-qq")
_INSTALL = ("apt-get", "install", "-y", "-qq", "--no-install-recommends")


def chromium() -> str | None:
    """The path of the browser: WHENCE_TEST_CHROMIUM, the machine's own, or Playwright's. None if there is none."""
    given = os.environ.get("WHENCE_TEST_CHROMIUM")
    return given or next(filter(None, map(shutil.which, _NAMES)), None) or _playwrights_own()


def install() -> bool:
    """Install a browser: Debian's where the user may, else Playwright's. Returns whether there is one afterwards.

    Another one that is there already will do if no headless shell can be had.
    """
    if shutil.which("apt-get") and (prefix := privilege()) is not None:
        subprocess.run([*prefix, *_UPDATE], check=False)
        if subprocess.run([*prefix, *_INSTALL, _SHELL], check=False).returncode and not chromium():
            subprocess.run([*prefix, *_INSTALL, "chromium"], check=False)
    if not chromium():
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    return chromium() is not None


def privilege() -> tuple[str, ...] | None:
    """What stands before a command to run it as root without being asked for a password; None if that is impossible."""
    if os.geteuid() == 0:
        return ("env", "DEBIAN_FRONTEND=noninteractive")
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], check=False, capture_output=True).returncode == 0:
        return (sudo, "-n", "env", "DEBIAN_FRONTEND=noninteractive")
    return None


def _playwrights_own() -> str | None:
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


if __name__ == "__main__":
    if not (os.environ.get("WHENCE_TEST_CHROMIUM") or shutil.which(_SHELL)):
        sys.stdout.write("==> No headless Chromium here: installing one for the tests of the web UI\n")
        if not install():
            sys.exit(f"No Chromium, and none could be installed: apt install {_SHELL}, or WHENCE_TEST_CHROMIUM=/path")
