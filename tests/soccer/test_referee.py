"""Each rule on a small made-up sequence of positions, for both sides; the places after a call, and what a team may wish."""

from __future__ import annotations

from itertools import product
from math import pi

import numpy as np
import pytest
from shapely.geometry import Point, Polygon

from formiga.errors import FormigaError
from formiga.soccer import league, placing
from formiga.soccer.referee import NO_TEAM, RULES, Phase, Referee, Snapshot
from formiga.soccer.talk import BLUE, YELLOW, Call, Foul
from formiga.world.field import Field

DT = 0.05
FIELD = Field()
FAR = [[(-0.3, 0.4), (-0.3, 0.2), (-0.3, -0.4)], [(0.3, 0.4), (0.3, 0.2), (0.3, -0.4)]]  # none in a goal area
TEAMS = pytest.mark.parametrize("team", [BLUE, YELLOW], ids=["blue", "yellow"])


class Game:
    """A referee and the time. `play` gives it the same scene for so many seconds; what it decided comes back."""

    def __init__(self, rules="mirosot", **options):
        self.referee = Referee(FIELD, 3, rules, **options)
        self.time = 0.0
        self.begun = self.referee.begin()

    def play(self, seconds, ball=(0.0, 0.0, 0.0, 0.0), robots=FAR, until=None, **more):
        decided = []
        for _ in range(round(seconds / DT)):
            self.time += DT
            ball_now = ball(self.time) if callable(ball) else ball
            decided += self.referee.watch(Snapshot(self.time, ball_now, robots, **more))
            if until is not None and any(each.kind == until for each in decided):
                break
        return [each for each in decided if each.kind not in ("stop", "game on")] if until is None else decided

    def on(self):
        """Let the kick-off pass."""
        self.play(20.0, until="game on")
        assert self.referee.phase is Phase.PLAYING
        return self


def rolling(time):
    """A ball that is never stuck: 0.4 m/s around the centre."""
    return 0.2 * np.cos(2.0 * time), 0.2 * np.sin(2.0 * time), 0.4, 0.0


def in_area(team, robots, ball=True):
    """A scene with that many robots of each team in `team`'s goal area, and the ball, or not."""
    side = league.side(team)
    places = [list(map(tuple, each)) for each in FAR]
    for who, count in enumerate(robots):
        for number in range(count):
            places[who][number] = (side * -0.70, side * (-0.25 + 0.12 * number + 0.3 * who))
    return {"ball": (side * -0.65, 0.0, 0.0, 0.0) if ball else (0.0, 0.0, 0.0, 0.0), "robots": places}


# -- goals and the clock ----------------------------------------------------------------------------------------------
@TEAMS
def test_a_goal_is_a_ball_whose_centre_has_passed_the_line_and_the_other_team_kicks_off(team):
    game, side = Game().on(), league.side(team)
    assert game.play(DT, ball=(side * 0.75, 0.1, 0.0, 0.0)) == []  # on the line
    goal, = game.play(DT, ball=(side * 0.7501, 0.1, 0.0, 0.0))
    assert (goal.kind, goal.team, goal.call.foul, goal.call.team) == ("goal", team, Foul.KICKOFF, 1 - team)
    assert game.referee.score[team] == 1 and game.referee.score[1 - team] == 0
    assert game.play(0.5, ball=(side * 0.80, 0.1, 0.0, 0.0)) == []  # it is not another goal while it lies there
    assert game.referee.game.score == ((1, 0) if team == BLUE else (0, 1))


def test_the_sequence_is_call_stop_game_on_with_the_waits_of_the_rules():
    for name in ("mirosot", "vsss"):
        game, rules = Game(name), RULES[name]
        assert [each.call.foul for each in game.begun] == [Foul.KICKOFF]
        stop = game.play(30.0, until="stop")
        on = game.play(30.0, until="game on")
        assert [each.call.foul for each in stop + on] == [Foul.STOP, Foul.GAME_ON]
        assert [each.call.team for each in stop + on] == [NO_TEAM, NO_TEAM]
        assert stop[0].time == pytest.approx(rules.placing) and on[0].time == pytest.approx(rules.placing + rules.standing)
        assert game.referee.clock == 0.0


