"""Files of real robots for tests, which skip where they are absent."""

import pytest

from skh.robotics import data_file


def real_data(*parts):
    """A file of the data sets; without it the test is skipped, and says where it was looked for."""
    try:
        return data_file(*parts)
    except FileNotFoundError as error:
        pytest.skip(str(error))
