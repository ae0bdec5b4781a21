"""a15: image captions lost, annotator search strings leaked."""

from tests.experiments.builders import mini


def test_the_caption_is_kept_and_marked_and_the_search_string_is_not_read() -> None:
    dataset, golds = mini()
    (turn,) = (turn for turn in dataset.conversations[0].turns if turn.id == "D1:2")
    assert turn.content.endswith("[image: a photo of a red kayak on a lake]")
    assert "ZX-77" not in repr((dataset, golds))