def test_by_vsss_everything_is_placed_8_s_after_a_goal_and_4_s_after_other_calls():
    """Twice the transition time, and then that time until GAME_ON. [VSSReferee]"""
    for ball, first in (((0.8, 0.0, 1.0, 0.0), 8.0), ((0.3, 0.2, 0.0, 0.0), 4.0)):
        game = Game("vsss").on()
        game.play(6.0, ball, until="goal" if first == 8.0 else "free ball")
        called = game.referee.log[-1].time
        game.play(20.0, until="game on")
        assert [each.time - called for each in game.referee.log[-2:]] == [pytest.approx(first, abs=DT),
                                                                          pytest.approx(first + 4.0, abs=2 * DT)]


def test_two_teams_that_have_said_where_they_stand_need_not_wait_in_mirosot_but_do_in_vsss():
    for name, early in (("mirosot", True), ("vsss", False)):
        referee = Referee(FIELD, 3, name)
        referee.begin()
        decided = referee.watch(Snapshot(DT, (0.0, 0.0, 0.0, 0.0), FAR), ready=True)
        assert [each.kind for each in decided] == (["stop"] if early else [])


def test_the_clock_runs_only_while_the_game_is_on_and_the_other_team_begins_the_second_half():
    game = Game(half_seconds=30.0, first=YELLOW).on()
    half, = game.play(40.0, ball=rolling, until="half")
    assert (half.call.foul, half.call.team, half.call.half) == (Foul.KICKOFF, BLUE, 2)
    assert game.time == pytest.approx(30.0 + 2.0, abs=2 * DT)  # a kick-off of two seconds before it
    game.on()
    end, = game.play(40.0, ball=rolling, until="end")
    assert (end.call.foul, end.call.team) == (Foul.HALT, NO_TEAM) and game.referee.over
    assert game.play(5.0, ball=(0.8, 0.0, 0.0, 0.0)) == [] and game.referee.score == [0, 0]


def test_a_single_half_is_a_match_too():
    game = Game(half_seconds=5.0, halves=1).on()
    assert [each.kind for each in game.play(6.0, ball=rolling)] == ["end"]


# -- a ball that is stuck ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("x, y, quadrant", [(0.3, 0.2, 1), (-0.3, 0.2, 2), (-0.3, -0.2, 3), (0.3, -0.2, 4)])
@pytest.mark.parametrize("rules, seconds", [("mirosot", 10.0), ("vsss", 5.0)])
def test_a_ball_that_lies_still_is_a_free_ball_in_its_quadrant(x, y, quadrant, rules, seconds):
    game = Game(rules).on()
    began = game.time
    free, *more = game.play(seconds + 0.5, ball=(x, y, 0.0, 0.0))
    assert (free.call.foul, free.call.team, free.call.quadrant) == (Foul.FREE_BALL, NO_TEAM, quadrant) and not more
    assert free.time - began == pytest.approx(seconds, abs=2 * DT)


def test_by_the_paper_a_ball_that_creeps_5_cm_in_10_s_is_not_stuck_and_by_vsss_only_speed_counts():
    creeping = lambda speed: lambda time: (speed * time - 0.3, 0.3, speed, 0.0)  # noqa: E731
    assert Game().on().play(25.0, ball=creeping(0.006)) == []
    assert [each.kind for each in Game().on().play(15.0, ball=creeping(0.004))] == ["free ball"]
    assert Game("vsss").on().play(5.0, ball=creeping(0.11)) == []
    assert [each.kind for each in Game("vsss").on().play(5.5, ball=creeping(0.09))] == ["free ball"]
    shaking = lambda time: (0.3 + 0.02 * np.sin(20.0 * time), 0.3, 0.4, 0.0)  # noqa: E731
    assert [each.kind for each in Game().on().play(11.0, ball=shaking)] == ["free ball"]
    assert Game("vsss").on().play(11.0, ball=shaking) == []


