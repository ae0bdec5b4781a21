"""How the analyses read text: lower-case words and numbers of ASCII, so that anyone can count them again."""

import re


def words(text: str) -> list[str]:
    """`Ana's 2 cats` -> ana, s, 2, cats."""
    return re.findall(r"[a-z0-9]+", text.lower())


STOP_WORDS = frozenset(
    words(
        "a about an and are as at be by did do does for from had has have he her his how i in into is it its of on or "
        "she that the their they this to was we were what when where which who why will"
    )
)
"""Left out of questions and texts when these are searched, never when golds are looked for."""


def content_words(text: str) -> list[str]:
    """Without stop words."""
    return [word for word in words(text) if word not in STOP_WORDS]
