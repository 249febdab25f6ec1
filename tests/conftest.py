import pytest
from hypothesis import settings

import skh

settings.register_profile("skh", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("skh")


@pytest.fixture
def two_threads():
    """Use two threads; request this fixture after the run with one."""
    skh.set_threads(2)
    if skh.get_threads() < 2:
        pytest.skip("two threads need two cores")
    yield
    skh.set_threads(1)
