import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from experiments.data.__main__ import LOADERS, main
from experiments.data.download import download
from experiments.data.sources import SOURCES, PinnedFile, Source
from trimem.errors import BadInput

CONTENT = b"[" + b"1, " * 700_000 + b"1]"


@dataclass
class Server:
    """A loopback server of one file, which can break off, refuse ranges, or send something else."""

    url: str = ""
    content: bytes = CONTENT
    break_after: int | None = None
    ranges: bool = True
    asked: list[str | None] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers["Range"]
            state.asked.append(wanted)
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and state.ranges else 0
            if self.path != "/file.json" or start >= len(state.content):
                self.send_error(416 if start else 404)
                return
            body = state.content[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: state.break_after])

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_address[1]}/file.json"
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


def pinned(server: Server) -> PinnedFile:
    return PinnedFile("file.json", server.url, sha256=hashlib.sha256(CONTENT).hexdigest())


def test_a_file_is_fetched_once(server: Server, tmp_path: Path) -> None:
    path = download(pinned(server), tmp_path / "new")
    assert path.read_bytes() == CONTENT
    assert download(pinned(server), tmp_path / "new") == path
    assert server.asked == [None]
    assert [left.name for left in path.parent.iterdir()] == ["file.json"]


def test_a_broken_download_continues_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.break_after = 1_500_000
    with pytest.raises(BadInput, match=r"broke off after 1,500,000 of 2,100,003 bytes.*again to continue"):
        download(pinned(server), tmp_path)
    server.break_after = None
    assert download(pinned(server), tmp_path).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=1500000-"]


def test_a_server_without_ranges_starts_afresh(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file.json.part").write_bytes(CONTENT[:1000])
    server.ranges = False
    assert download(pinned(server), tmp_path).read_bytes() == CONTENT


def test_a_whole_part_only_needs_its_name(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file.json.part").write_bytes(CONTENT)
    assert download(pinned(server), tmp_path).read_bytes() == CONTENT
    assert server.asked == ["bytes=2100003-"]


def test_another_file_is_not_kept_and_both_digests_are_told(server: Server, tmp_path: Path) -> None:
    server.content = b"[2]"
    found, wanted = hashlib.sha256(b"[2]").hexdigest(), hashlib.sha256(CONTENT).hexdigest()
    with pytest.raises(BadInput, match=f"(?s){found}.*{wanted}.*--allow-unverified"):
        download(pinned(server), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert download(pinned(server), tmp_path, allow_unverified=True).read_bytes() == b"[2]"


def test_a_server_that_does_not_answer_or_has_no_such_file_is_told(server: Server, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="refused"):
        download(PinnedFile("a", "http://127.0.0.1:9/a", sha256="0"), tmp_path)
    with pytest.raises(BadInput, match="404"):
        download(PinnedFile("a", f"{server.url}.gone", sha256="0"), tmp_path)


def test_a_git_blob_id_checks_a_file_too() -> None:
    empty = PinnedFile("empty", "", git_blob="e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
    assert empty.digest_of(b"") == empty.digest
    assert empty.digest_of(b"x") != empty.digest


def test_a_non_commercial_set_needs_its_licence_accepted(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = {"mine": Source("mine", (pinned(server),), "CC BY-NC 4.0", "Someone 2024", non_commercial=True)}
    assert main(["download", "mine", "--folder", str(tmp_path)], sources) == 2
    told = capsys.readouterr()
    assert "CC BY-NC 4.0" in told.out and "Someone 2024" in told.out and "--accept-license" in told.err
    assert server.asked == []
    assert main(["download", "mine", "--folder", str(tmp_path), "--accept-license"], sources) == 0
    assert "file.json: verified" in capsys.readouterr().out
    assert main(["verify", "mine", "--folder", str(tmp_path)], sources) == 0
    (tmp_path / "file.json").write_bytes(b"[]")
    assert main(["verify", "mine", "--folder", str(tmp_path)], sources) == 1
    assert "is NOT the file" in capsys.readouterr().out


def test_list_shows_every_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{name}:" in shown for name in SOURCES)
    assert "2,805,274 bytes" in shown


@pytest.mark.parametrize("argv", [["verify", "nothing"], ["stats", "locomo", "--folder", "/nowhere"]])
def test_bad_input_is_one_line_and_exit_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1


def test_every_set_of_conversations_can_be_counted(tmp_path: Path) -> None:
    assert set(LOADERS) == set(SOURCES) - {"locomo-errata"}
    for name, load in LOADERS.items():
        with pytest.raises(BadInput, match=f"download {name}"):
            load(tmp_path)


def test_every_source_is_pinned_to_a_commit() -> None:
    for source in SOURCES.values():
        for file in source.files:
            assert file.sha256 or file.git_blob
            assert "/main/" not in file.url and "/master/" not in file.url


@pytest.mark.realdata
def test_stats_count_the_real_file(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "locomo", "--folder", str(data_dir)]) == 0
    shown = capsys.readouterr().out
    assert "conversations 10, turns 5,882, questions 1,986" in shown
    assert "category 3 open-domain: 96" in shown
    assert "usable evidence: 1,536" in shown
