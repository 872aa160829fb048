"""`make bench`: the figures of docs/reference/measurements.md in turn, each in its own process; or those named."""

import os
import subprocess
import sys

FIGURES = {
    "accept": (),
    "derive": (),
    "kafka": (),
    "sustain": (),
    "serve": (),
    "answers.lineage": ("--only", "5,000 jobs"),
    "scale": (),
}
"""What is measured, with its arguments."""


def main() -> None:
    """Run all or the named ones, and print what each prints."""
    sys.stdout.write(f"Whence on {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the start\n")
    sys.stdout.flush()
    for name in sys.argv[1:] or FIGURES:
        command = [sys.executable, "-m", f"bench.{name}", *FIGURES.get(name, ())]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
