"""`python -m experiments.run`: build a memory from each conversation, ask its questions, score the answers."""

import hydra
from omegaconf import DictConfig

from experiments.command import run_command, run_job
from experiments.runner import run


@hydra.main(version_base="1.3", config_path="../conf", config_name="config")
def app(config: DictConfig) -> int:
    """One job. Alone, its exit code is the command's; in a sweep the table of jobs tells."""
    return run_job(config, run)


def main() -> None:
    """The command."""
    run_command(app)


if __name__ == "__main__":
    main()
