"""The commands for one's own model and data: ``skh run``, ``skh check`` and ``skh compare``.

`scenario` reads what is to be done, `table` the data, `model_loading` the model; `run`, `check` and
`compare` do the work, and `commands` is what a terminal sees of them.  Whatever is wrong with an
input is an `InputError`: one line that names the file and the place in it.
"""
