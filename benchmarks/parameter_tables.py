"""Tables of docs/parameters.md, from the record of `parameters.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = {
    "ar1": "AR(1) with noise, three parameters, T = 100",
    "lgss3": "LGSS3, two parameters, T = 100",
}
Record = dict[str, Any]


def rows_of(record: Record, part: str, prefix: str = "") -> list[dict[str, Any]]:
    """The entries of a part whose names have a prefix."""
    return [row for name, row in record.get(part, {}).items() if name.startswith(prefix)]


def middle(rows: list[dict[str, Any]], name: str) -> float:
    """Median of a number over entries."""
    return float(np.median([row[name] for row in rows]))


def linear_fits(record: Record) -> list[str]:
    """Fits of linear models from random starts, against the Kalman filter."""
    lines = [
        "| model | starts | within 0.02 | missed by, median and most | "
        "standard errors over exact ones | filter runs | likelihoods | seconds |",
        "|---" * 8 + "|",
    ]
    for part, name in NAMES.items():
        if rows := rows_of(record, part):
            missed = [row["missed"] for row in rows]
            ratios = np.concatenate([row["standard_errors"] for row in rows])
            counts = f"{middle(rows, 'filters'):.0f} | {middle(rows, 'likelihoods'):,.0f}"
            lines.append(
                f"| {name} | {len(rows)} | {sum(m < 0.02 for m in missed)} | "
                f"{np.median(missed):.4f}, {max(missed):.4f} | "
                f"{ratios.min():.2f} to {ratios.max():.2f} | {counts} | "
                f"{middle(rows, 'seconds'):.1f} |"
            )
    return lines


def gbpusd_fits(record: Record) -> list[str]:
    """What the parameters of GBP/USD take, by fits and by samplers."""
    lines = ["| GBP/USD | log-evidence missed by | likelihoods | seconds |", "|---" * 4 + "|"]
    found = record.get("gbpusd", {})
    for name, row in found.items():
        if name.startswith("fit"):
            label = f"`skh.fit`, {name.split()[1]} days, two starts"
            lines.append(f"| {label} | {row['missed']:.4f} | {costs(row)} |")
    if row := found.get("large"):
        label = f"one systematic filter with {row['n']:,} particles at the grid's optimum"
        lines.append(f"| {label}, 750 days | {-row['off']:.4f} | {750 * row['n']:,} | |")
    if row := found.get("bootstrap"):
        label = f"bootstrap filter, {row['n']:,} particles, common random numbers, Nelder-Mead"
        lines.append(f"| {label}, 250 days, one start | {row['missed']:.4f} | {costs(row)} |")
    if row := found.get("smc2"):
        label = f"SMC² of `particles`, {row['size']} parameters, 250 days"
        lines.append(f"| {label} | (posterior) | {costs(row)} |")
    if rows := rows_of(record, "posterior", "pmmh"):
        label = "PMMH of `particles`, 3,000 draws, 250 days"
        lines.append(f"| {label} | (posterior) | {costs(rows[0])} |")
    return lines


def costs(row: dict[str, Any]) -> str:
    """Likelihoods and seconds of an entry, as two cells."""
    return f"{row['likelihoods']:,} | {row['seconds']:.0f}"


def exactness(record: Record) -> list[str]:
    """Posterior of a linear model against long exact chains."""
    lines = [
        "| run | means off by, in Monte Carlo errors | standard deviations over exact ones | "
        "off by, in Monte Carlo errors | least effective draws |",
        "|---" * 5 + "|",
    ]
    for name, row in record.get("exact", {}).items():
        cells = [
            ", ".join(f"{z:{form}}" for z in row.get(part, []))
            for part, form in (("means", "+.1f"), ("ratios", ".2f"), ("deviations", "+.1f"))
        ]
        lines.append(f"| {name} | {' | '.join(cells)} | {min(row['ess']):.0f} |")
    return lines


def posteriors(record: Record) -> list[str]:
    """Seconds per effective draw beside PMMH."""
    lines = [
        "| posterior of GBP/USD, 250 days | effective draws | likelihoods each | seconds each | "
        "of those of PMMH |",
        "|---" * 5 + "|",
    ]
    peers = rows_of(record, "posterior", "pmmh")
    for price, kind in ((0.0, "cheap"), (1e-3, "expensive")):
        said = "a likelihood that takes 1 ms: " if price else ""
        ours = rows_of(record, "posterior", kind)
        if not (peers and ours):
            continue
        each = [(r["seconds"] + price * r["likelihoods"]) / r["ess"] for r in peers]
        own = [r["seconds"] / r["ess"] for r in ours]
        lines.append(f"| {said}PMMH of `particles` | {per_draw(peers, each)} | 1 |")
        ratio = np.median(own) / np.median(each)
        lines.append(f"| {said}`sample_posterior` | {per_draw(ours, own)} | {ratio:.3f} |")
    return lines


def per_draw(rows: list[dict[str, Any]], seconds: list[float]) -> str:
    """Effective draws, likelihoods and seconds per effective draw, as three cells."""
    likelihoods = np.median([row["likelihoods"] / row["ess"] for row in rows])
    return f"{middle(rows, 'ess'):.0f} | {likelihoods:,.0f} | {np.median(seconds):.3g}"


TABLES = {
    "parameters-linear": linear_fits,
    "parameters-gbpusd": gbpusd_fits,
    "parameters-exact": exactness,
    "parameters-posterior": posteriors,
}


def tables(record: Record) -> str:
    """All tables of the page in Markdown, each with its name."""
    parts = [f"<!-- table {name} -->\n" + "\n".join(f(record)) for name, f in TABLES.items()]
    return "\n\n".join(parts)
