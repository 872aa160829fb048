"""`python -m nightly.kubeflow.record`: writes what a real kfp's local runner leaves for tests/capture/kubeflow."""

import json
import tempfile
from pathlib import Path

from nightly.kubeflow.runs import FOLDER, RELEASE, record_files, run_shop

FIXTURE = Path(__file__).parents[2] / f"capture/kubeflow/kfp-{RELEASE}.json"


def main() -> None:
    """Record."""
    with tempfile.TemporaryDirectory(prefix="whence-kubeflow-") as directory:
        folder = Path(directory).resolve()
        run_shop(folder)
        text = json.dumps(record_files(folder), indent=1, ensure_ascii=False)
    FIXTURE.write_text(text.replace(str(folder), FOLDER) + "\n", "utf-8")


if __name__ == "__main__":
    main()
