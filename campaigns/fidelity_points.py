"""Inputs on which a model and its tree would differ if they could: around the thresholds, beside zero, with gaps."""

from __future__ import annotations

import numpy as np

LARGEST = float(np.finfo(np.float32).max)  # a scikit-learn tree takes nothing larger

# LightGBM takes the inputs up to this magnitude for zero; float32 rounds the smallest ones to zero.
ZERO_BAND = float(np.float32(1e-35))
BESIDE_ZERO = np.array([0.0, -0.0, ZERO_BAND, -ZERO_BAND, np.nextafter(ZERO_BAND, 1), 5e-324, -5e-324, 1e-45])


# As a category: next to nothing, fractions, negative numbers, and ones that are too large for this or that library.
TINY = (0.0, -0.0, 5e-324, -5e-324, 1e-300, -1e-300, 1e-45, -1e-45, 2.0**-150, -(2.0**-150), -1e-3)
FRACTIONS = (0.5, -0.5, 2.5, -1.0, np.nextafter(-1.0, 0), np.nextafter(-1.0, -2), -2.0, -7.0, 2.0**31 - 0.5)
FAR = (255, 256, 2**24 - 1, 2**24, 2**24 + 1, 2**31 - 1, 2**31, -(2**31), 2**32, 2**32 + 1, 2**53, 2**63, 2**64)
NO_CATEGORIES = np.array([*TINY, *FRACTIONS, *FAR, 1e30, -1e30], dtype=float)


def samples(ensemble, X, n_points, rng):
    """Named inputs in float64: the training data, random, on thresholds and, where NaN is an input, with gaps."""
    found = {"training": accepted(ensemble, X), "random": random_points(X, n_points, rng)}
    for feature, categories in enumerate(ensemble.categories):
        if categories is not None:
            codes = rng.choice(np.append(np.unique(X[~np.isnan(X[:, feature]), feature]), categories.codes), n_points)
            is_code = rng.random(n_points) < 0.8
            found["random"][is_code, feature] = codes[is_code]
    found["thresholds"] = points_on_thresholds(ensemble, X, n_points, rng)
    if ensemble.nan_features.any():
        points = points_on_thresholds(ensemble, X, n_points, rng)
        share = rng.choice([0.1, 0.4, 1.0], size=(n_points, 1), p=[0.5, 0.45, 0.05])
        points[(rng.random(points.shape) < share) & ensemble.nan_features] = np.nan
        found["gaps"] = points
    return found


def accepted(ensemble, X):
    """The rows that the ensemble takes: without gaps in the features where NaN is no input."""
    return X[~np.isnan(X[:, ~ensemble.nan_features]).any(axis=1)]


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
        categories = ensemble.categories[feature]
        if values.size:
            candidates = beside(values) if categories is None else around_categories(categories)
            chosen = rng.choice(candidates, size=n_points)
            points[:, feature] = np.where(rng.random(n_points) < 0.85, chosen, points[:, feature])
        near_zero = rng.random(n_points) < 0.03
        points[near_zero, feature] = rng.choice(BESIDE_ZERO, size=near_zero.sum())
    return points


def around_categories(categories):
    """The codes, twice as often as what lies beside them, fractions, and numbers that are no category."""
    codes = np.array(categories.codes)
    others = np.concatenate([beside(codes), beside(categories.low), beside(categories.high), codes - 0.5, codes + 0.5])
    others = np.concatenate([others, codes - 1, codes + 1, np.repeat(NO_CATEGORIES, 1 + len(others) // 200)])
    return np.concatenate([others, np.resize(codes, 2 * len(others))])


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
