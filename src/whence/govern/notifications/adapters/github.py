"""GitHub: an issue for each incident is opened, commented on, and closed."""

from typing import Any

from whence.errors import DeliveryError
from whence.govern.notifications.adapters.http import Http
from whence.govern.notifications.notice import Act
from whence.govern.notifications.receivers import GitHubReceiver
from whence.govern.notifications.rendering.github import act_marker, body, comment, thread_marker, title

_PAGE, _MOST_PAGES = 100, 3


def deliver(http: Http, receiver: GitHubReceiver, act: Act, base: str) -> str:
    """Open the issue, or comment on it. Returns its number. Raises DeliveryError."""
    repository = _Repository(http, receiver)
    number = act.reference or (repository.find_issue(act) if act.is_repeated else "")
    if not number:
        made = repository.call("POST", "", {"title": title(act), "body": body(act, base), "labels": [*receiver.labels]})
        number = str(made.get("number") or "")
        if not number.isdecimal():
            raise DeliveryError(receiver.url, "the answer has no number of an issue")
    elif act.reference and not (act.is_repeated and repository.has_comment(number, act)):
        repository.call("POST", f"/{number}/comments", {"body": comment(act, base)})
    if act.notice.is_over:
        repository.call("PATCH", f"/{number}", {"state": "closed", "state_reason": "completed"})
    elif any(one.is_over for one in act.earlier):
        repository.call("PATCH", f"/{number}", {"state": "open", "state_reason": "reopened"})
    return number


class _Repository:
    """The issues of one repository."""

    def __init__(self, http: Http, receiver: GitHubReceiver) -> None:
        self._http, self._url = http, f"{receiver.url}/repos/{receiver.repository}/issues"
        self._headers = {
            "Authorization": f"Bearer {receiver.token.read()}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }

    def call(self, method: str, path: str, sent: dict[str, Any] | None = None, **query: str | int) -> Any:
        """The JSON of an answer. Raises DeliveryError."""
        return self._http.send(method, self._url + path, sent, self._headers, query or None) or {}

    def find_issue(self, act: Act) -> str:
        """The number of the incident's issue, if an earlier attempt opened it; else empty."""
        for page in range(1, _MOST_PAGES + 1):
            found = self.call("GET", "", state="all", sort="created", direction="desc", per_page=_PAGE, page=page)
            for one in found:
                if str(one.get("body")).startswith(thread_marker(act)):
                    return str(one.get("number") or "")
            if len(found) < _PAGE:
                break
        return ""

    def has_comment(self, number: str, act: Act) -> bool:
        """Whether an earlier attempt wrote the comment of an act."""
        for page in range(1, _MOST_PAGES + 1):
            found = self.call("GET", f"/{number}/comments", per_page=_PAGE, page=page)
            if any(str(one.get("body")).startswith(act_marker(act)) for one in found):
                return True
            if len(found) < _PAGE:
                break
        return False
