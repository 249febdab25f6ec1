"""How kernels are compiled: numba's compiler with shorter code, and kernels kept on disk.

`pipeline` puts it together; the decorators in `_numba.compiling` are what kernels use.
"""
