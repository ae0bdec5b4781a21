"""LightMem's first stages on their own: compression, segmentation, and the LLMLingua-2 model behind both."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baselines.lightmem import LightMem
from baselines.lightmem.compression import IdfCompressor, LinguaCompressor, make_compressor
from baselines.lightmem.lingua import Lingua
from baselines.lightmem.segmentation import Segmenter, attention_peaks, batches_of, segments_of, topic_changes
from tests.baselines.scripted import Scripted, TableEmbedder
from trimem.embedding import HashEmbedder
from trimem.errors import BadInput
from trimem.reasoning import LLMReasoner
from trimem.types import Turn

COLOUR = {"red": (1, 0), "blue": (0, 1)}


def turns(*texts: str) -> list[Turn]:
    return [Turn(f"T{n}", "Ada", text) for n, text in enumerate(texts, start=1)]


def test_idf_drops_stop_words_first_and_keeps_names_and_numbers() -> None:
    short = IdfCompressor(0.5).compress(["We went to the lake with Oskar at 9 and it was so nice"])
    words = short[0].split()
    assert len(words) == 7
    assert {"went", "lake", "Oskar", "9", "nice"} <= set(words)


def test_idf_prefers_words_that_are_rare_so_far() -> None:
    before = ["garden garden", "garden fence", "garden gate"]
    assert IdfCompressor(0.5).compress(["garden trellis"], before) == ["trellis"]


@given(st.lists(st.text(alphabet="ab cdE9.", max_size=30), min_size=1, max_size=6), st.integers(0, 6))
def test_idf_looks_only_backwards(texts: list[str], cut: int) -> None:
    whole = IdfCompressor(0.6).compress(texts)
    assert IdfCompressor(0.6).compress(texts[cut:], before=texts[:cut]) == whole[cut:]


@pytest.mark.parametrize("name, retention", [("zip", 0.5), ("llmlingua2", 0.5), ("idf", 0.0), ("idf", 1.5)])
def test_a_compressor_that_cannot_be_is_refused(name: str, retention: float) -> None:
    with pytest.raises(BadInput, match="lightmem"):
        make_compressor(name, retention, None)  # type: ignore[arg-type]


def test_the_topic_changes_where_neighbours_are_unlike() -> None:
    embedder = TableEmbedder(COLOUR)
    assert topic_changes(embedder.encode(["red", "red", "blue", "blue", "red"])) == [2, 4]
    assert topic_changes(embedder.encode(["red", "red red", "red"])) == []


def test_the_threshold_rises_until_something_changes() -> None:
    def at(*degrees: float) -> list[int]:
        radians = np.radians(degrees)
        return topic_changes(np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32))

    assert at(0, 75) == [1]  # cosine 0.26: below 0.30
    assert at(0, 75, 170) == [2]  # 0.26 and -0.09: the lowest threshold finds the second only
    assert at(0, 55) == []  # 0.57: never


def test_peaks_are_local_maxima_of_the_attention_to_the_turn_before() -> None:
    matrix = np.zeros((6, 6))
    for row, weight in enumerate([0.2, 0.7, 0.3, 0.4, 0.1], start=1):
        matrix[row, row - 1] = weight
    assert attention_peaks(matrix) == [2, 4]


def test_a_full_buffer_leaves_up_to_its_last_boundary() -> None:
    stream = turns("red", "red", "blue", "blue", "blue")
    size = 4 * 5  # four turns of about five tokens
    segments = segments_of(stream, size, Segmenter(TableEmbedder(COLOUR)).boundaries)
    assert [[turn.id for turn in segment] for segment in segments] == [["T1", "T2"], ["T3", "T4", "T5"]]


@given(st.lists(st.sampled_from(["red", "blue", "red " * 40]), min_size=1, max_size=25), st.integers(1, 60))
def test_no_turn_is_lost_and_the_order_holds(texts: list[str], size: int) -> None:
    stream = turns(*texts)
    segments = segments_of(stream, size, Segmenter(TableEmbedder(COLOUR)).boundaries)
    assert [turn for segment in segments for turn in segment] == stream
    assert [segment for batch in batches_of(segments, size) for segment in batch] == segments


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT token classifier with LLMLingua-2's shape in small: twelve layers, two labels, random weights."""
    import torch
    from transformers import BertConfig, BertForTokenClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("lingua")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "boat", "blue", "bread", "rye", "the", "is"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=12,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=24,
        num_labels=2,
    )
    BertForTokenClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def test_lingua_judges_every_word_also_beyond_its_window(weights: Path) -> None:
    words = ["the", "boat", "is", "blue"] * 20
    probabilities = Lingua(str(weights)).keep_probabilities(words)
    assert len(probabilities) == 80
    assert all(0 < probability < 1 for probability in probabilities)


def test_lingua_keeps_the_likeliest_share_in_order(weights: Path) -> None:
    lingua = Lingua(str(weights))
    words = ["the", "boat", "is", "blue"]
    worth = lingua.keep_probabilities(words)
    best = sorted(sorted(range(4), key=lambda n: -worth[n])[:2])
    assert LinguaCompressor(lingua, 0.5).compress(["the boat is blue"]) == [" ".join(words[n] for n in best)]
    long = LinguaCompressor(lingua, 0.5, longest=10).compress(["the boat is blue " * 10])[0]
    assert lingua.length(long) < 10


def test_attention_between_turns_is_over_earlier_turns_and_normalised(weights: Path) -> None:
    matrix = Lingua(str(weights)).turn_attention(["the boat is blue", "the bread", "rye bread is", "the boat is blue"])
    assert np.allclose(np.triu(matrix), 0)
    assert np.allclose(matrix[1:].sum(axis=1), 1)


def test_lightmem_with_its_own_model_cuts_by_attention(weights: Path, tmp_path: Path) -> None:
    llm = Scripted({})
    memory = LightMem(
        tmp_path, llm, HashEmbedder(), LLMReasoner(llm), "llmlingua2", segmenter="attention", lingua=str(weights)
    )
    assert memory.segmenter.boundaries(turns("boat", "boat", "bread rye", "boat")) == [2, 3]


def test_attention_without_weights_is_refused(tmp_path: Path) -> None:
    llm = Scripted({})
    with pytest.raises(BadInput, match="lingua"):
        LightMem(tmp_path, llm, HashEmbedder(), LLMReasoner(llm), segmenter="attention")
    with pytest.raises(BadInput, match="weights"):
        Lingua(str(tmp_path))
