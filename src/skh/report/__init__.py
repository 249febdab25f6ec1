"""Pages about one filter run: `write_run_html` writes an interactive report in a single file.

`run_inputs` checks what the caller gives, `run_data` turns a result into the arrays of the page,
`run_page` writes its HTML.  Style sheet and scripts are the files in ``assets``.
"""

from skh.report.run_page import write_run_html

__all__ = ["write_run_html"]
