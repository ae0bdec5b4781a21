"""The HTTP client under the OpenAI SDK: it has a deadline for the whole reply and lets only answers through.

httpx2 times each read, so a server that drips a byte a second would hold a call for ever; and the SDK takes whatever
a 200 brings for a reply. Here both are errors of the transport, which the SDK retries and we report.
"""

import json
import time
from collections.abc import Callable
from typing import Any

SHOWN = 80
"""Characters of a broken reply that the message shows."""


def http_client(timeout: float, watch: Callable[[Any], None]) -> Any:
    """An `openai.DefaultHttpxClient`; `watch` sees each response. A reply not whole after `timeout` s times out."""
    import httpx2
    import openai

    class Careful(openai.DefaultHttpxClient):
        def send(self, request: httpx2.Request, **settings: Any) -> httpx2.Response:
            begun = time.monotonic()
            response = super().send(request, **{**settings, "stream": True})
            raw = bytearray()
            try:
                for chunk in response.iter_raw():
                    raw += chunk
                    if time.monotonic() - begun > timeout:
                        raise httpx2.ReadTimeout(f"the reply was not whole after {timeout:g} s", request=request)
            finally:
                response.close()
            whole = httpx2.Response(response.status_code, headers=response.headers, content=bytes(raw), request=request)
            if whole.is_success and (broken := _why_broken(whole)):
                raise httpx2.DecodingError(broken, request=request)
            watch(whole)
            return whole

    return Careful(timeout=timeout)


def _why_broken(response: Any) -> str:
    """Why a 200 holds no answer; some servers report in it what belongs in a 5xx."""
    try:
        content = json.loads(response.content)
    except (ValueError, RecursionError):
        content = None
    shown = " ".join(response.text[:SHOWN].split())
    if not isinstance(content, dict):
        return f"the reply is no JSON object: {shown!r}"
    failed = content.get("error") and not content.get("choices")
    return f"the server replied without an answer: {content['error']}" if failed else ""
