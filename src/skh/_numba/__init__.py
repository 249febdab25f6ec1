"""Compiled kernels, each file named after what it computes; conventions are in `compiling`.

Kernels do not check their arguments.  Those of a single model are beside that model.
Imports nothing of the library but `_typing`.
"""
