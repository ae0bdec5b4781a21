"""a14: session keys: order, dates without a session, midnight."""

from datetime import datetime

from tests.experiments.builders import mini


def test_sessions_come_by_number_with_their_time() -> None:
    (conversation,) = mini()[0].conversations
    assert [(session.id, session.time) for session in conversation.sessions] == [
        ("1", datetime(2023, 5, 4, 13, 30)),
        ("2", datetime(2023, 9, 13, 0, 9)),
        ("10", datetime(2024, 1, 4, 9, 5)),
    ]
    assert [turn.id for turn in conversation.turns] == ["D1:1", "D1:2", "D1:3", "D2:1", "D2:2", "D10:1", "D10:2"]
    assert all(turn.time and turn.time.tzinfo is None for turn in conversation.turns)
    assert [turn.session for turn in conversation.turns] == ["1", "1", "1", "2", "2", "10", "10"]
