"""The drawing of the contest shows the numbers of its table."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")

from matplotlib.lines import Line2D  # noqa: E402  # only where it is installed

from indistinct import CutSketch  # noqa: E402
from indistinct.figures import draw_cuts  # noqa: E402
from indistinct.mechanisms.sketches.comparison import contest, sketch_error  # noqa: E402
from indistinct.mechanisms.sketches.generators import planted_partition  # noqa: E402


def test_points_are_what_was_measured_and_lines_what_is_expected() -> None:
    plan = CutSketch.plan(nodes=200, epsilon=1, delta="1e-6", eta="0.5", nu="0.05")
    found = contest(planted_partition(200, 20), plan, cuts=50, sizes=(1, 10, 100))
    left, right = draw_cuts(found)["cuts-compared"].axes
    points = {str(line.get_label()): line for line in left.lines if line.get_linestyle() == "None"}
    assert set(points) == {contender.name for contender in found.contenders}
    for contender in found.contenders:
        np.testing.assert_array_equal(points[contender.name].get_xdata(), found.sizes)
        np.testing.assert_array_equal(points[contender.name].get_ydata(), contender.measured or contender.expected)
    thick = [line for line in left.lines if line.get_linewidth() == 2 and line.get_linestyle() == "-"]
    assert len(thick) == 1
    sizes, errors = np.asarray(thick[0].get_xdata()), np.asarray(thick[0].get_ydata())
    assert (sizes[0], sizes[-1]) == (1, 100)
    assert errors[-1] == sketch_error(plan, found.edges, 100)
    rising = [line for line in right.lines if len(np.asarray(line.get_xdata())) > 2]
    flat: list[Line2D] = [line for line in right.lines if line not in rising]
    assert len(rising) == 3
    assert all(np.all(np.diff(np.asarray(line.get_ydata())) > 0) for line in rising)
    assert sketch_error(plan, found.edges, 10) in [np.asarray(line.get_ydata())[0] for line in flat]
