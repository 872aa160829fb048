"""Normalised names (docs/explanation/state.md, "Names")."""

import re
from typing import Any

from oracle.nodes import Node

SCHEMES = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "wasbs"}
PATHS = {"s3", "gs", "abfss", "wasbs", "hdfs", "dbfs", "file"}
PORTS = {
    "postgres": "5432",
    "mysql": "3306",
    "mssql": "1433",
    "sqlserver": "1433",
    "oracle": "1521",
    "redshift": "5439",
    "cassandra": "9042",
    "kafka": "9092",
}


def dataset_node(one: dict[str, Any]) -> Node | None:
    """The dataset that `namespace` and `name` of an object name, or None if they do not."""
    namespace, name = one.get("namespace"), one.get("name")
    if not (isinstance(namespace, str) and isinstance(name, str) and namespace and name):
        return None
    return ("dataset", *normal(namespace, name))


def job_node(one: object) -> Node | None:
    """The job that an object names with two strings, the namespace not empty, or None."""
    if not isinstance(one, dict):
        return None
    namespace, name = one.get("namespace"), one.get("name")
    if not (isinstance(namespace, str) and isinstance(name, str) and namespace):
        return None
    return ("job", without_credentials(namespace), without_credentials(name))


def normal(namespace: str, name: str) -> tuple[str, str]:
    """A dataset's normalised namespace and name."""
    namespace, name = _namespace(without_credentials(namespace)), without_credentials(name)
    if names_paths(namespace):
        name = re.sub("/+", "/", name)
        name = name.removesuffix("/") or name
    return namespace, name


def with_meant_paths(event: dict[str, Any]) -> dict[str, Any]:
    """The event with the paths of the files that Airflow's provider means by the names of inputs and outputs."""
    begin = "https://github.com/apache/airflow/tree/providers-openlineage/"
    if not str(event.get("producer")).startswith(begin):
        return event
    lists = {role: event[role] for role in ("inputs", "outputs") if isinstance(event.get(role), list)}
    return event | {role: [_with_meant_path(one) for one in some] for role, some in lists.items()}


def _with_meant_path(one: object) -> object:
    if not isinstance(one, dict) or not dataset_node(one):
        return one
    namespace, name = one["namespace"], one["name"]
    if re.match(r"file(\Z|://)", namespace):
        return one | {"name": _meant_path(name) if name[0] == "/" else "/" + name}
    return one


def _meant_path(path: str) -> str:
    rest = re.sub("%[0-9a-fA-F]{2}", "", path)
    if any(character in '%"<>\\^`{|}\x7f' or character <= " " for character in rest):
        return path
    encoded = path.encode("utf-8", "surrogatepass")
    raw = re.sub(rb"%([0-9a-fA-F]{2})", lambda found: bytes.fromhex(found[1].decode()), encoded)
    try:
        meant = raw.decode()
    except UnicodeDecodeError:
        return path
    return path if "\0" in meant else meant


def names_paths(namespace: str) -> bool:
    """Whether the names in a normalised namespace are paths."""
    scheme, found, _ = namespace.partition("://")
    return namespace == "file" or (bool(found) and scheme in PATHS)


def without_credentials(text: str) -> str:
    """Tokens and the values of secret parameters as `[redacted]`, then `://user:password@` as `://`."""
    text = re.sub(r"(?P<kept>hooks\.slack\.com/+(services|workflows|triggers)/+)[\w/-]{20,}", _kept, text, flags=re.A)
    text = re.sub("|".join(rf"(?<!\w){one}" for one in TOKENS), "[redacted]", text, flags=re.A)
    parts = re.split("([&;])", text)
    for place in range(0, len(parts), 2):
        parts[place] = _without_value(parts[place], is_first=place == 0)
    return re.sub("(?<=://)[^/]*@", lambda found: "" if ":" in found[0] else found[0], "".join(parts))


TOKENS = (
    "AKIA[0-9A-Z]{12,}",
    "ghp_[a-zA-Z0-9]{20,}",
    "gho_[a-zA-Z0-9]{20,}",
    "ghu_[a-zA-Z0-9]{20,}",
    "ghs_[a-zA-Z0-9]{20,}",
    "ghr_[a-zA-Z0-9]{20,}",
    r"github_pat_\w{20,}",
    r"glpat-[\w-]{20,}",
    "xox[abeprs]-[a-zA-Z0-9-]{10,}",
    "sk_live_[a-zA-Z0-9]{16,}",
    "rk_live_[a-zA-Z0-9]{16,}",
    r"AIza[\w-]{35,}",
    "npm_[a-zA-Z0-9]{36,}",
    "hf_[a-zA-Z0-9]{30,}",
    "dapi[0-9a-f]{32,}",
    "whence_[0-9a-f]{8}_[0-9a-f]{56,}",
)
SECRET_WORDS = [
    "password",
    "passwort",
    "passwd",
    "kennwort",
    "passphrase",
    "pwd",
    "secret",
    "credential",
    "credentials",
    "token",
    "signature",
]
KEYS = ["api", "access", "account", "private", "shared", "encryption", "master", "signing"]


def _kept(found: re.Match[str]) -> str:
    return f"{found['kept']}[redacted]"


def _without_value(part: str, *, is_first: bool) -> str:
    starts = [place + 1 for place, letter in enumerate(part) if letter == "?"]
    for start in starts if is_first else [0, *starts]:
        name, equals, value = part[start:].partition("=")
        if equals and value and _is_secret(name):
            return f"{part[:start]}{name}=[redacted]"
    return part


def _is_secret(parameter: str) -> bool:
    lowered = parameter.lower()
    if not parameter.isascii() or lowered == "sig":
        return lowered == "sig"
    ends = [*SECRET_WORDS, *(f"{one}{between}key" for one in KEYS for between in ("", "_", ".", "-"))]
    word = next((one for one in ends if lowered.endswith(one)), None)
    return word is not None and re.fullmatch("[a-z0-9_.-]{0,80}", lowered[: -len(word)]) is not None


def _namespace(namespace: str) -> str:
    scheme, found, rest = namespace.partition("://")
    if not found:
        return namespace
    scheme, rest = SCHEMES.get(scheme, scheme), rest.rstrip("/")
    if scheme == "file" and not rest:
        return "file"
    bare = re.fullmatch(r"([^][/,?\s:]+|\[[^][/,?\s]*\])(:|:None)?", rest)
    if bare and scheme in PORTS:
        rest = f"{bare[1]}:{PORTS[scheme]}"
    return f"{scheme}://{rest}"
