"""What makes two runs the same: a hash over all that changes a result, and nothing else."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

UNHASHED = ("concurrency", "timeout", "latency")
"""Keys of a backbone that change how long a reply takes, not what it says."""


def canonical(value: Any) -> str:
    """JSON in which equal values are equal texts, whatever the order of keys. Raises TypeError on other types."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def content_hash(value: Any) -> str:
    """12 hex digits of the sha256 over `canonical(value)`."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def backbone_identity(backbone: Mapping[str, Any]) -> dict[str, Any]:
    """A backbone's config without what changes only speed."""
    return {key: value for key, value in backbone.items() if key not in UNHASHED}
