"""f08: a statement by one person about another belongs to the other."""

from pathlib import Path

from tests.cases.people import conversation, memory_of

TOLD = conversation(
    "c",
    ("Nadia", "I am glad to see you."),
    ("Omar", "Nadia has always loved pottery."),
    ("Omar", "My sister Lena plays the cello."),
    ("Omar", "I repair bicycles in my garage."),
)


def test_pottery_is_nadias_and_the_cello_lenas(tmp_path: Path) -> None:
    with memory_of(tmp_path, TOLD) as memory:
        profiles = {profile.person: profile.text for profile in memory.store.profiles()}
        assert "pottery" in profiles["Nadia"]
        assert "cello" in profiles["Lena"]
        assert "bicycles" in profiles["Omar"]
        assert "pottery" not in profiles["Omar"] and "cello" not in profiles["Omar"]
        (pottery,) = (fact for fact in memory.store.facts() if "pottery" in fact.statement)
        (source,) = memory.store.turns_by_id(pottery.sources)
        assert source.speaker == "Omar"
