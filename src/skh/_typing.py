"""Common types: `Array` is a float64 array."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Integers = NDArray[np.int64]
RNG = np.random.Generator | int | None
