"""Case g05: BM25 in small stores."""

from pathlib import Path

from tests.cases.stores import filled


def test_bm25_tells_two_facts_apart(tmp_path: Path) -> None:
    with filled(tmp_path, "Good evening my friend", "Snow fell in Bergen today") as store:
        (best, score), *others = store.search_text("fact", "snow Bergen", 5)
        assert [fact.statement for fact in store.facts_by_id([best])] == ["Snow fell in Bergen today"]
        assert score > 0.5
        assert others == []


def test_words_that_half_of_the_facts_have_still_count(tmp_path: Path) -> None:
    statements = ("Dana adopted a grey cat", "Dana adopted a brown dog", "Marek bought a bike", "Marek sold a bike")
    with filled(tmp_path, *statements) as store:
        found = store.search_text("fact", "Dana adopted", 5)
        assert {fact.statement for fact in store.facts_by_id(id_ for id_, _ in found)} == set(statements[:2])
        assert all(score > 0.5 for _, score in found)
        name_and_thing = store.search_text("fact", "Marek cat", 5)
        assert all(score > 0.1 for _, score in name_and_thing)
        assert len(name_and_thing) == 3
