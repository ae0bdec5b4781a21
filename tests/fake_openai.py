"""A scripted server that speaks OpenAI's chat completions on the loopback, for tests.

    with FakeOpenAI([{"content": "hello"}, {"status": 500}]) as server:
        OpenAICompatible("fake", endpoint=server.url).complete(...)
        server.bodies  # the request bodies, in order

A step is `{"content": text, "finish": "stop", "usage": true}`, `{"status": n, "json": {...}, "headers": {...}}`,
`{"drop": true}` (the connection closes without an answer), each with an optional `"delay"` in seconds. Steps are served
in order, the last one again and again. `reject` answers bodies that hold a parameter; `strict_path` knows
/v1/chat/completions only. Authorization headers are kept apart from the bodies, in `keys`.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

Step = Mapping[str, Any]


def completion(text: str | None, finish: str = "stop", usage: bool = True, model: str = "fake") -> dict[str, Any]:
    """The body of a normal reply."""
    message = {"role": "assistant", "content": text}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": model}
    body["choices"] = [{"index": 0, "finish_reason": finish, "message": message}]
    if usage:
        body["usage"] = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return body


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


class FakeOpenAI:
    """The server; a context manager. `url` is its base URL."""

    def __init__(self, steps: Sequence[Step], reject: Sequence[Step] = (), strict_path: bool = False) -> None:
        self.steps, self.reject, self.strict_path = list(steps), list(reject), strict_path
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str] = []
        self.most_at_once = 0
        self._inside = 0
        self._served = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))

    @classmethod
    def from_file(cls, path: Path) -> "FakeOpenAI":
        scenario = json.loads(path.read_text(encoding="utf-8"))
        return cls(scenario["steps"], scenario.get("reject", ()), scenario.get("strict_path", False))

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.host}/v1"

    def __enter__(self) -> "FakeOpenAI":
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def step_for(self, body: dict[str, Any], path: str, key: str) -> Step:
        """Note a request and say what answers it."""
        with self._lock:
            self.bodies.append(body)
            self.paths.append(path)
            self.keys.append(key)
            if self.strict_path and path != "/v1/chat/completions":
                return {"status": 404, "json": {"error": {"message": f"Invalid URL (POST {path})"}}}
            for rule in self.reject:
                if rule["has"] in body and body[rule["has"]] != rule.get("unless", object()):
                    return rule
            step = self.steps[min(self._served, len(self.steps) - 1)]
            self._served += 1
            return step

    def arrive(self) -> None:
        with self._lock:
            self._inside += 1
            self.most_at_once = max(self.most_at_once, self._inside)

    def wait(self, seconds: float) -> None:
        self._closing.wait(seconds)

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1


def _handler(fake: FakeOpenAI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: Any) -> None:
            """Silent."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.arrive()
            try:
                step = fake.step_for(body, self.path, self.headers.get("Authorization", ""))
                fake.wait(step.get("delay", 0))
            finally:
                fake.leave()
            if step.get("drop"):
                self.close_connection = True
                return
            if "content" in step:
                reply = completion(step["content"], step.get("finish", "stop"), step.get("usage", True), body["model"])
            else:
                reply = step.get("json", {})
            self._send(step.get("status", 200), reply, step.get("headers", {}))

        def _send(self, status: int, reply: Mapping[str, Any], headers: Mapping[str, Any]) -> None:
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            for name, value in headers.items():
                self.send_header(name, str(value))
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            try:
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up waiting

    return Handler
