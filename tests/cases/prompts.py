"""A prompt and optimizer replies for the cases of area j, in the words of the cases."""

from trimem.prompts import Prompt, parse

SEED = parse(
    "seed",
    """---
purpose: a dialogue -> facts
fields: dialogue
schema: ExtractedFacts
---
You extract facts.
Return ONLY JSON: {"facts": [{"fact": "...", "persons": ["..."]}]}
=== data ===
Dialogue:
{dialogue}
""",
)
REPLIES = {
    "no_tags": "<VARIABLE> You extract facts. </VARIABLE> I improved clarity.",
    "empty_tags": "<IMPROVED_VARIABLE>\n</IMPROVED_VARIABLE>",
    "two_blocks": '<IMPROVED_VARIABLE>first {dialogue} JSON "facts"</IMPROVED_VARIABLE>\n'
    "<IMPROVED_VARIABLE>second</IMPROVED_VARIABLE>",
    "placeholder_lost": "<IMPROVED_VARIABLE>You extract facts from the chat above. Return ONLY JSON with the key "
    '"facts".</IMPROVED_VARIABLE>',
    "extra_placeholder": "<IMPROVED_VARIABLE>You extract facts. Use {user_profile} first. Return ONLY JSON: "
    '{{"facts": []}}\n{dialogue}</IMPROVED_VARIABLE>',
    "single_braces": '<IMPROVED_VARIABLE>You extract facts. Return ONLY JSON: {"facts": [{"fact": "..."}]}\n'
    "Dialogue:\n{dialogue}</IMPROVED_VARIABLE>",
}
DIALOGUE = (
    "Nadia: My template is {name} and {{escaped}} and {0} and {dialogue}; also $HOME, %s, \\n and ${oc.env:HOME}.\n"
    "Omar: ok } {"
)


def with_rules(rules: str, prompt: Prompt = SEED) -> str:
    """The whole text of a prompt whose constant part is `rules`."""
    return prompt.text.replace(prompt.rules, rules, 1)
