"""A chat server on the loopback, in a process of its own: replies known beforehand, after a set time, so many at once.

The replies are recorded in a rehearsal on the simulated model, which answers by a request's fields; those never travel.
"""

import asyncio
import hashlib
import json
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from trimem.llm.base import LLM, Provider, Reply, Request

Recorded = dict[str, tuple[str, int, int]]
"""Digest of the messages -> text, prompt tokens, completion tokens."""


def digest(messages: Sequence[Mapping[str, str]]) -> str:
    """What a chat request is known by: a hash of its messages alone."""
    content = [[message["role"], message["content"]] for message in messages]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def digest_of(request: Request) -> str:
    """The same for a request that was not sent yet."""
    return digest([{"role": message.role, "content": message.content} for message in request.messages])


class Recorder(Provider):
    """Keeps what another model replies."""

    def __init__(self, llm: LLM) -> None:
        self.llm, self.model, self.concurrency = llm, llm.model, llm.concurrency
        self.replies: Recorded = {}

    @property
    def identity(self) -> Mapping[str, Any]:
        return self.llm.identity

    def complete(self, request: Request) -> Reply:
        reply = self.llm.complete(request)
        usage = reply.usage
        self.replies[digest_of(request)] = (reply.text, usage.prompt_tokens or 0, usage.completion_tokens or 0)
        return reply


class Replayed(Provider):
    """Gives recorded replies in process, at once: what is left is our own work."""

    def __init__(self, replies: Recorded, concurrency: int) -> None:
        self.replies, self.model, self.concurrency = replies, "replayed", concurrency

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"provider": "replayed"}

    def complete(self, request: Request) -> Reply:
        return Reply(self.replies[digest_of(request)][0], model=self.model)


@contextmanager
def serving(replies: Recorded, latency: float, width: int) -> Iterator[str]:
    """The base URL of a server that answers after `latency` seconds, `width` requests at once."""
    here, there = multiprocessing.Pipe()
    arguments = (there, replies, latency, width)
    process = multiprocessing.get_context("spawn").Process(target=_run, args=arguments, daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def _run(pipe: Connection, replies: Recorded, latency: float, width: int) -> None:
    asyncio.run(_serve(pipe, replies, latency, width))


async def _serve(pipe: Connection, replies: Recorded, latency: float, width: int) -> None:
    places = asyncio.Semaphore(width)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            length = next(int(line.split(b":")[1]) for line in head if line.lower().startswith(b"content-length"))
            asked = json.loads(await reader.readexactly(length))
            async with places:
                await asyncio.sleep(latency)
            writer.write(_response(replies.get(digest(asked["messages"]))))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=256)
    pipe.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


async def _head(reader: asyncio.StreamReader) -> list[bytes]:
    """The lines of a request's head; none where the client has gone."""
    try:
        return (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return []


def _response(known: tuple[str, int, int] | None) -> bytes:
    """A chat completion, or 400 for what was not rehearsed: that is a fault of the bench, never a slow answer."""
    body: dict[str, Any]
    if known is None:
        status, body = "400 Bad Request", {"error": {"message": "this request was not rehearsed"}}
    else:
        text, prompt, completion = known
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        named = {"id": "1", "object": "chat.completion", "created": 0, "model": "loopback"}
        status, body = "200 OK", {**named, "choices": [choice], "usage": usage}
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data
