"""The commands for one's own model and data: ``skh run``, ``skh check`` and ``skh compare``.

`scenario` reads what is to be done, `read_table` the data, `model_loading` the model; `run`,
`check` and `compare` do the work, and the modules named ``..._command`` are what a terminal sees of
it.  Whatever is wrong with an input is an `InputError`: one line that names the file and the place
in it.  Programs read the same tables by `read_observations`.
"""

from skh.app.input_error import InputError
from skh.app.observations import read_observations
from skh.app.table import Table

__all__ = ["InputError", "Table", "read_observations"]
