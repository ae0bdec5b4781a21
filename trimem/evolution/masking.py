"""Names, titles and places out of a text, so that a backward model learns the fault and not the case."""

import re
from collections.abc import Iterable, Mapping

from trimem import times

CALENDAR = (*times.MONTHS, "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WORD = r"[A-Z][\w'’-]*[a-z][\w'’-]*"
STARTS = r"(?<![.!?:;\n\"“] )(?<!^)(?<![\w'’])"
"""Not where a sentence begins: there every word is capitalised."""
CAPITALISED = re.compile(rf"{STARTS}{WORD}(?: {WORD})*", re.MULTILINE)
QUOTED = re.compile(r"[\"“]([^\"”\n]{2,80})[\"”]")
LABEL = re.compile(r"(?:PERSON|PLACE|TITLE|NAME)_\d+")


class Mask:
    """Replaces the known names of one conversation, then whatever still looks like one, by labels such as PERSON_2.

    Equal names get equal labels in all texts of one mask. Months and weekdays stay: the fault may lie in a date.
    """

    def __init__(self, persons: Iterable[str], places: Iterable[str] = (), titles: Iterable[str] = ()) -> None:
        self._labels: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        for kind, names in (("PERSON", persons), ("PLACE", places), ("TITLE", titles)):
            for name in sorted({name.strip() for name in names if name.strip()}):
                self._label(kind, name)
                if kind == "PERSON":
                    for part in name.split():
                        self._labels.setdefault(part.lower(), self._labels[name.lower()])

    @property
    def labels(self) -> Mapping[str, str]:
        """Lower-case name -> label, of all names met so far."""
        return self._labels

    def __call__(self, text: str) -> str:
        text = self._known(text)
        text = QUOTED.sub(lambda found: f'"{self._label("TITLE", found[1])}"', text)
        return CAPITALISED.sub(self._unknown, text)

    def _known(self, text: str) -> str:
        names = sorted(self._labels, key=lambda name: (-len(name), name))
        if not names:
            return text
        pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)"
        return re.sub(pattern, lambda found: self._labels[found[0].lower()], text, flags=re.IGNORECASE)

    def _unknown(self, found: re.Match[str]) -> str:
        words = found[0].split()
        if LABEL.search(found[0]) or all(word.lower() in CALENDAR for word in words):
            return found[0]
        return self._label("NAME", found[0])

    def _label(self, kind: str, name: str) -> str:
        if LABEL.fullmatch(name):
            return name
        if name.lower() not in self._labels:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._labels[name.lower()] = f"{kind}_{self._counts[kind]}"
        return self._labels[name.lower()]
