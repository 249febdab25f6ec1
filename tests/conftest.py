import pytest
from hypothesis import settings

import skh
from browser import CHROMIUM, Browser

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


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A headless Chromium for all tests of pages."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: the page was not opened")
    running = Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.close()
