"""A chaos proxy stands before the model and spoils a fifth of its replies: no question is lost, none is made up."""

import hashlib
import json
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from experiments.benches.loopback import digest, digest_of
from experiments.runner import run
from tests.experiments.harness import config_of, read, rows_of
from tests.fake_openai import completion
from trimem.llm.base import Message, Reply, Request
from trimem.llm.openai_compatible import OpenAICompatible
from trimem.llm.simulated import Simulated

RATE = 0.2
FAULTS = ("latency", "reset", "half", "429", "500", "garbage", "html", "null", "empty", "no choices", "drip")
CHOSEN = ("method=trimem", "embedder=hash", "backbone=qwen3-8b", "tracker=none", "dataset=sample", "cache.mode=off")


class Proxy(ThreadingHTTPServer):
    """Answers what is `known` by a request's messages; a seeded fifth of the replies goes wrong in one of FAULTS."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, faults: tuple[str, ...] = (), rate: float = RATE) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults, self.rate = faults, rate
        self.known: dict[str, str] = {}
        self.tries: dict[str, int] = {}
        self.spoilt: dict[str, int] = dict.fromkeys(FAULTS, 0)
        self.calls = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def fault_of(self, key: str) -> str:
        """How this try goes wrong ("" = not): decided by the messages and the number of the try alone."""
        with self._lock:
            self.calls += 1
            self.tries[key] = self.tries.get(key, 0) + 1
            chance = random.Random(hashlib.sha256(f"{key} {self.tries[key]}".encode()).digest())
            fault = chance.choice(self.faults) if self.faults and chance.random() < self.rate else ""
            if fault:
                self.spoilt[fault] += 1
            return fault

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is no news."""


class Handler(BaseHTTPRequestHandler):
    server: Proxy
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = digest(body["messages"])
        good = json.dumps(completion(self.server.known[key])).encode()
        match self.server.fault_of(key):
            case "":
                self._send(200, good)
            case "latency":
                time.sleep(0.3)
                self._send(200, good)
            case "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
            case "half":
                self._send(200, good[: len(good) // 2], length=len(good))
            case "429":
                self._send(429, b'{"error": {"message": "slow down"}}', retry="0.01")
            case "500":
                self._send(500, b"", retry="0.01")
            case "garbage":
                self._send(200, b'{"choices": [{"mess')
            case "html":
                self._send(200, b"<html>gateway</html>", "text/html")
            case "null":
                self._send(200, b"null")
            case "empty":
                self._send(200, b"")
            case "no choices":
                self._send(200, b'{"error": {"message": "overloaded"}}')
            case "drip":
                self._send(200, b"", length=len(good))
                for byte in good:
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.2)

    def _send(
        self, status: int, data: bytes, kind: str = "application/json", length: int | None = None, retry: str = ""
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        if retry:
            self.send_header("Retry-After", retry)
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = length is not None


proxy: Proxy


class Known(OpenAICompatible):
    """The real client; the proxy learns first what the simulated model, which reads a request's fields, would say."""

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**super().identity, "url": "", "endpoint": ""}

    def complete(self, request: Request) -> Reply:
        proxy.known[digest_of(request)] = Simulated().complete(request).text
        return super().complete(request)


@pytest.fixture
def _proxies() -> Iterator[None]:
    yield
    proxy.shutdown()
    proxy.server_close()


def begin(faults: tuple[str, ...], rate: float = RATE) -> Proxy:
    global proxy  # the client is made by the runner, from a config
    proxy = Proxy(faults, rate)
    threading.Thread(target=proxy.serve_forever, args=(0.02,), daemon=True).start()
    return proxy


def through(folder: Path, faults: tuple[str, ...], *overrides: str) -> dict[str, Any]:
    started = begin(faults)
    config = config_of(*CHOSEN, "backbone.timeout=1", "backbone.concurrency=8", *overrides)
    named = {"_target_": f"{__name__}.Known", "endpoint": started.url}
    status = run({**config, "backbone": {**config["backbone"], **named}}, folder)
    started.shutdown()
    return status


def compared(clean: dict[str, Any], spoilt: dict[str, Any]) -> tuple[int, int]:
    """Rows equal to the fault-free ones, and rows that say what failed; there is no third kind."""
    before, after = rows_of(clean), rows_of(spoilt)
    assert [row["question_id"] for row in before] == [row["question_id"] for row in after]
    build = read(spoilt, "metrics.json")["build"]
    same = told = 0
    for row, other in zip(after, before, strict=True):
        failures = row["status"] != "ok" or row["problems"] or build["failed_windows"] or build["failed_profiles"]
        assert row == other or failures, row
        same, told = same + (row == other), told + (row != other)
    return same, told


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("reset", "broken reply|nobody answers"),
        ("half", "broken reply"),
        ("garbage", "no JSON object"),
        ("html", "no JSON object: '<html>gateway</html>'"),
        ("null", "no JSON object: 'null'"),
        ("empty", "no JSON object: ''"),
        ("no choices", "overloaded"),
        ("drip", "timeout"),
        ("500", "HTTP 500"),
    ],
)
@pytest.mark.usefixtures("_proxies")
def test_a_lasting_fault_is_a_reply_that_names_its_cause(fault: str, words: str) -> None:
    started = begin((fault,), rate=1.0)
    client = Known("fake", endpoint=started.url, timeout=0.5, max_retries=0)
    reply = client.complete(Request((Message("user", "hello"),), stage="answer"))
    assert reply.status == "error"
    assert any(word in reply.error for word in words.split("|")), reply.error


def test_a_fifth_of_replies_spoilt_costs_no_row(tmp_path: Path) -> None:
    few = ("dataset.limit=3",)
    clean, spoilt = through(tmp_path / "a", (), *few), through(tmp_path / "b", FAULTS, *few)
    assert sum(proxy.spoilt.values()) > 0
    same, told = compared(clean, spoilt)
    assert same + told == 9


@pytest.mark.soak
def test_a_thousand_calls_through_chaos_lose_nothing(tmp_path: Path) -> None:
    total, calls, spoilt = [0, 0, 0], 0, dict.fromkeys(FAULTS, 0)
    for seed in range(1, 20):
        more = (f"seed={seed}", "extractor.window=8")
        clean = through(tmp_path / f"{seed}-clean", (), *more)
        chaotic = through(tmp_path / f"{seed}", FAULTS, *more)
        same, told = compared(clean, chaotic)
        total = [total[0] + len(rows_of(chaotic)), total[1] + same, total[2] + told]
        calls += proxy.calls
        spoilt = {fault: n + proxy.spoilt[fault] for fault, n in spoilt.items()}
        if calls >= 1000:
            break
    print(f"{calls} calls, spoilt {spoilt}: {total[0]} rows, {total[1]} equal, {total[2]} told")
    assert calls >= 1000
    assert all(spoilt.values())
    assert total[1] + total[2] == total[0]
