"""Errors that the command prints as one line."""

import errno

FILE_PROBLEMS = {
    errno.ENOENT: "there is no such file",
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "a part of its path is no folder",
    errno.EACCES: "it may not be read or written",
}


class InputError(Exception):
    """A file or value that cannot be used: says what, where, and what was expected."""


def describe_problem(error: Exception) -> str:
    """What is wrong with a file, in words where the system has a number for it; the first line of the error otherwise."""
    if isinstance(error, OSError) and error.errno is not None:
        return FILE_PROBLEMS.get(error.errno, error.strerror or str(error))
    return next(iter(str(error).splitlines()), type(error).__name__)
