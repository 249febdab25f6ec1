"""The methods of a result that make tables, labelled arrays, figures and texts of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


class ResultViews:
    """Tables, labelled arrays and figures of a result, each by a module that is loaded when needed.

    ``names`` are those of the coordinates; without them, ``model.state_names`` or x0, x1, ...
    """

    def to_dataframe(self, *, names: Any = None) -> pd.DataFrame:
        """Return a table with a row for each step (needs pandas: ``skh[io]``).

        Each coordinate has a column for its mean, its standard deviation and each quantile, as in
        ``x0_mean``, ``x0_sd``, ``x0_q0.05``; then come the evidence, the effective sample size, and
        what was evaluated.  ``attrs`` are the attributes of the run.
        """
        from skh.views.tables import to_dataframe

        return to_dataframe(self, names)

    def to_csv(self, path: str | Path, *, names: Any = None) -> None:
        """Write the table of `to_dataframe` as comma-separated values (needs no other package)."""
        from skh.views.tables import to_csv

        to_csv(self, path, names)

    def to_parquet(self, path: str | Path, *, names: Any = None) -> None:
        """Write the table of `to_dataframe` as a Parquet file (needs pyarrow: ``skh[io]``)."""
        from skh.views.tables import to_parquet

        to_parquet(self, path, names)

    def to_xarray(self, *, names: Any = None) -> xr.Dataset:
        """Return labelled arrays with dimensions time, state, state2, quantile (``skh[io]``)."""
        from skh.views.labelled import to_xarray

        return to_xarray(self, names)

    def plot(
        self,
        truth: ArrayLike | None = None,
        *,
        coordinates: Any = None,
        names: Any = None,
        centred: bool = False,
        figure: Any = None,
    ) -> Figure:
        """Return a figure of the run: bands of the state, ESS, looks and evidence (``skh[app]``).

        Parameters
        ----------
        truth : (T, d), optional
            True states, drawn as a line; NaN where unknown.
        coordinates : indices or names, optional
            Which coordinates to draw; by default the first six.  Those of a hidden part are z0, z1,
            and so on, or indices from d.
        names : d strings, optional
            Names of the coordinates.
        centred : bool
            Draw all less the mean, where the bands are thinner than a line.
        figure : Figure, optional
            An empty figure to draw in, such as ``plt.figure()`` for a window.

        The bands are the quantiles of the result, those of its ``history``, or two standard
        deviations.
        """
        from skh.views.plots import plot

        return plot(self, truth, coordinates, names, centred, figure)

    def plot_particles(
        self,
        t: int,
        *,
        truth: ArrayLike | None = None,
        coordinates: Any = None,
        names: Any = None,
        figure: Any = None,
    ) -> Figure:
        """Return a figure of the particles of step ``t`` and their weights (``skh[app]``).

        Needs ``particle_filter(..., history=True)``.  ``coordinates`` are one or two, by default
        the first two; ``truth`` is the true state (d,) or all of them (T, d).  The points of a
        pilot and those of later looks have different colours.
        """
        from skh.views.particle_plots import plot_particles

        return plot_particles(self, t, truth, coordinates, names, figure)

    def __repr__(self) -> str:
        from skh.views.html import result_text

        return result_text(self)

    def _repr_html_(self) -> str:
        from skh.views.html import result_html

        return result_html(self)
