"""Inputs on which a model and its tree would differ if they could: around the thresholds, beside zero, with gaps."""

from __future__ import annotations

import numpy as np

LARGEST = float(np.finfo(np.float32).max)  # a scikit-learn tree takes nothing larger

# LightGBM takes the inputs up to this magnitude for zero; float32 rounds the smallest ones to zero.
ZERO_BAND = float(np.float32(1e-35))
BESIDE_ZERO = np.array([0.0, -0.0, ZERO_BAND, -ZERO_BAND, np.nextafter(ZERO_BAND, 1), 5e-324, -5e-324, 1e-45])


def samples(ensemble, X, n_points, rng):
    """Named inputs in float64: the training data, random, on thresholds and, where NaN is an input, with gaps."""
    complete = X if ensemble.nan_features.any() else X[~np.isnan(X).any(axis=1)]
    found = {"training": complete, "random": random_points(X, n_points, rng)}
    found["thresholds"] = points_on_thresholds(ensemble, X, n_points, rng)
    if ensemble.nan_features.any():
        points = points_on_thresholds(ensemble, X, n_points, rng)
        share = rng.choice([0.1, 0.4, 1.0], size=(n_points, 1), p=[0.5, 0.45, 0.05])
        points[(rng.random(points.shape) < share) & ensemble.nan_features] = np.nan
        found["gaps"] = points
    return found


def random_points(X, n_points, rng):
    """Points of the bounding box of the data and some way around it."""
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    margin = (high - low) / 5
    return rng.uniform(low - margin, high + margin, size=(n_points, X.shape[1]))


def points_on_thresholds(ensemble, X, n_points, rng):
    """Most values are a threshold or next to it among float64 or float32, some lie beside zero, some anywhere."""
    points = random_points(X, n_points, rng)
    for feature in range(ensemble.n_features):
        values = np.unique(ensemble.threshold[(ensemble.feature == feature) & np.isfinite(ensemble.threshold)])
        if values.size:
            chosen = rng.choice(beside(values), size=n_points)
            points[:, feature] = np.where(rng.random(n_points) < 0.85, chosen, points[:, feature])
        near_zero = rng.random(n_points) < 0.03
        points[near_zero, feature] = rng.choice(BESIDE_ZERO, size=near_zero.sum())
    return points


def beside(values):
    """The values and their neighbours in float64, in float32, and halfway between float32 numbers."""
    single = np.clip(values, -LARGEST, LARGEST).astype(np.float32)
    with np.errstate(over="ignore", under="ignore"):
        lower, upper = (np.nextafter(single, np.float32(end)) for end in (-np.inf, np.inf))
        around = [
            single,
            lower,
            upper,
            *(np.nextafter(f, np.float32(end)) for f, end in ((lower, -np.inf), (upper, np.inf))),
        ]
    found = [values, *(f.astype(float) for f in around)]
    # Halfway is where the library's rounding of the input decides.
    found += [(single.astype(float) + f.astype(float)) / 2 for f in (lower, upper)]
    exact = np.concatenate(found)
    all_values = np.concatenate([exact, np.nextafter(exact, -np.inf), np.nextafter(exact, np.inf)])
    return np.clip(all_values, -LARGEST, LARGEST)
