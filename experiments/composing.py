"""The shipped configs, read by commands that are not Hydra's own."""

from pathlib import Path
from typing import Any

from trimem.errors import BadInput

CONF = Path(__file__).parent.parent / "conf"


def group_node(group: str, name: str) -> dict[str, Any]:
    """The file `conf/<group>/<name>.yaml` as it stands. Raises BadInput, listing the files, if there is none."""
    from omegaconf import OmegaConf

    files = {file.stem: file for file in (CONF / group).glob("*.yaml") if file.stem != "none"}
    if name not in files:
        raise BadInput(f"there is no {group} {name}; choose one of {', '.join(sorted(files))}.")
    node = OmegaConf.to_container(OmegaConf.load(files[name]))
    assert isinstance(node, dict)
    return {str(key): value for key, value in node.items()}


def default_config() -> dict[str, Any]:
    """What `python -m experiments.run` without arguments is given, its paths still relative."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    from experiments import resolvers  # noqa: F401 - config files use what it registers

    current = GlobalHydra.instance()
    running, current.hydra = current.hydra, None  # a sweep's other jobs go on with it
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            config = OmegaConf.to_container(compose("config"), resolve=True)
    finally:
        current.hydra = running
    assert isinstance(config, dict)
    return {str(key): value for key, value in config.items()}
