"""Tokens of a provider, and signing in at one: a real OpenID Connect provider, and a real set of keys, on loopback."""

import hmac
import json
import re
import socket
import subprocess
import sys
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from security.conftest import House, now
from whence.api.auth.credentials import COOKIE
from whence.api.auth.login import LOGIN_COOKIE, _own_path
from whence.api.settings import ProviderSettings
from whence.model.access import Grant, Role
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant
from whence.store.security.sessions import revoke_sessions

Make = Callable[..., House]
CLIENT = "whence"


class Keys:
    """A provider's discovery document and keys, served over HTTP."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
        self.others: list[Any] = []
        keys = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps(keys.document(self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def document(self, path: str) -> dict[str, Any]:
        if path == "/keys":
            return {"keys": [one.as_dict(private=False) for one in (*self.others, self.key)]}
        return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}

    def token(self, key: Any = None, header: dict[str, Any] | None = None, **changes: Any) -> str:
        """A good token, but for the changes; one that is None leaves its claim out."""
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "ada",
            "exp": int(time.time()) + 60,
            "groups": ["eng"],
        } | changes
        given = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(header or {"alg": "RS256", "kid": "one"}, given, key or self.key)


@pytest.fixture(scope="module")
def keys() -> Iterator[Keys]:
    served = Keys()
    yield served
    served.server.shutdown()
    served.server.server_close()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def of(keys: Keys) -> ProviderSettings:
    return ProviderSettings(issuer=keys.url, client_id=CLIENT, client_secret="kept", public_url="https://whence.test")


def grant(house: House, subject: str) -> None:
    with write_security(house.engine) as connection:
        add_grant(connection, subject, Grant(Role.READER, "*"))


def unsigned(keys: Keys, alg: str = "none") -> str:
    """A good token without its signature, that says so."""
    _, claims, _ = keys.token().split(".")
    return f"{_part({'alg': alg, 'kid': 'one'})}.{claims}."


def _part(value: dict[str, str]) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def by_public_key(keys: Keys) -> str:
    """A token signed with the provider's public key as if that were a shared secret."""
    _, claims, _ = keys.token().split(".")
    signed = f"{_part({'alg': 'HS256', 'kid': 'one'})}.{claims}"
    signature = hmac.digest(keys.key.as_pem(private=False), signed.encode(), "sha256")
    return f"{signed}.{urlsafe_b64encode(signature).decode().rstrip('=')}"


