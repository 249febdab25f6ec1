"""Files of numbers: written atomically, read without running code from them.

- `atomic`: a file is replaced as a whole or not at all
- `container`: named arrays and a description in a zip file that ``numpy.load`` opens
- `trees`: nested tuples, dicts and arrays as a description and named arrays
- `layout`: the order of an array in memory, on which the last bits of sums depend
- `digests`: short digests of values, to tell one from another
"""
