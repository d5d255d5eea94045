"""The parts of the way from markers to torques, each by itself: rates, filters, repairs, rigid fits, samplings."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.human.following import rigid
from kinetree.human.gait import _peaks
from kinetree.human.quality import drop_jumps, fill_gaps, outliers, unswap, usable_frames
from kinetree.human.rates import low_pass, motion_of_q


def test_rates_of_quaternions():
    """A constant spin has its constant rate, and an angular acceleration its own."""
    model = kt.ModelBuilder().body("b", joint=kt.Free(), mass=1, inertia=np.eye(3)).build()
    times = np.linspace(0, 1, 201)
    q = np.zeros((201, 7))
    angle = 0.5 * times + 0.8 * times**2
    q[:, 0], q[:, 2] = np.cos(angle / 2), np.sin(angle / 2)
    q[:, 4] = times**3
    q[100:, :4] *= -1  # the same turns
    _, v, a = motion_of_q(model, times, q, None)
    np.testing.assert_allclose(v[:, 1], 0.5 + 1.6 * times, atol=1e-6)
    np.testing.assert_allclose(a[:, 1], 1.6, atol=1e-4)
    np.testing.assert_allclose(a[:, 3], 6 * times, atol=1e-6)


def test_the_filter_has_no_lag_and_half_power_at_its_frequency():
    """A slow wave passes, one at the frequency loses 3 dB, a fast one is gone; nothing is delayed."""
    times = np.arange(2000) / 200.0
    for frequency, low, high in ((1.0, 0.99, 1.01), (6.0, 0.66, 0.75), (30.0, -0.01, 0.01)):
        wave = np.sin(2 * np.pi * frequency * times)
        out = low_pass(wave[:, None], times, 6.0)[:, 0]
        inside = slice(500, 1500)
        gain = (out[inside] @ wave[inside]) / (wave[inside] @ wave[inside])
        assert low <= gain <= high, (frequency, gain)


def test_the_parts_of_repair():
    """Each finds what it is for, and nothing in a clean path."""
    times = np.arange(60) / 100.0
    path = np.column_stack((times, np.sin(times), 1 + 0 * times))
    two = np.stack((path, path + np.array([0, 0.3, 0])), axis=1)
    for function in (drop_jumps, unswap, fill_gaps):
        same, faults = function(two, ["a", "b"], times)
        np.testing.assert_array_equal(same, two)
        assert faults == []
    bad = two.copy()
    bad[20:23, 0] = np.nan
    filled, faults = fill_gaps(bad, ["a", "b"], times)
    np.testing.assert_allclose(filled, two, atol=1e-6)
    assert "frames 20 to 22" in str(faults[0])
    errors = np.full((60, 2), 0.005)
    errors[10, 1] = 0.2
    far, faults = outliers(errors, ["a", "b"])
    assert far.sum() == 1
    assert "20.0 cm" in str(faults[0])
    bad[:30] = np.nan
    assert usable_frames(np.repeat(bad, 3, axis=1), np.ones(6), times) == (30, 59)


def test_a_rigid_fit_is_exact():
    """Kabsch returns the motion of a rigid cloud."""
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(0)
    points, turn = rng.normal(size=(7, 3)), Rotation.random(random_state=1).as_matrix()
    found, shift = rigid(points, points @ turn.T + [1, 2, 3], np.ones(7))
    np.testing.assert_allclose(found, turn, atol=1e-12)
    np.testing.assert_allclose(shift, [1, 2, 3], atol=1e-12)


def test_swaps_and_jumps_are_mended():
    """Two paths that change places get them back; a sample far off becomes a gap."""
    times = np.arange(80) / 100.0
    path = np.column_stack((times, np.sin(times), 1 + 0 * times))
    two = np.stack((path, path + np.array([0, 0.3, 0])), axis=1)
    swapped = two.copy()
    swapped[40:] = swapped[40:, ::-1]
    mended, faults = unswap(swapped, ["a", "b"], times)
    np.testing.assert_allclose(mended, two)
    assert "change places" in str(faults[0])
    jumped = two.copy()
    jumped[30:32, 1] += 1.0
    mended, faults = drop_jumps(jumped, ["a", "b"], times)
    assert np.isnan(mended[30:32, 1]).all()
    assert np.isfinite(mended).all(2).sum() == 158
    assert "jumps" in str(faults[0])


def test_peaks_of_a_stride():
    """One peak a stride, where the foot is farthest ahead."""
    times = np.arange(300) / 100.0
    found = _peaks(0.4 * np.sin(2 * np.pi * times), times)
    np.testing.assert_allclose(times[found], [0.25, 1.25, 2.25], atol=0.02)
