"""`make bench`: every performance claim of this library, measured in one run."""

from __future__ import annotations

import own
from timing import Row, pin


def main() -> None:
    pin()
    rows: list[Row] = []
    for section in own.SECTIONS:
        for row in section():
            rows.append(row)
            print(
                f"{'ok  ' if row.ok else 'MISS'} {row.name:48} {row.value:8.2f} {row.unit:20} "
                f"bound {row.bound:6.1f}  {row.detail}",
                flush=True,
            )


if __name__ == "__main__":
    main()
