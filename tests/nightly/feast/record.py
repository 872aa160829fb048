"""`python -m nightly.feast.record`: writes the registry of a real Feast for tests/capture/feast."""

import json
import tempfile
from pathlib import Path

from nightly.feast.store import RELEASE, open_store, without_code

FIXTURE = Path(__file__).parents[2] / f"capture/feast/feast-{RELEASE}.json"


def main() -> None:
    """Record."""
    with tempfile.TemporaryDirectory(prefix="whence-feast-") as directory:
        path = Path(directory).resolve() / "registry.json"
        open_store(path.parent / "shop").write_registry(path)
        registry = without_code(json.loads(path.read_text("utf-8")))
    FIXTURE.write_text(json.dumps(registry, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
