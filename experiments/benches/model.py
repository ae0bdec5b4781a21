"""`bench build`, `answer` and `llm`: one conversation, a model of set latency and width, against the critical path."""

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hydra import compose
from omegaconf import OmegaConf

from experiments.benches.figures import Figure, seconds
from experiments.benches.loopback import Recorded, Recorder, Replayed, serving
from experiments.data.types import Dataset, GoldBook
from experiments.metrics.retrieval import retrieval_scores
from experiments.runner import assemble_method, load_data, opener
from experiments.services import Services
from experiments.settings import absolute, read_settings
from trimem.concurrency import fan_out
from trimem.errors import BadInput
from trimem.llm.base import LLM, Message, Request
from trimem.llm.openai_compatible import OpenAICompatible
from trimem.llm.simulated import Simulated
from trimem.types import Answer, StageUsage

Config = dict[str, Any]
OVER_PATH = 1.15
OWN_CPU_MS = 5.0
PROMPT_TOKENS = 5_000
CONTEXT_TOKENS = 3_200
BUDGETS = (600, 1200, 2400, 4800)
SHARES = {"facts": 0.47, "turns": 0.375, "profiles": 0.155}
"""How a context budget is dealt out over the kinds, as in the default preset."""
CALLS = {
    "preset=default": 2,
    "preset=default method.use_planning=false": 1,
    "preset=paper": 3,
    "preset=authors_code": None,
    "method=simplemem": None,
}
"""Ways of answering, and the calls a question that are asked of them."""
BUSY = 2
"""Questions under way for each place at the server: while some wait for it, others are searched for."""
PROBES = 320


@dataclass
class Timed:
    """One build and its answers."""

    build: float
    answer: float
    build_cpu: float
    answer_cpu: float
    answers: list[Answer]
    usage: Mapping[str, StageUsage] = field(default_factory=dict)
    building: Mapping[str, StageUsage] = field(default_factory=dict)

    @property
    def asked(self) -> int:
        """Calls made for the questions."""
        return _calls(self.usage) - _calls(self.building)

    @property
    def prompt_tokens(self) -> int:
        """Of the questions' calls."""
        return _tokens(self.usage) - _tokens(self.building)


def composed(overrides: Sequence[str], launch: Path) -> Config:
    """The run's config under `overrides`, on a model that the bench provides, without cached replies."""
    fixed = ["backbone=simulated", "embedder=minilm", "cache.mode=off", "tracker=none"]
    plain = OmegaConf.to_container(compose("config", [*fixed, *overrides]), resolve=True, throw_on_missing=True)
    assert isinstance(plain, dict)
    return absolute({str(key): value for key, value in plain.items()}, launch)


def once(config: Config, llm: LLM, vectors: Path, workers: int) -> Timed:
    """Build the first conversation's memory and ask its questions. `vectors` is the folder of the embedding cache."""
    config = {**config, "paths": {**config["paths"], "cache": str(vectors)}}
    dataset, _ = load_data(config)
    conversation = dataset.conversations[0]
    services = Services(config, read_settings(config), stand_in=lambda _: llm)
    try:
        with tempfile.TemporaryDirectory() as folder:
            memory = opener(assemble_method(config, services))(conversation, Path(folder), _silent)
            begun, cpu = time.perf_counter(), time.process_time()
            memory.build(conversation)
            built, built_cpu, building = time.perf_counter(), time.process_time(), services.usage()
            answers = list(fan_out(memory.answer, dataset.questions[conversation.id], workers))
            done, done_cpu = time.perf_counter(), time.process_time()
            if hasattr(memory, "close"):
                memory.close()
        usage = services.usage()
    finally:
        services.close()
    return Timed(built - begun, done - built, built_cpu - cpu, done_cpu - built_cpu, answers, usage, building)


def rehearsed(config: Config, vectors: Path, width: int) -> tuple[Recorded, Timed]:
    """The replies that `config` needs, and the work it is; fills the embedding cache too."""
    recorder = Recorder(Simulated(concurrency=width))
    return recorder.replies, once(config, recorder, vectors, width)


def build(overrides: Sequence[str], options: Mapping[str, Any], launch: Path) -> list[Figure]:
    """Wall time of building and answering against the critical path, with and without cached embeddings; our CPU."""
    config, latency, width = composed(overrides, launch), options["latency"], options["width"]
    with tempfile.TemporaryDirectory() as kept:
        replies, work = rehearsed(config, Path(kept), width)
        with serving(replies, latency, width) as url:
            warm = [once(config, _client(url, width), Path(kept), BUSY * width) for _ in range(options["repeats"])]
            with tempfile.TemporaryDirectory() as empty:
                cold = once(config, _client(url, width), Path(empty), BUSY * width)
        alone = [once(config, Replayed(replies, width), Path(kept), 1) for _ in range(options["repeats"])]
        side_by_side = [once(config, Replayed(replies, width), Path(kept), width) for _ in range(options["repeats"])]
    _check([*warm, cold])
    stages = {name: usage.calls for name, usage in work.building.items()}
    path = sum(latency * math.ceil(calls / width) for calls in stages.values())
    questions = len(work.answers)
    asking = latency * max(work.asked / width, math.ceil(work.asked / questions))
    return [
        _over_path("build and answer", [run.build + run.answer for run in warm], path + asking),
        _over_path("build", [run.build for run in warm], path),
        _over_path("answer", [run.answer for run in warm], asking),
        Figure("build", "critical path, build and answer", path + asking, "s"),
        Figure("build", "build and answer, no cached embeddings", cold.build + cold.answer, "s"),
        Figure("build", "own CPU, build", statistics.median(run.build_cpu for run in alone), "s"),
        Figure("build", "own CPU a question, one thread", _cpu_each(alone, questions), "ms", OWN_CPU_MS),
        Figure("build", f"own CPU a question, {width} threads", _cpu_each(side_by_side, questions), "ms"),
        Figure("build", "CPU a question with the client", _cpu_each(warm, questions), "ms"),
    ]


