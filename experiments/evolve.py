"""`python -m experiments.evolve`: improve the extraction and profile prompts, without touching the test set."""

import hydra
from omegaconf import DictConfig

from experiments.command import run_command, run_job
from experiments.evolution.study import evolve


@hydra.main(version_base="1.3", config_path="../conf", config_name="config")
def app(config: DictConfig) -> int:
    """One job, as in `experiments.run`."""
    return run_job(config, evolve)


def main() -> None:
    """The command."""
    run_command(app)


if __name__ == "__main__":
    main()
