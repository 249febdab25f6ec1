"""The numba kernels, and nothing else; what they are for is said by the modules that call them."""
