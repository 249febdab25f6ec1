"""Types that every module uses: arrays are float64 unless they say otherwise."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Integers = NDArray[np.int64]
RNG = np.random.Generator | int | None