def answer(overrides: Sequence[str], options: Mapping[str, Any], launch: Path) -> list[Figure]:
    """Calls, tokens and evidence a question, way by way, and evidence over a budget of context."""
    figures = list[Figure]()
    with tempfile.TemporaryDirectory() as kept:
        for way, calls in CALLS.items():
            figures += _way(way, calls, [*overrides, *way.split()], Path(kept), options, launch)
        for budget in BUDGETS:
            tiers = [f"context.{kind}={int(budget * share)}" for kind, share in SHARES.items()]
            config = composed([*overrides, "retriever.top_k=100", *tiers], launch)
            _, work = rehearsed(config, Path(kept), options["width"])
            recall = _context_recall(config, work.answers)
            figures.append(Figure("answer", f"context_recall, {budget} tokens of context", recall, ""))
    return figures


def _way(
    way: str, calls: int | None, overrides: Sequence[str], kept: Path, options: Mapping[str, Any], launch: Path
) -> list[Figure]:
    config = composed(overrides, launch)
    _, work = rehearsed(config, kept, options["width"])
    n = len(work.answers)
    prompt, most = (PROMPT_TOKENS, CONTEXT_TOKENS) if way.startswith("preset=default") else (None, None)
    context = statistics.mean(answer.context.tokens.get("total", 0) for answer in work.answers)
    return [
        Figure("answer", f"calls a question, {way}", work.asked / n, "", calls),
        Figure("answer", f"prompt tokens a question, {way}", work.prompt_tokens / n, "", prompt),
        Figure("answer", f"context tokens a question, {way}", context, "", most),
        Figure("answer", f"context_recall, {way}", _context_recall(config, work.answers), ""),
    ]


def llm(options: Mapping[str, Any]) -> list[Figure]:
    """What the client adds to a call: wall time over the server's bound, and CPU beside the openai SDK's own."""
    latency, width = options["latency"], options["width"]
    requests = [Request((Message("user", f"question {n}"),), "probe") for n in range(PROBES)]
    recorder = Recorder(Simulated())
    recorder.complete_many(requests)
    with serving(recorder.replies, latency, width) as url:
        waited = statistics.median(
            seconds(lambda: _client(url, width).complete_many(requests)) for _ in range(options["repeats"])
        )
    with serving(recorder.replies, 0.0, width) as url:
        client = _client(url, width)
        ours = _cpu(lambda: [client.complete(request) for request in requests])
        sdk = _cpu(lambda: [_bare(client, request) for request in requests])
    return [
        _over_path(f"{PROBES} calls, {width} at once", [waited], latency * math.ceil(PROBES / width), "llm"),
        Figure("llm", "CPU a call, ours", (ours - sdk) / PROBES * 1000, "ms"),
        Figure("llm", "CPU a call, openai SDK", sdk / PROBES * 1000, "ms"),
    ]


def _bare(client: OpenAICompatible, request: Request) -> object:
    """The same call with nothing of ours around it."""
    said = [{"role": message.role, "content": message.content} for message in request.messages]
    return client._client.chat.completions.create(model=client.model, messages=said, max_tokens=request.max_tokens)


def _client(url: str, width: int) -> OpenAICompatible:
    return OpenAICompatible("loopback", url, concurrency=width, options={"structured": "json_schema"})


def _check(runs: Sequence[Timed]) -> None:
    """No time counts whose answers failed."""
    failed = {answer.status for run in runs for answer in run.answers if answer.status != "ok"}
    if failed:
        raise BadInput(f"the bench's answers failed ({', '.join(sorted(failed)[:3])}): its times would mean nothing.")


def _over_path(name: str, walls: Sequence[float], path: float, bench: str = "build") -> Figure:
    return Figure(bench, f"wall / critical path, {name}", statistics.median(walls) / path, "", OVER_PATH)


def _cpu_each(runs: Sequence[Timed], questions: int) -> float:
    """Median CPU milliseconds a question."""
    return statistics.median(run.answer_cpu for run in runs) / questions * 1000


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _context_recall(config: Config, answers: Sequence[Answer]) -> float:
    """Mean over the questions that have evidence; 0 where none has."""
    data: tuple[Dataset, GoldBook] = load_data(config)
    dataset, golds = data
    asked = dataset.questions[dataset.conversations[0].id]
    scores = [
        retrieval_scores([asdict(item) for item in answer.context.items], golds[question.id].evidence)["context_recall"]
        for question, answer in zip(asked, answers, strict=True)
        if golds[question.id].evidence
    ]
    return statistics.mean(scores) if scores else 0.0


def _calls(usage: Mapping[str, StageUsage]) -> int:
    return sum(stage.calls for stage in usage.values())


def _tokens(usage: Mapping[str, StageUsage]) -> int:
    return sum(stage.prompt_tokens or 0 for stage in usage.values())


def _silent(_stage: str, _done: int, _total: int) -> None:
    """No progress shown."""
