"""A client of `reluctant serve`, with nothing but the standard library.

    from reluctant.client import Client

    shop = Client("http://127.0.0.1:8080", "shop", token="...")
    decision = shop.decide(context=[0.3, 1.0], actions=["tea", "coffee"])
    shop.reward(decision["event"], 1.0)

Every decision has an event id before it is asked for. When an answer does not come, the client asks again with the
same id, and the service gives the same answer: nothing happens twice.
"""

from __future__ import annotations

import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["Client", "ServiceError"]

#: Answers after which it is worth asking again: too many requests, and a service that stops or cannot write.
RETRIED = frozenset({408, 429, 502, 503, 504})


class ServiceError(Exception):
    """The service refuses; ``status`` is the status of HTTP, and the text its sentence."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class Client:
    """One policy of a service.

    ``retries`` is how often a request is repeated, ``timeout`` how many seconds each try may take, and ``pause`` how
    many pass before the second; each later pause is twice as long, with some randomness, so that many clients do not
    come back at once.
    """

    def __init__(
        self,
        url: str,
        policy: str,
        *,
        token: str | None = None,
        timeout: float = 10.0,
        retries: int = 5,
        pause: float = 0.1,
    ) -> None:
        self._base = f"{url.rstrip('/')}/v1/{urllib.parse.quote(policy, safe='')}"
        self._token = token
        self._timeout = timeout
        self._retries = retries
        self._pause = pause

    def decide(
        self,
        *,
        arms: Sequence[Sequence[float]] | str | None = None,
        context: Sequence[float] | None = None,
        actions: Sequence[str] | None = None,
        features: Sequence[Sequence[float]] | None = None,
        default: int | str | None = None,
        default_propensity: float | None = None,
        event: str | None = None,
    ) -> dict[str, Any]:
        """Decides; ``["event"]`` of the answer is what a reward is given for."""
        request = {
            "event": event if event is not None else new_event(),
            "arms": arms,
            "context": context,
            "actions": actions,
            "features": features,
            "default": default,
            "default_propensity": default_propensity,
        }
        return self._call("/decide", {name: value for name, value in request.items() if value is not None})

    def reward(self, event: str, reward: float) -> dict[str, Any]:
        """Hands in a reward; handed in again it is acknowledged, and not learnt twice."""
        return self._call("/reward", {"event": event, "reward": reward})

    def decide_all(self, requests: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Many decisions at once. Each answer is a decision, or a problem with ``status`` and ``detail``."""
        asked = [{"event": new_event(), **request} for request in requests]
        answers: list[dict[str, Any]] = self._call("/decide/batch", {"requests": asked})["answers"]
        return answers

    def reward_all(self, rewards: Mapping[str, float]) -> list[dict[str, Any]]:
        """Many rewards at once, by event."""
        given = [{"event": event, "reward": reward} for event, reward in rewards.items()]
        answers: list[dict[str, Any]] = self._call("/reward/batch", {"requests": given})["answers"]
        return answers

    def state(self) -> dict[str, Any]:
        """The policy in numbers; needs a token for admin, where tokens are used."""
        return self._call("", None)

    def explain(self, event: str) -> dict[str, Any]:
        """A decision, what came of it, and why; needs a token for admin, where tokens are used."""
        return self._call(f"/decisions/{urllib.parse.quote(event, safe='')}", None)

    def _call(self, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        for attempt in range(self._retries + 1):
            try:
                return self._once(path, data)
            except ServiceError as cause:
                if cause.status not in RETRIED or attempt == self._retries:
                    raise
            except (urllib.error.URLError, TimeoutError, ConnectionError, json.JSONDecodeError) as cause:
                if attempt == self._retries:
                    raise ServiceError(0, f"the service does not answer: {cause}") from cause
            time.sleep(self._pause * 2**attempt * random.uniform(0.5, 1.5))
        raise AssertionError("the last attempt returns or raises")

    def _once(self, path: str, data: bytes | None) -> dict[str, Any]:
        request = urllib.request.Request(self._base + path, data=data)
        request.add_header("Content-Type", "application/json")
        if self._token is not None:
            request.add_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as reply:
                answer: dict[str, Any] = json.load(reply)
                return answer
        except urllib.error.HTTPError as cause:
            text = cause.read().decode(errors="replace")
            try:
                detail = json.loads(text)["detail"]
            except (json.JSONDecodeError, KeyError, TypeError):
                detail = text
            raise ServiceError(cause.code, detail) from None


def new_event() -> str:
    """An id that nobody else has."""
    return uuid.uuid4().hex
