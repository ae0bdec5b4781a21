"""Errors that a user can act on. The commands print them as one line and exit with `exit_code`."""


class TriMemError(Exception):
    """Base of all errors that are ours. The message says what is wrong and what to do."""

    exit_code = 1


class BadInput(TriMemError):
    """A file, key, id or configuration cannot be used."""

    exit_code = 2


class BudgetReached(TriMemError):
    """`budget.usd` or `budget.calls` is used up; what was finished is kept."""

    exit_code = 3


class LLMUnavailable(TriMemError):
    """No further call can succeed (bad key, no quota, unknown model, nobody answers): the run stops at once."""

    exit_code = 2
