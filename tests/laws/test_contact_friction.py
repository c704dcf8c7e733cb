"""Dry friction between bodies that touch, <contact friction="...">: Coulomb's cone, momentum, energy; and Chipmunk's answer."""

import numpy as np
import pymunk
import pytest

from formiga.engine.planar.impulse import impact
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.world.model import Ball, Block, Contact, Group, Puck, Wall, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import MiroSot
from tests.engine.test_impulse import body_of, chipmunk, free, near_pairs, parts_of
from tests.reference import impacts as plain


def room(*things, friction=0.0, groups=(), dt=0.033, **contact):
    return Simulation(World(dt=dt, contact=Contact("impulse", friction=friction, **contact), things=things, groups=groups))


def test_impacts_with_friction_stay_in_the_cone_keep_momentum_and_never_gain_energy(rng):
    """|k| <= mu j; where k is within the cone nothing slips afterwards, else it is against the slip that is left. [Coulomb]"""
    made, moving, _, contacts = near_pairs(rng, 400)
    pose, speed = parts_of(moving)
    stuck = slid = 0
    for one, other, m in contacts:
        eps, mu = rng.uniform(0.0, 1.0), rng.uniform(0.05, 1.5)
        n, t, p = np.array([m.nx, m.ny]), np.array([-m.ny, m.nx]), np.array([m.px, m.py])
        a, b = (body_of(k, made, pose, speed) for k in (one, other))
        v = n @ (a.point_velocity(p) - b.point_velocity(p))
        j = impact.collide(one, other, *n, *p, eps, mu, made.fact, moving, free(made))
        ours = [body_of(k, made, pose, speed) for k in (one, other)]
        if v >= 0.0:
            assert j == 0.0
            continue
        given = a.mass * (ours[0].velocity - a.velocity)
        k, later = given @ t, ours[0].point_velocity(p) - ours[1].point_velocity(p)
        assert given @ n == pytest.approx(j, abs=1e-12) and abs(k) <= mu * j * (1.0 + 1e-9)
        np.testing.assert_allclose(plain.momentum(*ours), plain.momentum(a, b), atol=1e-10)
        assert plain.angular_momentum(*ours) == pytest.approx(plain.angular_momentum(a, b), abs=1e-10)
        assert plain.kinetic(*ours) <= plain.kinetic(a, b) + 1e-12
        assert -1e-9 <= n @ later <= -eps * v + 1e-9
        if abs(k) < mu * j * (1.0 - 1e-9):
            stuck += 1
            assert t @ later == pytest.approx(0.0, abs=1e-9)
        else:
            slid += 1
            assert (t @ later) * k <= 1e-12
    assert stuck > 40 and slid > 40


def test_impacts_with_friction_are_those_of_chipmunk(rng):
    """Its friction is the product of both shapes', its iterations solve for both impulses. Where Newton's restitution would
    make energy, ours is lower and chipmunk's is not: there they are not compared."""
    made, moving, things, contacts = near_pairs(rng, 400)
    pose, speed = parts_of(moving)
    hits = 0
    for one, other, m in contacts:
        eps, mu = rng.uniform(0.0, 1.0), rng.uniform(0.05, 1.0)
        space = pymunk.Space(threaded=False)
        space.iterations, space.collision_slop, space.collision_bias = 300, 0.0, 1.0
        theirs = [chipmunk(things[k], pose[k], speed[k], made, k, eps**0.5) for k in (one, other)]
        for _, shape in theirs:
            shape.friction = mu**0.5
        space.add(*(part for both in theirs for part in both))
        before = sum(body.kinetic_energy for body, _ in theirs)
        space.step(1e-9)
        j = impact.collide(one, other, m.nx, m.ny, m.px, m.py, eps, mu, made.fact, moving, free(made))
        if sum(body.kinetic_energy for body, _ in theirs) > before * (1.0 - 1e-9) and j > 0.0:
            continue
        hits += j > 0.0
        for k, (body, _) in zip((one, other), theirs):
            np.testing.assert_allclose(speed[k], [*body.velocity, body.angular_velocity], rtol=1e-3, atol=5e-3)
    assert hits > 100


