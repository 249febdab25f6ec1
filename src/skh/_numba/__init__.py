"""Compiled kernels, each file named after what it computes.

`compiling` has the decorators and the rules of layout that all follow.  Nothing here checks its
arguments.  Kernels of a single model are beside that model.  Imports nothing of the library but
`_typing`.
"""
