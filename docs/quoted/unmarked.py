"""Numbers that a page quotes without a mark.

Counted are numbers with a decimal point or an exponent, whole ones with a unit of time, size or
share, in sentences also shares such as 7 of 16; not those in code, formulas, links and headings,
nor after an equals sign, which are settings.  A number in a sentence needs no mark of its own if
a marked table of the page has it.
"""

import re

from marks import RECORDS, TABLE, with_marked
from values import values

UNIT = r"(?:ns|ms|s|µs|us|MB|MiB|GB|kB|times|seconds|minutes|hours|standard deviations)\b|%"
MEASURED = re.compile(
    r"(?<![\w.,=σ²])(?<!= )(?:\d[\d,]*\.\d+(?:e[-+]?\d+)?|\.\d+|\d+e[-+]?\d+"
    rf"|\d[\d,]*(?= ?(?:{UNIT})))"
)
IN_SENTENCES = re.compile(rf"{MEASURED.pattern}|(?<![\w.,])\d[\d,]*(?=\sof\s(?:the\s|all\s)?\d)")
FENCED = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
NOT_QUOTED = re.compile(
    r"`[^`]*`|(?<=\])\([^)]*\)|\$\$.*?\$\$|\$[^$\n]+\$|<!--.*?-->|^(?:#|    |---).*?$",
    re.MULTILINE | re.DOTALL,
)
SETTINGS = "<!-- settings, not measurements -->\n"
LEVELS = re.compile(r"\b9[05] ?%")  # of intervals


def unmarked(text):
    """Return the unmarked numbers of sentences, and the first lines of unmarked tables."""
    marked = [found[3] for pattern in (TABLE, RECORDS) for found in pattern.finditer(text)]
    known = {number for table in marked for number in MEASURED.findall(table)}
    text = RECORDS.sub("\n", TABLE.sub("\n", FENCED.sub("", text)))
    text = with_marked(text, values, lambda value, quoted: "")
    tables = [lines for lines in blocks(text) if len(MEASURED.findall(plain(lines))) > 1]
    sentences = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    found = IN_SENTENCES.findall(plain(sentences))
    numbers = [number for number in found if number not in known]
    return numbers, [lines.splitlines()[0] for lines in tables]


def plain(text):
    """The text without code, formulas, addresses of links, comments and headings."""
    return LEVELS.sub("", NOT_QUOTED.sub(" ", text))


def blocks(text):
    """The tables of a text, without those whose numbers are settings."""
    found = re.finditer(r"((?:^(?!\|).*\n)?)((?:^\|.*\n?)+)", text, re.MULTILINE)
    return [table for before, table in (f.groups() for f in found) if before != SETTINGS]
