"""What the README shows as the library's use runs as it stands there, without a model."""

import re
import runpy
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_the_ten_lines_of_library_use_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "readme.py").write_text(block)
    runpy.run_path("readme.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Ghent"
    assert any(line.startswith("fact ('m1',)") for line in lines)
    assert any(line.startswith("turn ('m1',)") for line in lines)
