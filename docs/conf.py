"""Configuration of the site; `make docs` builds it into docs/_build/html."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "skh"
author = project_copyright = "The skh developers"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx-mathjax-offline",  # a copy of MathJax: nothing is loaded from elsewhere
    "plain_words",
    "repository_pages",
]
exclude_patterns = ["_build", "_templates", "README.md"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst-nb.lexer", "mystnb.unknown_mime_type"]
highlight_language = "none"
copybutton_prompt_text = "$ "

# Pages with code cells are executed, once for each text; an error ends the build.
nb_execution_mode = os.environ.get("SKH_DOCS_EXECUTION", "cache")
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_execution_show_tb = True

# Kernels have a profile of their own: nothing of the user's, and no warning that what they say to
# this machine is not encrypted.
PROFILE = HERE / "_build" / "ipython" / "profile_default"
PROFILE.mkdir(parents=True, exist_ok=True)
(PROFILE / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n")
os.environ["IPYTHONDIR"] = str(PROFILE.parent)

napoleon_google_docstring = False
autosummary_generate = True
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": False}
default_role = "py:obj"  # single backticks in docstrings are links where the name is known
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "skh"
html_static_path = ["_static"]
html_extra_path = ["_build/watch"]  # the interactive page, written by `make docs`
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5c8a", "color-brand-content": "#0b5c8a"},
    "dark_css_variables": {"color-brand-primary": "#6cb8e6", "color-brand-content": "#6cb8e6"},
}
