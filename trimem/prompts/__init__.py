"""Prompts are data: one Markdown file a prompt, loaded with its hash and its declared fields.

A file opens with front matter (`purpose`, `fields`, `schema`) between `---` lines. What follows up to a line
`=== data ===` is constant and becomes the system message, so that servers reuse the prefix; the rest becomes the user
message. `{name}` stands for a declared field wherever it occurs; every other brace is plain text. Fields that stand
alone on a line are fenced by a mark derived from their content, which the content itself therefore cannot close.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from trimem.errors import BadInput
from trimem.llm.base import Message

FOLDER = Path(__file__).parent
DATA = "\n=== data ===\n"


@dataclass(frozen=True)
class Prompt:
    """A prompt text with the names of its fields. `hash` identifies the text in manifests and lineages."""

    name: str
    text: str
    fields: tuple[str, ...]
    schema: str
    purpose: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    @property
    def rules(self) -> str:
        """The constant part, which evolution may edit."""
        return self.text.partition(DATA)[0]

    @property
    def source(self) -> str:
        """The text of a file that `parse` reads back as this prompt."""
        front = f"purpose: {self.purpose}\nfields: {' '.join(self.fields)}\nschema: {self.schema}"
        return f"---\n{front}\n---\n{self.text}"

    def render(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """System and user message. Values arrive verbatim; raises KeyError for a field without a value."""
        system, _, data = self.text.partition(DATA)
        return Message("system", system.strip()), Message("user", self._fill(data, values).strip())

    def _fill(self, template: str, values: Mapping[str, str]) -> str:
        names = "|".join(map(re.escape, self.fields))

        def fill(match: re.Match[str]) -> str:
            block, name = match["block"], match["block"] or match["inline"]
            return fence(name, values[name]) if block else values[name]

        pattern = rf"(?m)^\{{(?P<block>{names})\}}$|\{{(?P<inline>{names})\}}"
        return re.sub(pattern, fill, template)


def fence(name: str, value: str) -> str:
    """`value` between marks that it cannot contain: they carry a hash of it."""
    mark = hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:8]
    return f"<{name} {mark}>\n{value}\n</{name} {mark}>"


def parse(name: str, source: str) -> Prompt:
    """A prompt from the text of its file. Raises BadInput where front matter, data part or a field is missing."""
    match = re.fullmatch(r"---\n(?P<front>.*?)\n---\n(?P<text>.*)", source, re.DOTALL)
    if not match or DATA not in match["text"]:
        raise BadInput(f"prompt {name}: needs front matter between '---' lines and a line '=== data ==='.")
    front = dict(re.findall(r"(?m)^(\w+): *(.*)$", match["front"]))
    fields = tuple(front.get("fields", "").replace(",", " ").split())
    data = match["text"].partition(DATA)[2]
    missing = [field for field in fields if f"{{{field}}}" not in data]
    if missing or not fields:
        raise BadInput(f"prompt {name}: the data part lacks the field(s) {', '.join(missing) or '(none declared)'}.")
    return Prompt(name, match["text"].strip() + "\n", fields, front.get("schema", ""), front.get("purpose", ""))


def load(name: str | Path) -> Prompt:
    """A shipped prompt by name (`answer`; `baselines:amem_answer` for one of another package), or a file by its path.

    Raises BadInput where there is none.
    """
    package, _, bare = str(name).rpartition(":")
    folder = Path(str(files(package))) / "prompts" if package.isidentifier() else FOLDER
    path = Path(name) if str(name).endswith(".md") else folder / f"{bare}.md"
    if not path.is_file():
        shipped = ", ".join(sorted(file.stem for file in folder.glob("*.md")))
        raise BadInput(f"no prompt {str(name)!r}; shipped are: {shipped}; or give the path of a .md file.")
    return parse(path.stem, path.read_text(encoding="utf-8"))
