"""Samples of the kernels on time series."""

from __future__ import annotations

import numpy as np

from mercer.kernels.series import DTW, Autocorrelation, GlobalAlignment, SoftDTW, Transitions

from ..cases import Case

__all__ = ["CASES", "MANY_CHANNELS", "ONE_CHANNEL"]

#: One step, constant, repeated, shifted, far from zero, rough, and several lengths.
ONE_CHANNEL = [
    np.array(x, dtype=float)
    for x in (
        [0.5],
        [1.0, 1.0, 1.0],
        [0.0, 1.0, 2.0, 1.0, 0.0],
        [0.0, 1.0, 2.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 2.0, 1.0, 0.0],
        [100.0, 101.0, 100.5],
        [-1.0, 3.0, -2.0, 0.25, 4.0, -0.5, 1.0, 2.0, -3.0],
    )
]
MANY_CHANNELS = [np.stack([x, np.cos(x), 0.5 * x**2 % 3.0], axis=1) for x in ONE_CHANNEL]
#: The same with gaps: what is missing is left out.
GAPS = [np.insert(x, len(x) // 2, np.nan) for x in ONE_CHANNEL]
#: The same with the axes turned.
CHANNELS_FIRST = [x.T for x in MANY_CHANNELS]

CASES: list[Case] = [
    *(Case(GlobalAlignment(s, band), ONE_CHANNEL) for s in (0.3, 1.0, 30.0) for band in (None, 1, 4)),
    *(Case(GlobalAlignment(s, band, "gaussian"), ONE_CHANNEL) for s in (0.3, 1.0) for band in (None, 4)),
    *(Case(GlobalAlignment("median", band), MANY_CHANNELS) for band in (None, 3)),
    Case(GlobalAlignment(1.0, missing="drop"), GAPS),
    *(Case(DTW(s, band), ONE_CHANNEL) for s in (0.3, 2.0, "median") for band in (None, 0, 2)),
    *(Case(DTW(2.0, band, missing="drop"), MANY_CHANNELS) for band in (None, 1)),
    *(Case(SoftDTW(s, gamma), ONE_CHANNEL) for s in (1.0, "median") for gamma in (0.01, 1.0, 20.0)),
    Case(SoftDTW(2.0, 0.5), MANY_CHANNELS),
    *(Case(Transitions([0.0, 1.0], length, lag), ONE_CHANNEL) for length in (1, 2, 3) for lag in (1, 2)),
    *(
        Case(Transitions("quartiles", missing="drop"), points)
        for points in (ONE_CHANNEL, MANY_CHANNELS, GAPS)
    ),
    *(Case(Autocorrelation(lags, decay), ONE_CHANNEL) for lags in (0, 2, 20) for decay in (0.5, 1.0)),
    Case(Autocorrelation(3, 0.9), MANY_CHANNELS),
    *(
        Case(k, CHANNELS_FIRST)
        for k in (
            GlobalAlignment("median", layout="channels_first"),
            DTW(2.0, layout="channels_first"),
            SoftDTW(2.0, 0.5, layout="channels_first"),
            Transitions([0.0, 1.0], layout="channels_first"),
            Autocorrelation(3, 0.9, layout="channels_first"),
        )
    ),
]