@pytest.mark.parametrize("mu, degrees", [(0.1, 45.0), (0.3, 60.0), (0.3, 20.0), (1.0, 45.0)])
def test_a_puck_that_hits_a_wall_slides_or_rolls_on_by_the_closed_form(mu, degrees):
    """v_t' = v_t - mu (1 + eps) v_n while it slides; if that were less than 2/3 v_t, it rolls: v_t' = 2/3 v_t, omega r = v_t'.

    The contact point is halfway between disc and wall, which are up to half a millimetre apart."""
    eps, along, into = 0.5, np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    simulation = room(Wall((0.2, -2.0, 0.2, 2.0)), Puck(0.1, 0.0, 0.03, friction=0.0, wall_restitution=eps), friction=mu)
    movable = simulation.state.movables[0, 0]
    movable[3], movable[4] = into, along
    for _ in range(9):
        simulation.step()
    later = max(along - mu * (1.0 + eps) * into, 2.0 / 3.0 * along)
    assert movable[3:5] == pytest.approx([-eps * into, later], abs=1e-3)
    assert abs(movable[5]) * 0.03 == pytest.approx(2.0 * (along - later), abs=5e-3)


@pytest.mark.parametrize("speed", [0.3, 1.3])
def test_a_ball_that_is_held_at_a_board_a_millimetre_off_centre_stays_with_friction(speed):
    """The paper has none between bodies: there the robot turns about the ball, and squeezes it out."""
    radius, half, left = Ball().radius, 0.0375, {}
    for friction in (0.0, 0.2):
        simulation = room(Ball(x=0.0, y=0.001), Wall((radius + 0.001, -1.0, radius + 0.001, 1.0)), friction=friction,
                          groups=(Group(MiroSot(), 1, "r", (At(-half - radius - 0.02, 0.0, 0.0),)),))
        fastest = 0.0
        for _ in range(45):
            simulation.step({"r": np.full((1, 1, 2), speed)})
            fastest = max(fastest, np.hypot(*simulation.state.movables[0, 0, 3:5]))
        left[friction] = fastest, abs(simulation.state.movables[0, 0, 1])
    assert left[0.0][0] > 0.8 * speed and left[0.0][1] > 0.1
    assert left[0.2][0] < 0.1 * speed and left[0.2][1] < 0.003


@pytest.mark.parametrize("mu", [0.1, 0.4])
def test_what_is_pushed_along_a_wall_is_slowed_by_mu_times_what_presses(mu):
    """A free block flies into a wall at a slant, flush: after the hit it slides on with v_t - mu v_n, and stays flush."""
    simulation = room(Wall((-3.0, 0.0, 3.0, 0.0)), Block(0.0, 0.031, width=0.2, depth=0.06, friction=0.0), friction=mu)
    movable = simulation.state.movables[0, 0]
    movable[3], movable[4] = 1.0, -0.5
    for _ in range(10):
        simulation.step()
    assert movable[4] == pytest.approx(0.0, abs=0.05) and movable[3] == pytest.approx(1.0 - mu * 0.5, abs=0.03)


def test_without_friction_nothing_is_rubbed():
    """friction 0 is the engine of the paper: an impulse along the normal, and none across."""
    simulation = room(Wall((0.2, -2.0, 0.2, 2.0)), Puck(0.1, 0.0, 0.03, friction=0.0, wall_restitution=0.5))
    movable = simulation.state.movables[0, 0]
    movable[3], movable[4] = 1.0, 0.7
    for _ in range(6):
        simulation.step()
    assert (movable[4], movable[5]) == (0.7, 0.0) and movable[3] == pytest.approx(-0.5)


@pytest.mark.parametrize("engine, model, words", [
    ("planar", "stop", 'needs bodies with masses: model="impulse"'), ("spatial", "impulse", "<material> and <touch> set it")])
def test_friction_is_refused_where_nothing_would_rub(engine, model, words):
    text = f'<world engine="{engine}"><contact model="{model}" friction="0.2"/><arena width="1" depth="1"/></world>'
    with pytest.raises(WorldError, match="<text>:1: <contact> friction") as wrong:
        Simulation(read_text(text))
    assert words in str(wrong.value)