# -- goal areas -------------------------------------------------------------------------------------------------------
@TEAMS
def test_two_defenders_with_the_ball_in_their_area_are_a_penalty(team):
    robots = (2, 0) if team == BLUE else (0, 2)
    penalty, = Game().on().play(1.5, **in_area(team, robots))
    assert (penalty.call.foul, penalty.call.team) == (Foul.PENALTY_KICK, 1 - team)
    assert Game().on().play(0.8, **in_area(team, robots)) == []          # a moment is none
    assert Game().on().play(8.0, **in_area(team, robots, ball=False)) == []
    assert Game().on().play(8.0, **in_area(team, (1, 1))) == []


@TEAMS
def test_two_attackers_with_the_ball_in_the_area_are_a_goal_kick(team):
    robots = (0, 2) if team == BLUE else (2, 0)
    kick, = Game().on().play(1.5, **in_area(team, robots))
    assert (kick.call.foul, kick.call.team) == (Foul.GOAL_KICK, team)
    assert Game().on().play(8.0, **in_area(team, robots, ball=False)) == []


@TEAMS
def test_a_ball_that_stays_in_an_area_is_a_penalty_however_it_moves(team):
    side = league.side(team)
    game = Game().on()
    began = game.time
    penalty, = game.play(10.5, ball=lambda time: (side * -0.68, 0.3 * np.sin(2 * time), 0.0, 0.6 * np.cos(2 * time)))
    assert (penalty.call.foul, penalty.call.team) == (Foul.PENALTY_KICK, 1 - team)
    assert penalty.time - began == pytest.approx(10.0, abs=2 * DT)


def test_somebody_counts_as_inside_an_area_if_its_middle_is():
    for x, y, inside in ((-0.601, 0.349, True), (-0.599, 0.0, False), (-0.7, 0.351, False), (-0.8, 0.19, True),
                         (-0.8, 0.21, False)):
        assert league.in_goal_area(FIELD, x, y) == inside


@TEAMS
def test_by_vsss_a_foul_in_the_area_waits_for_what_comes_of_it(team):
    """It is called when the ball leaves the area, or after 3 s; a goal against two defenders counts."""
    side, robots = league.side(team), (2, 0) if team == BLUE else (0, 2)
    game = Game("vsss").on()
    assert game.play(2.5, **in_area(team, robots)) == []
    penalty, = game.play(DT, ball=(side * -0.3, 0.0, 1.0, 0.0))
    assert penalty.call.foul == Foul.PENALTY_KICK and penalty.call.team == 1 - team
    game = Game("vsss").on()
    penalty, = game.play(3.5, **in_area(team, robots))
    assert penalty.call.foul == Foul.PENALTY_KICK
    game = Game("vsss").on()
    game.play(1.0, **in_area(team, robots))
    goal, = game.play(DT, ball=(side * -0.76, 0.0, 0.0, 0.0))
    assert goal.kind == "goal" and game.referee.score[1 - team] == 1


@TEAMS
def test_by_vsss_a_goal_with_two_attackers_in_the_area_does_not_count(team):
    side, robots = league.side(team), (0, 2) if team == BLUE else (2, 0)
    game = Game("vsss").on()
    game.play(1.0, **in_area(team, robots))
    kick, = game.play(DT, ball=(side * -0.76, 0.0, 0.0, 0.0))
    assert (kick.call.foul, kick.call.team) == (Foul.GOAL_KICK, team) and game.referee.score == [0, 0]
    assert "does not count" in kick.why


# -- the rest -----------------------------------------------------------------------------------------------------------
def test_a_ball_that_was_lost_is_a_free_ball_where_it_was_put_back():
    free, = Game().on().play(DT, ball=(-0.2, -0.1, 0.0, 0.0), lost="the ball left the field")
    assert (free.call.foul, free.call.quadrant, free.why) == (Foul.FREE_BALL, 3, "the ball left the field")


def test_without_rules_goals_are_counted_once_each_and_nothing_is_called_until_the_end():
    game = Game("none", half_seconds=20.0, halves=1)
    assert [each.call.foul for each in game.begun] == [Foul.GAME_ON]
    for _ in range(2):
        goal, = game.play(2.0, ball=(0.8, 0.0, 0.0, 0.0))
        assert goal.kind == "goal" and goal.call is None
        assert game.play(1.0, **in_area(YELLOW, (2, 2))) == []
    assert game.referee.score == [2, 0]
    assert [each.kind for each in game.play(20.0)] == ["end"]


