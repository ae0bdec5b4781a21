"""Where a local model runs."""

from trimem.errors import BadInput


def find_device(name: str) -> str:
    """`name`, and for "auto" CUDA where torch sees it, else the processor. Raises BadInput for a missing CUDA."""
    import torch

    device = name if name != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise BadInput(f"device={device}: torch sees no CUDA device here; choose device=cpu or auto.")
    return device
