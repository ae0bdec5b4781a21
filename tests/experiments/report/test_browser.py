"""The pages in a real Chromium; skipped, and said so, where there is none."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from experiments.runner import run
from tests.experiments.harness import config_of
from tests.experiments.report.reports import edit_predictions, report

BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), "")
pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium here: the pages were not tried in a browser")

HOSTILE = '<img src=x onerror="document.title=\'broken\'"><script>document.title="broken"</script>'
DRIVER = """<script>
addEventListener("load", () => setTimeout(() => {
  const tell = {}, shown = () => [...document.querySelectorAll("details.row")].filter((row) => !row.hidden).length;
  const set = (node, value, kind) => { node.value = value; node.dispatchEvent(new Event(kind)); };
  const category = document.querySelector("[data-filter=category]"), find = document.querySelector("[data-find]");
  tell.all = shown();
  set(category, "2", "change"); tell.temporal = shown(); set(category, "", "change");
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "/" })); tell.slash = document.activeElement === find;
  const first = document.querySelector("details.row"); first.open = true;
  location.hash = document.querySelector(".talk li a.to").getAttribute("href");
  set(find, "ONERROR", "input");
  setTimeout(() => {
    tell.found = shown(); tell.items = first.querySelectorAll(".items li").length;
    tell.target = document.querySelector(":target") !== null; tell.title = document.title;
    tell.narrow = document.documentElement.scrollWidth <= innerWidth;
    document.body.dataset.told = JSON.stringify(tell);
  }, 400);
}, 100));
</script>"""


def browse(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    profile = page.parent / "profile"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", f"--user-data-dir={profile}"]
    flags += ["--enable-logging=stderr", "--v=0", *options, page.as_uri()]
    return subprocess.run([BROWSER, *flags], capture_output=True, text=True, timeout=120, check=True)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    small = ("dataset=sample", "dataset.conversations=[sample-train]", "embedder=hash", "backbone=simulated")
    directory = Path(run(config_of(*small, "tracker=none"), folder)["run"])
    edit_predictions(directory, lambda n, row: row | {"prediction": HOSTILE} if n == 0 else row)
    return report(folder) / "runs" / f"{directory.name}.html"


def test_filters_search_links_and_traces_work_and_hostile_text_does_nothing(page: Path) -> None:
    driven = page.with_name("driven.html")
    driven.write_text(page.read_text().replace("</body>", f"{DRIVER}</body>"))
    done = browse(driven, "--window-size=500,900", "--dump-dom")
    told = re.search(r'data-told="([^"]*)"', done.stdout)
    assert told, done.stderr
    found = dict(re.findall(r"&quot;(\w+)&quot;:(?:&quot;)?([^,&}]+)", told[1]))
    text = page.read_text()
    assert int(found["all"]) == text.count('<details class="row"') > 15
    assert int(found["temporal"]) == text.count('data-category="2"') > 0
    assert (found["found"], found["slash"], found["target"]) == ("1", "true", "true")
    assert int(found["items"]) > 5
    assert found["title"].startswith("trimem")
    assert found["narrow"] == "true"
    assert "CONSOLE" not in done.stderr


def test_the_index_opens_without_a_console_error_and_can_be_pictured(page: Path) -> None:
    picture = page.parent / "index.png"
    done = browse(page.parent.parent / "index.html", f"--screenshot={picture}", "--window-size=1200,900")
    assert "CONSOLE" not in done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