def test_every_decision_is_in_the_log_with_its_time_and_its_reason():
    game = Game(half_seconds=30.0, halves=1).on()
    game.play(60.0, ball=(0.3, 0.3, 0.0, 0.0))
    kinds = [each.kind for each in game.referee.log]
    assert kinds == ["kick-off", "stop", "game on", *["free ball", "stop", "game on"] * 3][:len(kinds) - 1] + ["end"]
    assert all(each.why for each in game.referee.log)
    assert np.all(np.diff([each.time for each in game.referee.log]) > 0.0)
    assert game.referee.calls == len(game.referee.log)


def test_the_goalkeeper_is_who_was_longest_in_the_own_area():
    game = Game().on()
    assert game.referee.keepers == (0, 0)
    robots = [[FAR[0][0], FAR[0][1], (-0.7, 0.0)], [FAR[1][0], (0.7, 0.1), FAR[1][2]]]
    game.play(2.0, ball=rolling, robots=robots)
    assert game.referee.keepers == (2, 1)


def test_rules_that_there_are_not_are_refused_with_those_that_there_are():
    with pytest.raises(FormigaError, match=r"no rules 'vss'.* Did you mean 'vsss'"):
        Referee(FIELD, 3, "vss")


# -- places -------------------------------------------------------------------------------------------------------------
CALLS = [Call(foul, team, 0, 1, 0.0) for foul in (Foul.KICKOFF, Foul.PENALTY_KICK, Foul.GOAL_KICK) for team in (0, 1)]
CALLS += [Call(Foul.FREE_BALL, NO_TEAM, quadrant, 1, 0.0) for quadrant in (1, 2, 3, 4)]


def stage(players=3, preset="mirosot", shape="square"):
    world = league.world(players, preset, shape=shape)
    return league.teams(world)[0], world.groups[0].robot, league.teams(world)[1].radius


def bodies(placed, robot, radius):
    """What stands there, as shapely knows it."""
    found = [Point(*placed.ball).buffer(radius)]
    for x, y, heading in placed.robots.reshape(-1, 3):
        if robot.outline is None:
            found.append(Point(x, y).buffer(robot.radius))
        else:
            c, s = np.cos(heading), np.sin(heading)
            found.append(Polygon([(x + c * px - s * py, y + s * px + c * py) for px, py in robot.outline]))
    return found


def check_room(placed, field, robot, radius):
    found = bodies(placed, robot, radius)
    board = Polygon(field.board)
    assert all(board.contains(body) for body in found)
    for number, body in enumerate(found):
        assert all(body.distance(other) > 0.9e-3 for other in found[:number])


@pytest.mark.parametrize("players, preset", [*product((1, 2, 3, 5), league.PERIODS)])
def test_the_default_places_of_all_calls_are_allowed_and_nobody_stands_in_anybody(players, preset):
    field, robot, radius = stage(players, preset)
    for call, keeper in product(CALLS, {0, players - 1}):
        ball, default = league.places(field, players, call, robot.side, (keeper, keeper))
        placed = placing.settle(field, robot, radius, players, call, keepers=(keeper, keeper))
        np.testing.assert_allclose(placed.robots, default)
        assert placed.ball == ball and placed.remarks == []
        check_room(placed, field, robot, radius)


def test_places_are_the_same_for_both_teams_by_half_a_turn():
    field = Field()
    for foul in (Foul.KICKOFF, Foul.PENALTY_KICK, Foul.GOAL_KICK):
        (ball, blue), (other, yellow) = (league.places(field, 3, Call(foul, team, 0, 1, 0.0)) for team in (BLUE, YELLOW))
        np.testing.assert_allclose(np.array(ball), -np.array(other), atol=1e-12)
        blue, yellow = np.array(blue)[:, :, :2], np.array(yellow)[::-1, :, :2]
        np.testing.assert_allclose(blue, -yellow, atol=1e-12)


