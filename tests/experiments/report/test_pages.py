"""The pages as a parser reads them: links that lead somewhere, texts once, no network."""

from pathlib import Path

import pytest

from experiments.data.locomo import SOURCE
from experiments.report.pages import notice_of
from experiments.runner import run
from tests.experiments.harness import config_of
from tests.experiments.report.reports import Page, report


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    small = ("dataset=sample", "dataset.conversations=[sample-train]", "dataset.limit=5", "embedder=hash")
    run(config_of(*small, "backbone=scripted", "tracker=none"), folder)
    return report(folder)


@pytest.fixture(scope="module")
def page(out: Path) -> Page:
    (path,) = (out / "runs").iterdir()
    return Page(path)


def test_every_link_leads_somewhere_and_no_id_is_there_twice(out: Path, page: Page) -> None:
    assert len(set(page.ids)) == len(page.ids)
    for link in page.links:
        assert link.removeprefix("#") in page.ids if link.startswith("#") else (out / "runs" / link).exists()
    index = Page(out / "index.html")
    assert all((out / link).exists() for link in index.links)
    assert all((out / (a["src"] or "")).exists() for tag, a in index.tags if tag == "img")


def test_turns_facts_and_profiles_are_linked_both_ways(page: Page) -> None:
    assert any(link.startswith("#f") for link in page.links)
    text = " ".join(page.text)
    assert "profile: " in text
    assert "window 1" in text
    turns = {link for link in page.links if link.startswith("#t")}
    assert len(turns) > 20


def test_a_question_s_trace_points_at_texts_that_are_stored_once(page: Page) -> None:
    texts, traces = page.data["texts"], page.data["traces"]
    assert len(traces) == 5
    assert len(set(texts)) == len(texts)
    assert "(text not kept)" not in texts
    used = [text for trace in traces for _, text, *_ in trace["items"]]
    assert set(used) == set(range(len(texts)))
    assert len(used) > len(texts)
    names = {name for trace in traces for name, _ in trace["told"]}
    assert "plan" in names
    assert any(evidence for trace in traces for *_, evidence in trace["items"])


def test_a_page_needs_no_network(out: Path) -> None:
    for path in [out / "index.html", *(out / "runs").iterdir()]:
        sources = [
            a.get("src") or a.get("href") or "" for tag, a in Page(path).tags if tag in ("img", "script", "link")
        ]
        assert not any(source.startswith(("http", "//")) for source in sources)


def test_a_page_of_text_under_a_non_commercial_licence_says_so() -> None:
    notice = notice_of(SOURCE.licence)
    assert "CC BY-NC 4.0" in notice and notice.count("non-commercial") == 1
    assert notice_of("MIT, part of this project") == ""
