"""The bundled data set: three invented conversations in LoCoMo's format, and what is true in them, turn by turn."""

from pathlib import Path

CONVERSATIONS = Path(__file__).parent / "sample.json"
FACTS = Path(__file__).parent / "sample_facts.json"
"""The sidecar that the scripted model answers from (its format: `trimem.llm.script`)."""
