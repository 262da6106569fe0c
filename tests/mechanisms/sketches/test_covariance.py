"""The sketch of a matrix, where its covariance is as good as singular."""

from __future__ import annotations

import numpy as np
import pytest

from indistinct import CovarianceSketch
from indistinct.errors import InvalidParameter


def test_no_matrix_is_refused_for_its_rank() -> None:
    """A root of the covariance exists whatever the data are; a weight that hides nothing is refused before them."""
    sketch = CovarianceSketch(columns=2, r=4, w="1e-6")
    for rows in (np.ones((10_000, 2)), np.zeros((3, 2)), np.eye(2)):
        assert np.isfinite(sketch.release(rows).matrix()).all()
    with pytest.raises(InvalidParameter, match="a millionth of the bound"):
        CovarianceSketch(columns=2, r=4, w="1e-9")
