"""A walk from markers to torques: the body is fitted, followed and weighed, and its torques repeat the walk."""

import numpy as np

from kinetree import human

trial = human.synthetic_walk(seconds=2.4, noise=0.001)
subject = human.fit(trial, epochs=10)
motion = human.follow(subject, trial)
result = human.inverse_dynamics(subject, motion, forces="plates")
guess = human.inverse_dynamics(subject, motion, forces="contact")

apart = (guess.ground.force - result.ground.force)[15:-15, :, 2]
gap = np.sqrt(np.mean(apart**2)) / result.ground.force[..., 2].max()
stride = result.gait.measures["stride_time_right_s"]
print(f"{subject.mass:.1f} kg, markers within {1000 * motion.marker_rms:.1f} mm")
print(f"residual force {100 * result.residual_share:.1f} % of the peak; contact for plates: {100 * gap:.1f} % apart")
print(f"stride {stride:.2f} s, positive work {result.energetics.total_positive:.0f} J")

assert abs(subject.mass - 75.0) < 4.0, "the plates weigh the person"
assert motion.marker_rms < 0.005, "1 mm of noise, and little more"
assert result.residual_share < 0.05, "the plates explain the movement"
assert gap < 0.10, "ground forces from contact come close to those of plates"
assert human.forward(subject, result).joint_rms.max() < 0.02, "the torques repeat the walk"
