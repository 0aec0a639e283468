"""What is known of the recordings besides themselves, such as the country of each: a CSV file."""

import pandas as pd

from ..errors import InputError, describe_problem

KEY = "recording"


def read_labels(path: str | None) -> pd.DataFrame | None:
    """Labels by name of the recording; every column but `recording` is a label.

    Raises InputError if the file is unreadable, lacks the column, or names a recording twice.
    """
    if path is None:
        return None
    try:
        labels = pd.read_csv(path, dtype=str)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: expected a CSV file: {describe_problem(error)}") from error
    if KEY not in labels.columns or len(labels.columns) < 2:
        raise InputError(f"{path}, first line: expected the column {KEY} and at least one other")
    twice = labels[KEY][labels[KEY].duplicated()]
    if not twice.empty:
        raise InputError(f"{path}: expected each recording once, found {twice.iloc[0]} more than once")
    return labels.set_index(KEY)