def test_the_ball_lies_where_the_rules_say():
    field = Field()
    assert league.ball_place(field, Call(Foul.KICKOFF, BLUE, 0, 1, 0.0)) == (0.0, 0.0)
    assert league.ball_place(field, Call(Foul.PENALTY_KICK, BLUE, 0, 1, 0.0)) == (0.375, 0.0)  # before yellow's goal
    assert league.ball_place(field, Call(Foul.PENALTY_KICK, YELLOW, 0, 1, 0.0)) == (-0.375, 0.0)
    assert [league.ball_place(field, call) for call in CALLS[-4:]] == [
        (0.375, 0.4), (-0.375, 0.4), (-0.375, -0.4), (0.375, -0.4)]
    x, _ = league.ball_place(field, Call(Foul.GOAL_KICK, YELLOW, 0, 1, 0.0))
    assert 0.6 < x < 0.75


def test_on_firasims_fields_the_ball_lies_on_the_marks_of_vssreferee():
    """Free balls of five against five at (+-0.55, +-0.60), penalties 0.725 m from the centre; goal kicks of three against three
    from the corners of the area, at y = +-0.35. [VSSReferee]"""
    field = stage(5, "firasim")[0]
    assert [league.ball_place(field, call) for call in CALLS[-4:]] == [
        pytest.approx(each) for each in ((0.55, 0.6), (-0.55, 0.6), (-0.55, -0.6), (0.55, -0.6))]
    assert [league.ball_place(field, call)[0] for call in CALLS[2:4]] == [pytest.approx(0.725), pytest.approx(-0.725)]
    small = stage(3, "firasim")[0]
    for call, side in zip(CALLS[4:6], (-1.0, 1.0), strict=True):
        for corner in (1, -1):
            assert league.ball_place(small, call, corner) == pytest.approx((0.6 * side, 0.35 * corner))
            assert league.ball_place(field, call, corner) == pytest.approx((0.95 * side, 0.25 * corner))


@TEAMS
def test_a_goal_kick_is_from_the_half_in_which_the_keeper_wants_to_stand_else_by_lot(team):
    field, robot, radius = stage(3, "firasim")
    call, side = CALLS[4 + team], league.side(team)
    for corner, y in product((1, -1), (0.2, -0.2)):
        wishes = [None, None]
        wishes[team] = wish((side * -0.7, y), NONE, NONE)
        placed = placing.settle(field, robot, radius, 3, call, tuple(wishes), strict=False, corner=corner)
        assert placed.ball[1] == pytest.approx(0.35 if y > 0.0 else -0.35) and placed.remarks == []
        placed = placing.settle(field, robot, radius, 3, call, strict=False, corner=corner)
        assert placed.ball[1] == pytest.approx(0.35 * corner)
        x, y, heading = placed.robots[team, 0]                     # the keeper is behind the ball, and looks at it
        assert_towards((x, y, heading), placed.ball)
        assert side * x < side * placed.ball[0] and abs(y) < 0.35
        check_room(placed, field, robot, radius)


def assert_towards(pose, point):
    away = np.subtract(point, pose[:2])
    assert np.cos(pose[2]) * away[1] - np.sin(pose[2]) * away[0] == pytest.approx(0.0, abs=1e-12) and np.hypot(*away) < 0.12


def test_without_strict_rules_a_wish_is_refused_only_where_robots_collide():
    """The kick-off of a team that does not have it, from within the circle and from the other half: VSSReferee lets it be."""
    field, robot, radius = stage(3, "firasim")
    wishes = wish((0.7, 0.0), (0.15, 0.1), (-0.4, 0.3)), wish((0.3, 0.3), (-0.3, 0.3), (-0.37, 0.35))
    placed = placing.settle(field, robot, radius, 3, CALLS[0], wishes, strict=False)
    np.testing.assert_array_equal(placed.robots[BLUE], wishes[BLUE])                 # it kicks off, so it chooses first
    np.testing.assert_array_equal(placed.robots[YELLOW, :2], wishes[YELLOW][:2])
    assert placed.remarks == [(YELLOW, 2, "yellow 2 may not stand at (-0.37, 0.35): blue 2 is there")]
    np.testing.assert_allclose(placed.robots[YELLOW, 2], league.places(field, 3, CALLS[0])[1][YELLOW][2])
    assert len(placing.settle(field, robot, radius, 3, CALLS[0], wishes, strict=True).remarks) == 4
    check_room(placed, field, robot, radius)


