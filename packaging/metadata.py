"""The README and the addresses of the project as a package index shows them.

Links of the README are relative to the repository.  In a package they lead to ``SKH_HOME``, the
address of the repository, if it is set when the package is built; otherwise they are plain words,
and pictures are left out, so that nothing leads nowhere.
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")
MARK = re.compile(r"<!-- .*? -->")  # says which record a number comes from


def outside(text, home):
    """The text with links that work outside of the repository.

    >>> outside("![a](b.png) [c](d.md)", "https://e.org/f")
    '![a](https://e.org/f/raw/main/b.png) [c](https://e.org/f/blob/main/d.md)'
    >>> outside("![a](b.png)[c](d.md)", "")
    'c'
    """

    def link(found):
        picture, words, target = found.groups()
        if home:
            return f"{picture}[{words}]({home}/{'raw' if picture else 'blob'}/main/{target})"
        return "" if picture else words

    return LINK.sub(link, MARK.sub("", text))


class CustomMetadataHook(MetadataHookInterface):
    """Called by hatchling."""

    def update(self, metadata):
        """Set the README and the addresses."""
        home = os.environ.get("SKH_HOME", "").rstrip("/")
        text = outside((Path(self.root) / "README.md").read_text(encoding="utf-8"), home)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        if home:
            pages = {"Source": home, "Changelog": f"{home}/blob/main/CHANGELOG.md"}
            metadata["urls"] = {**pages, "Documentation": f"{home}/blob/main/docs/README.md"}
