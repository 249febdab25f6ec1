"""Marks of numbers on pages that come from a record, and how they are renewed.

A number in a sentence is followed by a comment that says where it comes from; if the source has
several numbers, they are the last ones before the comment.  A table stands between two comments:

    of 68<!-- claims: total --> claims
    a ratio of 0.30 (0.10 to 0.92)<!-- claim: NAME / ratio -->

    <!-- table second-look -->
    | model | N = 20 |
    ...
    <!-- end of table -->

What stands between ``<!-- records of NAME -->`` and ``<!-- end of records -->`` are tables and
verdicts of an experiment, renewed once results/ has its records.  Readers see none of the marks.
A number is renewed with as many significant digits as it was quoted with.
"""

import re
from decimal import ROUND_HALF_UP, Decimal

NUMBER = r"(?<![\w.])(?:\d[\d,]*\.\d+|\d+(?:,\d{3})*|\.\d+)(?:e[-+]?\d+)?"
VALUE = re.compile(r"<!-- (\w+: [^>]*?) -->")
TABLE = re.compile(r"(<!-- table (\S+) -->\n)(.*?)(\n\n?<!-- end of table -->)", re.DOTALL)
RECORDS = re.compile(r"(<!-- records of (\S+) -->\n)(.*?)(<!-- end of records -->)", re.DOTALL)


def renewed(text, values, table):
    """The page with all marked numbers replaced by ``values(source)`` and ``table(name)``.

    >>> renewed("46 to 166<!-- a: b --> s", lambda source: [51.7, 170.4], None)
    '52 to 170<!-- a: b --> s'
    """
    text = TABLE.sub(lambda found: found[1] + table(found[2]).strip() + found[4], text)
    return with_marked(text, values, as_quoted)


def with_marked(text, values, write):
    """The text with each marked number replaced by ``write(value, number as quoted)``."""
    start = 0
    while mark := VALUE.search(text, start):
        before, new = text[start : mark.start()], values(mark[1])
        for place, value in zip(numbers_before(before, len(new)), reversed(new), strict=True):
            before = before[: place.start()] + write(value, place[0]) + before[place.end() :]
        text = text[:start] + before + text[mark.start() :]
        start += len(before) + len(mark[0])
    return text


def numbers_before(text, count):
    """The places of the last numbers of a text, the last one first."""
    found = list(re.finditer(NUMBER, text))[-count:]
    if len(found) < count:
        raise ValueError(f"a mark with {count} numbers follows {text[-60:]!r}")
    return found[::-1]


def as_quoted(value, quoted):
    """Write a value with the significant digits of a quoted number; integers are exact.

    >>> as_quoted(0.0123456, "0.57"), as_quoted(1234.5, "1,000"), as_quoted(11, "9")
    ('0.012', '1,235', '11')
    """
    comma = "," if "," in quoted else ""
    if isinstance(value, int) or value == 0:
        return f"{value:{comma}}"
    exact, digits = Decimal(str(value)), significant_digits(quoted)
    last = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
    rounded = exact.quantize(last, ROUND_HALF_UP)
    if "e" in quoted:
        return f"{float(rounded):.{digits - 1}e}"
    return f"{rounded:{comma}.{max(0, -last.adjusted())}f}"


def significant_digits(quoted):
    """The number of significant digits of a number as it is written.

    >>> significant_digits("0.050"), significant_digits("1,200"), significant_digits("8e-06")
    (2, 4, 1)
    """
    return len(Decimal(quoted.replace(",", "")).as_tuple().digits)
