"""Words in the types of docstrings stay words: only public names become links.

``x : (n, d)`` would otherwise link ``n`` to whichever attribute of that name Sphinx finds.
"""

from importlib import import_module
from inspect import ismodule

from docutils import nodes
from sphinx.addnodes import pending_xref

MODULES = ["", ".app", ".geometry", ".models", ".report", ".robotics", ".scores", ".trajectory"]


def public_names():
    """Names that may be linked without their module."""
    modules = [import_module(f"skh{name}") for name in MODULES]
    return {
        name
        for module in modules
        for name in dir(module)
        if not (name.startswith("_") or ismodule(getattr(module, name)))
    }


def unlink(app, doctree):
    """Replace references to anything but public names by their text."""
    names = public_names()
    for node in list(doctree.findall(pending_xref)):
        target = node.get("reftarget", "")
        if node.get("refdomain") == "py" and "." not in target and target not in names:
            text = node.astext() if node.get("refexplicit") else target
            node.replace_self(nodes.emphasis(text, text))


def setup(app):
    """Register with Sphinx."""
    app.connect("doctree-read", unlink)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
