"""Pages of the repository on the site: links that leave docs/, and files shown as pages.

Pages are written for a reader of the repository, with links such as ``../results/claims.md``.  On
the site a link to a file that has a page leads to that page; a link to another file leads to the
repository if ``SKH_HOME`` says where that is, and is plain code otherwise.  A page that ends
with the line ``<!-- shows ../CHANGELOG.md -->`` is that file; what stands before the line comes
after the title of the file.
"""

import os
import re
from pathlib import Path

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
SHOWN = re.compile(r"(.*)<!-- shows (\S+) -->\s*$", re.DOTALL)
FENCED = re.compile(r"(^```.*?^```\s*?$|^~~~.*?^~~~\s*?$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def shown_pages():
    """Files of the repository by the page that shows them; READMEs lead to the start page."""
    pages = {ROOT / "README.md": DOCS / "index.md", DOCS / "README.md": DOCS / "index.md"}
    pages[ROOT / "examples"] = DOCS / "gallery.md"
    for page in DOCS.glob("gallery/*.md"):
        pages[ROOT / "examples" / f"{page.stem}.py"] = page
    for page in DOCS.glob("*.md"):
        if found := SHOWN.match(page.read_text()):
            pages[(page.parent / found[2]).resolve()] = page
    return pages


def relative(path, folder):
    """The path as it is written in a file of the folder."""
    return Path(os.path.relpath(path, folder)).as_posix()


def converted(text, base, page, pages, home=""):
    """The text of a file in the folder ``base`` as a page of the site."""

    def link(found):
        picture, words, target = found.groups()
        name, _, anchor = target.partition("#")
        if not name or "://" in target or target.startswith("mailto:"):
            return found[0]
        path = (base / name).resolve()
        end = f"#{anchor}" if anchor else ""
        if path in pages or picture or path.is_relative_to(DOCS):
            new = pages.get(path, path)
            return f"{picture}[{words}]({relative(new, page.parent)}{'' if path != new else end})"
        if home:
            return f"[{words}]({home}/blob/main/{path.relative_to(ROOT).as_posix()})"
        same = words.strip("`").rstrip("/") == relative(path, ROOT)
        return words if same else f"{words} (`{relative(path, ROOT)}`)"

    parts = FENCED.split(text)
    return "".join(p if k % 2 else LINK.sub(link, p) for k, p in enumerate(parts))


def source_of(page, text, home=""):
    """The text of a page, and the file that it shows or None."""
    found, pages = SHOWN.match(text), shown_pages()
    if not found:
        return converted(text, page.parent, page, pages, home), None
    shown = (page.parent / found[2]).resolve()
    own = converted(found[1], page.parent, page, pages, home)
    body = converted(shown.read_text(), shown.parent, page, pages, home)
    title, rest = body.split("\n", 1) if body.startswith("# ") else ("", body)
    return f"{title}\n\n{own}{rest}".lstrip(), shown


def read(app, name, source):
    """Replace the text of a page as it is read."""
    page = DOCS / f"{name}.md"
    if not page.exists():
        return
    source[0], shown = source_of(page, source[0], os.environ.get("SKH_HOME", "").rstrip("/"))
    if shown:
        app.env.note_dependency(str(shown))


def setup(app):
    """Register with Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
