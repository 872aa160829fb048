"""Profiles: servers and keys that `whence login` stores, in a file that only its user may read."""

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from platformdirs import user_config_path

from whence.errors import ProfileError

URL = "WHENCE_URL"
KEY = "WHENCE_API_KEY"
PROFILE = "WHENCE_PROFILE"
DEFAULT = "default"


class Server(msgspec.Struct, frozen=True):
    """A server's address, and the key (empty: none)."""

    url: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Server(url={self.url!r})"


class _File(msgspec.Struct, frozen=True):
    profiles: dict[str, Server] = {}


def profiles_file() -> Path:
    """The file of all profiles, in the user's configuration directory."""
    return user_config_path("whence") / "profiles.json"


def read_profiles() -> Mapping[str, Server]:
    """All profiles by name; empty if there is no file. Raises ProfileError if it cannot be read."""
    path = profiles_file()
    try:
        return msgspec.json.decode(path.read_bytes(), type=_File).profiles
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ProfileError(f"{path} cannot be read: {error}") from None


def write_profile(name: str, server: Server) -> Path:
    """Write a profile, and return the path of the file. Raises ProfileError."""
    return _write({**read_profiles(), name: server})


def remove_profile(name: str) -> bool:
    """Remove a profile and its key. Returns whether it existed. Raises ProfileError."""
    profiles = dict(read_profiles())
    found = profiles.pop(name, None)
    if found is not None:
        _write(profiles)
    return found is not None


def choose_server(url: str | None = None, key: str | None = None, profile: str | None = None) -> Server:
    """The server at a URL or of a profile; missing values come from the environment, then from the default profile.

    The key of the environment is sent to any URL, the key of a profile only to the profile's URL. Raises ProfileError.
    """
    if url and profile:
        raise ProfileError("give a URL or a profile, not both")
    if url:
        return Server(url, _key_for(url, key))
    if not profile and (address := os.environ.get(URL)):
        return Server(address, _key_for(address, key))
    return _of_profile(profile or os.environ.get(PROFILE), key)


def _key_for(url: str, key: str | None) -> str:
    if key is not None:
        return _clean(key)
    if KEY in os.environ:
        return _clean(os.environ[KEY])
    return next((one.key for one in read_profiles().values() if one.url.rstrip("/") == url.rstrip("/")), "")


def _clean(key: str) -> str:
    """The key without the line break that a file or a secret ends with. Raises ProfileError if it is no key.

    The error has no part of the key: libraries for HTTP print a header that they refuse.
    """
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ProfileError(f"the API key in {KEY} has a line break or a letter that no key has; set the key alone")
    return key


def _of_profile(name: str | None, key: str | None) -> Server:
    profiles = read_profiles()
    if (found := profiles.get(name or DEFAULT)) is None:
        problem = f"there is no profile {name!r}" if name else "no server is given: pass a URL, or set WHENCE_URL"
        known = f"; the profiles are {', '.join(sorted(profiles))}" if profiles else ""
        raise ProfileError(f"{problem}{known}. `whence login URL` makes one")
    return Server(found.url, found.key if key is None else _clean(key))


def _write(profiles: Mapping[str, Server]) -> Path:
    path = profiles_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, new = tempfile.mkstemp(dir=path.parent, prefix=".profiles-")  # mode 0600
        try:
            with os.fdopen(number, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(_File(dict(profiles)))) + b"\n")
            Path(new).replace(path)
        except OSError:
            with suppress(OSError):
                Path(new).unlink()
            raise
    except OSError as error:
        raise ProfileError(f"{path} cannot be written: {error.strerror or error}") from None
    return path