REFUSED: dict[str, Callable[[Keys], str]] = {
    "unsigned": unsigned,
    "none in other letters": lambda keys: unsigned(keys, "NoNe"),
    "signature left out": lambda keys: keys.token().rpartition(".")[0] + ".",
    "wrong key": lambda keys: keys.token(RSAKey.generate_key(2048, {"kid": "one"}, private=True)),
    "public key as a secret": by_public_key,
    "wrong audience": lambda keys: keys.token(aud="other"),
    "no audience": lambda keys: keys.token(aud=None),
    "wrong issuer": lambda keys: keys.token(iss="https://other.example"),
    "expired": lambda keys: keys.token(exp=int(time.time()) - 60),
    "without an end": lambda keys: keys.token(exp=None),
    "not yet valid": lambda keys: keys.token(nbf=int(time.time()) + 600),
    "about nobody": lambda keys: keys.token(sub=None),
    "changed": lambda keys: keys.token().replace(".", ".A", 1),
    "no JSON": lambda _: "a.b.c",
    "empty": lambda _: "..",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_token_that_is_not_right_is_refused(house: Make, keys: Keys, name: str) -> None:
    made = house(of(keys))
    grant(made, "user:ada")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        assert (await client.get("/metrics", headers=bearer(keys.token()))).status_code == 200
        answer = await client.get("/metrics", headers=bearer(REFUSED[name](keys)))
        assert answer.status_code == 401
        assert REFUSED[name](keys) not in answer.text

    made.run(work)


def test_a_token_gives_what_the_groups_in_it_were_granted(house: Make, keys: Keys) -> None:
    made = house(of(keys))
    grant(made, "group:eng")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for groups, status in ((["eng"], 200), (["ops"], 403), ("eng", 403), (None, 403)):
            assert (await client.get("/metrics", headers=bearer(keys.token(groups=groups)))).status_code == status

    made.run(work)


def test_a_token_without_a_key_id_may_be_of_any_key_of_the_provider(house: Make, keys: Keys) -> None:
    made, stranger = house(of(keys)), RSAKey.generate_key(2048, private=True)
    grant(made, "group:eng")
    keys.others = [ECKey.generate_key("P-256", {"kid": "zero"}), RSAKey.generate_key(2048, {"kid": "two"})]
    nameless: dict[str, Any] = {"alg": "RS256"}

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for signer, status in ((keys.key, 200), (keys.others[1], 200), (stranger, 401)):
            answer = await client.get("/metrics", headers=bearer(keys.token(signer, nameless)))
            assert answer.status_code == status
        elliptic = keys.token(keys.others[0], {"alg": "ES256"})
        assert (await client.get("/metrics", headers=bearer(elliptic))).status_code == 200
        named = keys.token(keys.others[1], {"alg": "RS256", "kid": "one"})
        assert (await client.get("/metrics", headers=bearer(named))).status_code == 401

    try:
        made.run(work)
    finally:
        keys.others = []


def test_without_a_provider_no_token_is_taken(house: Make, keys: Keys) -> None:
    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        assert (await client.get("/metrics", headers=bearer(keys.token()))).status_code == 401
        assert (await client.get("/login")).status_code == 401

    house().run(work)


def test_a_provider_that_does_not_answer_lets_nobody_in(house: Make) -> None:
    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        assert (await client.get("/metrics", headers=bearer("a.b.c"))).status_code == 503
        assert (await client.get("/login")).status_code == 503

    house(ProviderSettings(issuer="http://127.0.0.1:9", client_id=CLIENT)).run(work)


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """A real OpenID Connect provider as a process, at which anybody can sign in as anybody."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = int(one.getsockname()[1])
    # As a process, for it warns of its own use of what Authlib will drop, and warnings are errors here.
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    with process:
        assert any("running on" in line.lower() for line in process.stderr)
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.fixture
def signing(house: Make, provider: str) -> House:
    return house(
        ProviderSettings(issuer=provider, client_id=CLIENT, client_secret="kept", public_url="https://whence.test")
    )


async def begin(client: httpx.AsyncClient, to: str = "/") -> tuple[str, str]:
    """Where the provider is asked, and the cookie of this login."""
    answer = await client.get("/login", params={"to": to})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"], cookie_of(answer, LOGIN_COOKIE)


async def authorize(url: str, subject: str = "ada") -> str:
    """Sign in at the provider; the path and query at which it sends the browser back."""
    async with httpx.AsyncClient() as browser:
        answer = await browser.post(url, data={"sub": subject})
    assert answer.status_code in (302, 303), answer.text
    back = urlsplit(answer.headers["location"])
    assert f"{back.scheme}://{back.netloc}" == "https://whence.test"
    return f"{back.path}?{back.query}"


def cookie_of(answer: httpx.Response, name: str) -> str:
    """The value of a cookie that is Secure, HttpOnly, SameSite and for the whole host."""
    cookie = next(one for one in answer.headers.get_list("set-cookie") if one.startswith(f"{name}="))
    assert {"secure", "httponly", "samesite=lax", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}
    assert "domain" not in cookie.lower()
    return cookie.partition("=")[2].partition(";")[0]


async def sign_in(client: httpx.AsyncClient) -> str:
    """A session's cookie."""
    url, state = await begin(client)
    client.cookies.clear()
    answer = await client.get(await authorize(url), headers={"Cookie": f"{LOGIN_COOKIE}={state}"})
    client.cookies.clear()
    assert answer.status_code == 303, answer.text
    return cookie_of(answer, COOKIE)


def test_signing_in_begins_a_session_and_signing_out_ends_it(signing: House) -> None:
    grant(signing, "user:ada")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        cookie = {"Cookie": f"{COOKIE}={await sign_in(client)}"}
        me = (await client.get("/api/v2/session", headers=cookie)).json()
        assert me["name"] == "user:ada"
        assert (await client.get("/metrics", headers=cookie)).status_code == 200
        assert (await client.post("/logout", headers=cookie)).status_code == 403
        assert (await client.post("/logout", headers=cookie | {"X-Whence-CSRF": "guessed"})).status_code == 403
        assert (await client.post("/logout", headers=cookie | {"X-Whence-CSRF": me["csrf"]})).status_code == 204
        assert (await client.get("/metrics", headers=cookie)).status_code == 401

    signing.run(work)
    assert [one.who for one in signing.audited() if one.action == "login"] == ["user:ada"]


def test_the_code_is_bound_to_a_verifier_a_nonce_and_a_state(signing: House) -> None:
    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        asked = [parse_qs(urlsplit((await begin(client))[0]).query) for _ in range(2)]
        assert [one["code_challenge_method"] for one in asked] == [["S256"], ["S256"]]
        assert asked[0]["redirect_uri"] == ["https://whence.test/login/callback"]
        for name in ("code_challenge", "nonce", "state"):
            assert asked[0][name] != asked[1][name]

    signing.run(work)


def test_a_login_that_was_not_begun_here_or_comes_twice_is_refused(signing: House) -> None:
    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        url, state = await begin(client)
        back = await authorize(url)
        cookie = {"Cookie": f"{LOGIN_COOKIE}={state}"}
        client.cookies.clear()
        assert (await client.get(back)).status_code == 401
        assert (await client.get(back, headers={"Cookie": f"{LOGIN_COOKIE}=other"})).status_code == 401
        assert (await client.get(re.sub("state=[^&]*", "state=other", back), headers=cookie)).status_code == 401
        assert (await client.get(back, headers=cookie)).status_code == 303
        client.cookies.clear()
        assert (await client.get(back, headers=cookie)).status_code == 401
        url, state = await begin(client)
        client.cookies.clear()
        wrong = f"/login/callback?code=guessed&state={state}"
        assert (await client.get(wrong, headers={"Cookie": f"{LOGIN_COOKIE}={state}"})).status_code == 401

    signing.run(work)
    assert {one.status for one in signing.audited() if one.action == "login"} == {303, 401}


def test_a_code_of_another_login_is_refused_by_its_nonce(signing: House) -> None:
    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        theirs = await authorize((await begin(client))[0], "mallory")
        code = parse_qs(urlsplit(theirs).query)["code"][0]
        client.cookies.clear()
        state = (await begin(client))[1]
        client.cookies.clear()
        back = f"/login/callback?code={code}&state={state}"
        assert (await client.get(back, headers={"Cookie": f"{LOGIN_COOKIE}={state}"})).status_code == 401

    signing.run(work)


def test_a_session_that_was_revoked_or_is_old_is_refused(house: Make, provider: str) -> None:
    made = house(
        ProviderSettings(issuer=provider, client_id=CLIENT, client_secret="kept", public_url="https://whence.test"),
        session_idle_seconds=3_600,
    )
    grant(made, "user:ada")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        first, second = await sign_in(client), await sign_in(client)
        for cookie in (first, second):
            assert (await client.get("/metrics", headers={"Cookie": f"{COOKIE}={cookie}"})).status_code == 200
        with write_security(made.engine) as connection:
            assert revoke_sessions(connection, "user:ada", now()) == 2
        for cookie in (first, second):
            assert (await client.get("/metrics", headers={"Cookie": f"{COOKIE}={cookie}"})).status_code == 401

    made.run(work)


def test_a_session_past_its_time_is_refused(house: Make, provider: str) -> None:
    settings = ProviderSettings(
        issuer=provider, client_id=CLIENT, client_secret="kept", public_url="https://whence.test"
    )
    for name in ("session_seconds", "session_idle_seconds"):
        made = house(settings, **{name: 0})
        grant(made, "user:ada")

        async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
            cookie = await sign_in(client)
            assert (await client.get("/metrics", headers={"Cookie": f"{COOKIE}={cookie}"})).status_code == 401

        made.run(work)


@pytest.mark.parametrize(
    ("to", "path"),
    [
        ("/graph?node=a", "/graph?node=a"),
        ("https://evil.example/", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("evil", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
        ("javascript:alert(1)", "/"),
        ("//[", "/"),
        ("/a//[", "/a//["),
    ],
)
def test_after_signing_in_one_stays_here(to: str, path: str) -> None:
    assert _own_path(to) == path


def test_a_secret_is_in_no_text_of_its_settings() -> None:
    settings = ProviderSettings(issuer="https://p", client_id=CLIENT, client_secret="hunter2")
    assert "hunter2" not in f"{settings!r} {settings}"
