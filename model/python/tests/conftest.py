import dask
import pytest


@pytest.fixture(autouse=True, scope="session")
def dask_folder(tmp_path_factory):
    """What Dask's workers write goes with the other files of the tests."""
    with dask.config.set({"temporary-directory": str(tmp_path_factory.mktemp("dask"))}):
        yield
