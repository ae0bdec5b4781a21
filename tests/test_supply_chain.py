"""What comes from others: pinned, run only when asked, and told nothing."""

import ast
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.experiments.harness import clean_environment
from tests.trimem.llm.tiny import make_tiny_model

ROOT = Path(__file__).parents[1]
OURS = sorted(file for package in ("trimem", "baselines", "experiments") for file in (ROOT / package).rglob("*.py"))
SECRETS = {
    "an OpenAI key": r"\bsk-(?:proj-)?[A-Za-z0-9_-]{20,}",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "an AWS key": r"\bAKIA[0-9A-Z]{16}\b",
    "a GitHub token": r"\bgh[pousr]_[A-Za-z0-9]{30,}",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "a W&B key": r"WANDB_API_KEY\s*[=:]\s*[0-9a-f]{40}",
}
RUNS_CODE = {"eval", "exec", "compile", "pickle.load", "pickle.loads", "marshal.loads", "yaml.load", "torch.load"}


def calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def test_nothing_of_ours_runs_what_it_reads() -> None:
    found = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in OURS
        for name in calls(ast.parse(file.read_text(encoding="utf-8")))
        if name in RUNS_CODE
    }
    assert found == set()


def test_code_of_a_model_is_trusted_by_its_option_alone() -> None:
    values = [
        ast.unparse(keyword.value)
        for file in OURS
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "trust_remote_code"
    ]
    assert values == ["trusted", "trusted"]


def test_trusting_a_model_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from trimem.llm.transformers_local import TransformersLocal

    folder = str(make_tiny_model(tmp_path / "tiny"))
    with caplog.at_level(logging.WARNING):
        TransformersLocal(folder)
        assert "is run on this machine" not in caplog.text
        TransformersLocal(folder, trust_remote_code=True)
    assert "is run on this machine" in caplog.text


def test_what_we_need_is_pinned_to_tested_versions() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    block = project[project.index("dependencies = [") : project.index("[project.optional")]
    needed = {
        re.split(r"[><=!\[]", name)[0].lower().replace("_", "-") for name in re.findall(r'^    "([^"]+)"', block, re.M)
    }
    pinned = dict(
        line.lower().replace("_", "-").split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line and not line.startswith("#")
    )
    assert needed and needed - pinned.keys() == set()


def test_no_file_of_the_project_holds_a_secret() -> None:
    files = [path for path in ROOT.rglob("*") if path.is_file() and not set(path.relative_to(ROOT).parts) & NOT_OURS]
    found = [
        f"{path.relative_to(ROOT)}: {what}"
        for path in files
        if path.suffix in {".py", ".md", ".yaml", ".toml", ".txt", ".json", ".ipynb", ".csv", ".j2", ""}
        for what, pattern in SECRETS.items()
        if re.search(pattern, path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


NOT_OURS = {".venv", ".git", "runs", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "build"}


def test_libraries_are_told_not_to_report_how_they_are_used(tmp_path: Path) -> None:
    asked = (
        "import os, sys; sys.argv = ['run', '--help']\n"
        "from experiments import run\n"
        "try:\n    run.main()\nexcept SystemExit:\n    pass\n"
        "print(*(os.environ.get(n) for n in ('HF_HUB_DISABLE_TELEMETRY', 'DO_NOT_TRACK', 'WANDB_ERROR_REPORTING')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "1 1 false"
