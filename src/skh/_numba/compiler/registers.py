"""Variables of kernels that can stay in registers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs


def assigned_before_use(blocks: Mapping[int, ir.Block]) -> set[str]:
    """Variables with one assignment, which is passed on each way to a use.

    numba keeps in registers only those that are not used outside of one block.  LLVM moves the
    others there again, in a pass of its own.
    """
    once = _assigned_once(blocks)
    before = compute_cfg_from_blocks(blocks).dominators()
    for label, names in compute_use_defs(blocks).usemap.items():
        for name in names & once.keys():  # blocks are written in the order of their labels
            if once[name] >= label or once[name] not in before[label]:
                del once[name]
    return set(once)


def _assigned_once(blocks: Mapping[int, ir.Block]) -> dict[str, int]:
    """Names, and the blocks where they are assigned."""
    places = defaultdict(list)
    for label, block in blocks.items():
        for assign in block.find_insts(ir.Assign):
            places[assign.target.name].append(label)
    return {name: labels[0] for name, labels in places.items() if len(labels) == 1}