@pytest.mark.parametrize("pose, most, why", [
    ((-0.04, 0.01), 0.06, "the ball is there"), ((-0.76, 0.5), 0.08, "inside the board"),
    ((0.0, 1.0), 0.45, "inside the board"), ((9.0, 0.0), None, "on the field")])
def test_without_strict_rules_a_robot_that_is_in_the_ball_or_the_board_stands_as_near_as_there_is_room(pose, most, why):
    field, robot, radius = stage(3, "firasim")
    placed = placing.settle(field, robot, radius, 3, CALLS[0], (wish(NONE, NONE, pose), None), strict=False)
    (team, number, text), = placed.remarks
    assert (team, number) == (BLUE, 2) and why in text and ("instead of" if most else "may not stand") in text
    meant = pose if most else league.places(field, 3, CALLS[0])[1][BLUE][2][:2]
    assert np.hypot(*(placed.robots[BLUE, 2, :2] - meant)) <= (most or 0.0)
    check_room(placed, field, robot, radius)


def wish(*poses):
    return np.array([pose if len(pose) == 3 else (*pose, 0.0) for pose in poses])


NONE = (np.nan, np.nan, np.nan)


def test_an_allowed_wish_is_followed_to_the_letter():
    field, robot, radius = stage()
    wished = wish((-0.6, 0.1, 0.3), (-0.08, 0.0, 0.0), (-0.3, -0.5, -1.0))
    placed = placing.settle(field, robot, radius, 3, CALLS[0], (wished, None))
    np.testing.assert_array_equal(placed.robots[BLUE], wished)
    assert placed.remarks == []


@pytest.mark.parametrize("call, team, pose, reason", [
    (CALLS[0], BLUE, (0.02, 0.4), "own half"),
    (CALLS[0], BLUE, (-0.03, 0.4), "own half"),                    # its front is over the line
    (CALLS[0], YELLOW, (0.15, 0.1), "outside the centre circle"),
    (CALLS[1], BLUE, (-0.15, 0.1), "outside the centre circle"),
    (CALLS[0], BLUE, (-0.05, 0.0), "the ball is there"),
    (CALLS[0], BLUE, (-0.74, 0.5), "inside the board"),
    (CALLS[0], BLUE, (-0.72, 0.19), "inside the board"),           # in the goal post
    (CALLS[0], BLUE, (-9.0, 0.0), "on the field"),
    (CALLS[2], BLUE, (0.5, 0.1), "behind the ball"),
    (CALLS[2], YELLOW, (0.4, 0.4), "at its goal or behind the half-way line"),
    (CALLS[4], YELLOW, (-0.1, 0.2), "own half"),
    (CALLS[6], BLUE, (0.3, 0.4), "20 cm from a free ball"),
])
def test_a_wish_that_breaks_a_rule_is_refused_with_the_reason_and_the_default_place_is_taken(call, team, pose, reason):
    field, robot, radius = stage()
    wishes = [None, None]
    wishes[team] = wish(NONE, NONE, pose)
    placed = placing.settle(field, robot, radius, 3, call, tuple(wishes))
    (_, _, remark), = placed.remarks
    assert reason in remark and remark.startswith(f"{('blue', 'yellow')[team]} 2 may not stand at")
    np.testing.assert_allclose(placed.robots, league.places(field, 3, call)[1])


@pytest.mark.parametrize("call, team, poses, where", [
    (CALLS[0], BLUE, [(-0.1, 0.0), (-0.1, 0.1)], "in the centre circle"),
    (CALLS[2], BLUE, [(0.2, 0.3), (0.1, -0.3)], "in the other half"),
    (CALLS[2], YELLOW, [(0.7, 0.0), (0.7, 0.2)], "at the goal"),
    (CALLS[4], BLUE, [(-0.7, 0.15), (-0.7, -0.15)], "in its goal area"),
    (CALLS[6], YELLOW, [(0.6, 0.5), (0.1, 0.5)], "in the quadrant of the free ball"),
])
def test_where_only_one_may_be_the_second_is_refused(call, team, poses, where):
    field, robot, radius = stage()
    wishes = [None, None]
    wishes[team] = wish(NONE, *poses)
    placed = placing.settle(field, robot, radius, 3, call, tuple(wishes))
    (_, _, remark), = placed.remarks
    assert f"only one robot may be {where}" in remark
    np.testing.assert_allclose(placed.robots[team, 1, :2], poses[0])
    check_room(placed, field, robot, radius)


