"""Errors that a user can act on. The commands print them as one line and exit with `exit_code`."""

import errno
import sqlite3

NO_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG}
NO_STORAGE |= {errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.EEXIST, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE}
NO_DATABASE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}


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


def storage_problem(error: BaseException) -> str:
    """What ails the disk (full, read-only, no folder), if `error` is its fault; else "": no retry will help then."""
    if isinstance(error, sqlite3.OperationalError):
        return str(error) if getattr(error, "sqlite_errorcode", 0) & 0xFF in NO_DATABASE else ""
    if isinstance(error, OSError) and error.errno in NO_STORAGE:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    return ""
