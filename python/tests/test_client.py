"""The client against a service that misbehaves."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from reluctant.client import Client, ServiceError


class Moody(BaseHTTPRequestHandler):
    """Answers as ``moods`` says, one after the other: a status, or "hang up" after the request was read."""

    moods: list[int | str] = []
    heard: list[tuple[str, dict[str, Any] | None, str | None]] = []

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        type(self).heard.append((self.path, body, self.headers.get("Authorization")))
        mood = type(self).moods.pop(0)
        if mood == "hang up":
            self.close_connection = True
            return
        text = json.dumps({"detail": "not now", "event": "x", "answers": []}).encode()
        self.send_response(int(mood))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = answer
    do_POST = answer

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def service() -> Any:
    server = HTTPServer(("127.0.0.1", 0), Moody)
    Moody.moods, Moody.heard = [], []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_asks_again_with_the_same_event(service: str) -> None:
    Moody.moods = [503, "hang up", 429, 200]
    client = Client(service, "shop", token="secret", pause=0.0)
    client.decide(context=[1.0], actions=["a", "b"])
    assert len(Moody.heard) == 4
    assert all(heard == Moody.heard[0] for heard in Moody.heard)
    path, body, token = Moody.heard[0]
    assert (path, token) == ("/v1/shop/decide", "Bearer secret")
    assert body is not None and len(body["event"]) == 32 and set(body) == {"event", "context", "actions"}


def test_batches_have_an_event_each(service: str) -> None:
    Moody.moods = [502, 200, 200]
    client = Client(service, "shop", pause=0.0)
    client.decide_all([{"arms": [[1.0]]}, {"arms": [[2.0]], "event": "mine"}])
    first, second = Moody.heard[0][1], Moody.heard[1][1]
    assert first == second and first is not None
    assert first["requests"][0]["event"] != first["requests"][1]["event"] == "mine"
    client.reward_all({"mine": 1.0})
    assert Moody.heard[2][1] == {"requests": [{"event": "mine", "reward": 1.0}]}


def test_refusals_are_not_repeated(service: str) -> None:
    Moody.moods = [409]
    with pytest.raises(ServiceError, match="not now") as caught:
        Client(service, "shop", pause=0.0).reward("x", 1.0)
    assert caught.value.status == 409 and len(Moody.heard) == 1


def test_gives_up_at_last(service: str) -> None:
    Moody.moods = [503, 503]
    with pytest.raises(ServiceError) as caught:
        Client(service, "shop", pause=0.0, retries=1).state()
    assert caught.value.status == 503 and len(Moody.heard) == 2


def test_no_number_that_is_none(service: str) -> None:
    with pytest.raises(ValueError):
        Client(service, "shop").reward("x", float("nan"))
    assert Moody.heard == []
