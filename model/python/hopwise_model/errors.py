"""Errors that the command prints as one line."""


class InputError(Exception):
    """A file or value that cannot be used: says what, where, and what was expected."""
