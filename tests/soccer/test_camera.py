"""The camera: late by what it was told, wrong by what it was told, and the same again for the same seed."""

from __future__ import annotations

from itertools import pairwise
from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from formiga.errors import FormigaError
from formiga.soccer.camera import PATCH, Camera

DT = 0.033
ON = np.ones((2, 3), bool)


def scene(time):
    """Robots on circles, a ball on a line: places, and the velocities that go with them."""
    number = np.arange(6)
    turn = 0.5 + 0.1 * number
    angle = turn * time + number
    robots = np.stack([0.4 * np.cos(angle), 0.4 * np.sin(angle), angle + 0.5 * pi, -0.4 * turn * np.sin(angle),
                       0.4 * turn * np.cos(angle), turn], axis=-1)
    return np.array([0.3 * time - 0.5, 0.1 * time, 0.3, 0.1]), robots.reshape(2, 3, 6)


def film(camera, frames, seed=0, cuts=()):
    vision = camera.start(seed, DT)
    seen = []
    for k in range(frames):
        if k in cuts:
            vision.cut()
        seen.append(vision.look(k * DT, *scene(k * DT), ON))
    return seen


def wrapped(angle):
    return (angle + pi) % (2.0 * pi) - pi


def test_a_perfect_camera_shows_what_is():
    for k, sight in enumerate(film(Camera(), 200)):
        ball, robots = scene(k * DT)
        assert (sight.frame, sight.time) == (k, pytest.approx(k * DT))
        assert_array_equal(sight.ball, ball)
        assert_allclose(np.delete(sight.robots, 2, axis=-1), np.delete(robots, 2, axis=-1))
        assert_allclose(wrapped(sight.robots[..., 2] - robots[..., 2]), 0.0, atol=1e-12)
        assert (sight.robots[..., 2] > -pi).all() and (sight.robots[..., 2] <= pi).all()
        assert sight.present.all()


@pytest.mark.parametrize("late", [1.0, 2.0, 0.5, 1.25, 3.7])
def test_latency_shows_the_past_also_between_two_steps(late):
    sights = film(Camera(latency=late * DT), 50)
    for k, sight in enumerate(sights):
        then = max(0.0, k - late) * DT  # the first picture stands until a later one is due
        assert sight.frame == k
        assert sight.time == pytest.approx(then, abs=1e-9)
        ball, robots = scene(then)
        assert_allclose(sight.ball, ball, atol=1e-9)
        assert_allclose(sight.robots[..., :2], robots[..., :2], atol=1e-4)  # a chord of a circle


def test_nobody_sees_the_way_from_before_a_break_to_after_it():
    """Placed by hand between pictures 9 and 10: with any latency a ball is on one side or the other, never between."""
    vision = Camera(latency=1.5 * DT, velocity="difference").start(0, DT)
    for k in range(20):
        if k == 10:
            vision.cut()
        there = np.array([-0.5 if k < 10 else 0.5, 0.0, 0.0, 0.0])
        sight = vision.look(k * DT, there, scene(0.0)[1], ON)
        assert abs(sight.ball[0]) == 0.5 and (sight.ball[0] > 0) == (k >= 12)
        assert_array_equal(sight.ball[2:], 0.0)


def test_noise_has_the_spread_that_was_asked_for_and_no_bias():
    sights = film(Camera(noise=0.004), 2000)
    off = np.array([sight.robots for sight in sights]) - np.array([scene(k * DT)[1] for k in range(2000)])
    place, heading = off[..., :2].ravel(), wrapped(off[..., 2]).ravel()
    for sample, sigma in ((place, 0.004), (heading, 0.004 / PATCH)):
        assert abs(sample.mean()) < 4.0 * sigma / np.sqrt(sample.size)
        assert sample.std() == pytest.approx(sigma, rel=4.0 / np.sqrt(2 * sample.size))
    ball = np.array([sight.ball - scene(k * DT)[0] for k, sight in enumerate(sights)])
    assert ball[:, :2].std() == pytest.approx(0.004, rel=0.1) and not ball[:, 2:].any()  # velocities are true


def test_the_same_seed_gives_the_same_pictures_and_another_seed_others():
    camera = Camera(latency=0.01, noise=0.003, vanish=0.1, velocity="difference")
    one, same, other = (film(camera, 60, seed) for seed in (5, 5, 6))
    for a, b in zip(one, same, strict=True):
        for x, y in zip(a, b, strict=True):
            assert_array_equal(x, y)
    assert not np.array_equal(one[30].robots, other[30].robots)


def test_a_picture_does_not_depend_on_how_many_there_were_before():
    """Noise is hashed from the number of the picture, not drawn from a sequence."""
    camera = Camera(noise=0.003)
    long, short = film(camera, 40), camera.start(0, DT)
    short._frame = 39
    assert_array_equal(short.look(39 * DT, *scene(39 * DT), ON).robots, long[39].robots)


def test_who_is_overlooked_is_not_present_and_stays_where_it_was_seen():
    sights = film(Camera(vanish=0.2), 3000)
    present = np.array([sight.present for sight in sights])
    assert present.mean() == pytest.approx(0.8, abs=4.0 * 0.4 / np.sqrt(present.size))
    for before, sight in pairwise(sights):
        assert_array_equal(sight.robots[~sight.present], before.robots[~sight.present])
    still = np.mean([np.array_equal(a.ball, b.ball) for a, b in pairwise(sights)])
    assert still == pytest.approx(0.2, abs=0.03)


def test_who_is_switched_off_is_not_present():
    on = ON.copy()
    on[1, 2] = False
    sight = Camera().start(0, DT).look(0.0, *scene(0.0), on)
    assert_array_equal(sight.present, on)


def test_velocities_from_two_pictures_are_true_to_the_first_order_and_noisy_by_the_square_root_of_two():
    for k, sight in list(enumerate(film(Camera(velocity="difference"), 100)))[1:]:
        ball, robots = scene((k - 0.5) * DT)
        assert_allclose(sight.ball[2:], ball[2:], atol=1e-9)
        assert_allclose(sight.robots[..., 3:], robots[..., 3:], atol=1e-4)  # also the spin, where a heading wraps
    noisy = film(Camera(velocity="difference", noise=0.001), 2000)
    off = np.array([sight.ball[2:] - scene(0.0)[0][2:] for sight in noisy[1:]])
    assert off.std() == pytest.approx(0.001 * np.sqrt(2.0) / DT, rel=0.1)


@pytest.mark.parametrize("given", [{"latency": -0.1}, {"noise": float("nan")}, {"vanish": 1.5}, {"velocity": "guessed"}])
def test_a_camera_that_there_cannot_be_is_refused(given):
    with pytest.raises(FormigaError, match="a camera's"):
        Camera(**given)
