"""A decision tree: questions about one place of an answer after the other, each the one that tells most.

Every feature is a number of each answer: what is at a place (kinds stand below all numbers), and the last bit of what
is a float. Features are cut at up to 31 quantiles, and a leaf is split by the cut that makes the log-likelihood of the
inputs largest, while both sides keep enough answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indistinct.audit.outputs import Codes, Floats, Outputs, last_bits

__all__ = ["Tree"]

_CUTS = 31
_DEPTH = 6
_LEAST = 25
_PRIOR = 0.5
_GAIN = 6.0  # nats: splits that gain less are chance


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The splits by the number of their node (children of i are 2 i + 1 and 2 i + 2) and the log ratio of each node."""

    cuts: tuple[Floats, ...]
    feature: Codes  # -1 for a leaf
    cut: Codes
    ratio: Floats

    @classmethod
    def of(cls, first: Outputs, second: Outputs) -> Tree:
        """Grown on answers on both inputs."""
        rows = np.concatenate([_features(first), _features(second)])
        cuts = tuple(
            np.unique(np.quantile(column, np.arange(1, _CUTS + 1) / (_CUTS + 1), method="lower")) for column in rows.T
        )
        binned = _binned(rows, cuts)
        label = np.concatenate([np.ones(len(first)), np.zeros(len(second))])
        size = 2 ** (_DEPTH + 1) - 1
        tree = cls(cuts, np.full(size, -1), np.zeros(size, dtype=np.int64), np.zeros(size))
        tree._grow(0, binned, label)
        return tree

    def scores(self, outputs: Outputs) -> Floats:
        """The log ratio of the leaf."""
        binned = _binned(_features(outputs), self.cuts)
        node = np.zeros(len(outputs), dtype=np.int64)
        for _ in range(_DEPTH):
            feature = self.feature[node]
            inner = feature >= 0
            right = binned[np.arange(len(node)), np.maximum(feature, 0)] > self.cut[node]
            node = np.where(inner, 2 * node + 1 + right, node)
        return self.ratio[node]

    def event(self, threshold: float, *, above: bool) -> str:
        """A likelihood ratio."""
        side = "at least" if above else "less than"
        return f"{side} e^{threshold:.4g} times as likely on the first input, by a decision tree"

    def _grow(self, node: int, binned: Codes, label: Floats) -> None:
        mine = label.sum()
        self.ratio[node] = np.log((mine + _PRIOR) / (len(label) - mine + _PRIOR))
        if 2 * node + 2 >= len(self.feature) or len(label) < 2 * _LEAST:
            return
        best = (_GAIN, -1, 0)
        whole = _fit(np.array(mine, dtype=np.float64), np.array(len(label), dtype=np.float64))
        for feature, cuts in enumerate(self.cuts):
            size = len(cuts) + 1
            total = np.cumsum(np.bincount(binned[:, feature], minlength=size).astype(np.float64))[:-1]
            ones = np.cumsum(np.bincount(binned[:, feature], weights=label, minlength=size).astype(np.float64))[:-1]
            gain = _fit(ones, total) + _fit(mine - ones, len(label) - total) - whole
            gain[(total < _LEAST) | (len(label) - total < _LEAST)] = 0.0
            if len(gain) and gain.max() > best[0]:
                best = float(gain.max()), feature, int(gain.argmax())
        if best[1] < 0:
            return
        self.feature[node], self.cut[node] = best[1:]
        right = binned[:, best[1]] > best[2]
        self._grow(2 * node + 1, binned[~right], label[~right])
        self._grow(2 * node + 2, binned[right], label[right])


def _fit(ones: Floats, total: Floats) -> Floats:
    """The log-likelihood of the labels, with the share of ones that is seen."""
    share = np.clip(ones / np.maximum(total, 1), 1e-12, 1 - 1e-12)
    fit: Floats = ones * np.log(share) + (total - ones) * np.log1p(-share)
    return fit


def _features(outputs: Outputs) -> Floats:
    features = []
    for column in outputs.columns:
        features.append(np.where(column.kinds >= 0, -1e308 + 1e300 * column.kinds, column.numbers))
        if column.has_floats:
            features.append(last_bits(column.numbers))
    return np.stack(features, axis=1)


def _binned(rows: Floats, cuts: tuple[Floats, ...]) -> Codes:
    return np.stack(
        [np.searchsorted(cut, column, side="left") for cut, column in zip(cuts, rows.T, strict=True)], axis=1
    )
