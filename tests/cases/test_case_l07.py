"""l07: what models and data say stands in the pages as it was typed, and never as markup."""

import json
from pathlib import Path

from tests.experiments.builders import locomo_file, qa
from tests.experiments.harness import run_mini
from tests.experiments.report.reports import Page, edit_predictions, report

HOSTILE = json.loads((Path(__file__).parent / "data" / "html_answers.json").read_text(encoding="utf-8"))


def test_hostile_answers_names_and_turns_are_only_text(tmp_path: Path) -> None:
    path = locomo_file(tmp_path / "hostile.json", {"talk": [qa(question=text, answer=text) for text in HOSTILE]})
    sample = json.loads(path.read_text())
    sample[0]["conversation"] |= {"speaker_a": HOSTILE[0], "speaker_b": HOSTILE[1]}
    for turn, name, text in zip(sample[0]["conversation"]["session_1"], HOSTILE, HOSTILE[2:], strict=False):
        turn |= {"speaker": name, "text": f"{text} </script><script>alert(2)</script>"}
    path.write_text(json.dumps(sample))
    run = Path(run_mini(tmp_path, f"dataset.path={path}")["run"])
    edit_predictions(run, lambda n, row: row | {"prediction": HOSTILE[n], "reasoning": HOSTILE[-1 - n]})
    out = report(tmp_path)
    page = Page(out / "runs" / f"{run.name}.html")
    text = "".join(page.text)
    for hostile in HOSTILE:
        assert text.count(hostile) >= 3, hostile  # question, gold, prediction
    assert "</script><script>alert(2)</script>" in "".join(page.data["texts"])
    for one in (page, Page(out / "index.html")):
        assert not [name for _, attributes in one.tags for name in attributes if name.startswith("on")]
        assert not any("alert" in script for script in one.scripts[-1:])
    assert [attributes.get("id") for tag, attributes in page.tags if tag == "script"] == ["data", None]
    assert "img" not in [tag for tag, _ in page.tags]