def test_who_stands_on_somebodys_default_place_is_gone_round():
    field, robot, radius = stage()
    default = np.array(league.places(field, 3, CALLS[0])[1])
    wished = np.array([NONE, default[BLUE][0], NONE])  # robot 1 wants the keeper's place
    placed = placing.settle(field, robot, radius, 3, CALLS[0], (wished, None))
    np.testing.assert_allclose(placed.robots[BLUE, 1], default[BLUE][0])
    assert np.hypot(*(placed.robots[BLUE, 0] - default[BLUE][0])[:2]) < 0.15
    check_room(placed, field, robot, radius)


@pytest.mark.parametrize("players, shape, strict", [(3, "square", True), (5, "square", False), (3, "circle", True),
                                                    (3, "circle", False)])
def test_whatever_teams_wish_nobody_overlaps_and_everybody_is_on_the_field(players, shape, strict, rng):
    """Against shapely: random wishes, absurd ones among them, after random calls."""
    field, robot, radius = stage(players, shape=shape)
    for _ in range(40):
        call = CALLS[rng.integers(len(CALLS))]
        wishes = rng.uniform(-1.0, 1.0, (2, players, 3)) * (field.length / 2 + 0.2, field.width / 2 + 0.1, pi)
        wishes[rng.random((2, players)) < 0.2] = np.nan
        wishes[rng.random((2, players)) < 0.05] = 1e300
        placed = placing.settle(field, robot, radius, players, call, (wishes[0], wishes[1]), strict=strict,
                                corner=0 if strict else 1)
        assert np.isfinite(placed.robots).all()
        check_room(placed, field, robot, radius)


def test_the_gap_between_outlines_is_that_of_shapely(rng):
    """Also with a dent for the ball, as a robot of the league may have."""
    dented = placing.Shape(np.array([(0.037, 0.037), (-0.037, 0.037), (-0.037, -0.037), (0.037, -0.037), (0.02, 0.0)]))
    for _ in range(500):
        one, other = (dented.at(*rng.uniform(-0.1, 0.1, 2), rng.uniform(-pi, pi)) for _ in range(2))
        a, b = Polygon(one.points), Polygon(other.points)
        assert placing.gap(one, other) == pytest.approx(a.distance(b), abs=1e-12)
        assert placing.contains(placing.Shape(np.array([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)])), one) == \
            Polygon([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]).contains(a)


# -- leagues ------------------------------------------------------------------------------------------------------------
def test_a_league_is_a_world_that_reads_itself_back(tmp_path):
    from formiga.lab import read_world, write_world

    for players, preset in product((3, 5), league.PERIODS):
        world = league.world(players, preset)
        write_world(world, tmp_path / "w.xml")
        assert read_world(tmp_path / "w.xml") == world


def test_presets_have_the_sizes_of_their_leagues():
    small, middle, fira = (league.teams(league.world(*given))[0] for given in ((3,), (5,), (3, "firasim")))
    assert (small.length, small.width, small.goal_depth, small.corner) == (1.5, 1.3, 0.15, 0.07)
    assert (middle.length, middle.width) == (2.2, 1.8)
    assert fira.goal_depth == pytest.approx(0.1) and fira.corner * 2**0.5 == pytest.approx(0.125)
    world = league.world(3, "firasim")
    assert world.dt == 0.016 and world.group("blue").robot.wheel_radius == pytest.approx(0.02)
    assert world.group("blue").robot.colour != world.group("yellow").robot.colour


@pytest.mark.parametrize("given, words", [
    ({"preset": "mirosod"}, "Did you mean 'mirosot'"), ({"players": 6}, "from 1 to 5"), ({"players": 2.5}, "whole number")])
def test_a_league_that_there_is_not_is_refused(given, words):
    with pytest.raises(FormigaError, match=words):
        league.world(**given)


def test_a_world_without_a_field_is_no_game():
    from formiga.lab import read_world

    with pytest.raises(FormigaError, match="needs a <field>, one <ball>, and a group of robots named blue"):
        league.teams(read_world("corral"))
