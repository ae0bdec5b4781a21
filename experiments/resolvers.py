"""What config files may compute; importing this module makes it known to OmegaConf."""

from omegaconf import OmegaConf


def native_prompt(target: str) -> str:
    """The answer prompt that a method's own paper asks for, by the method's class (TriMem's is the shared one)."""
    package, name, *_ = target.split(".")
    return f"baselines:{name}_answer" if package == "baselines" else "answer"


OmegaConf.register_new_resolver("native_prompt", native_prompt, replace=True)
