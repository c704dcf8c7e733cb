"""A good team: goalkeeper, attacker, defender, and supporters where more than three play.

    formiga match colony chaser

In every picture: the roles (`assign`), then each does its part (`keep`, `attack`, `defend`, `support`), unless it is stuck
(`Watch`). Every team sees itself playing from left to right: the own goal is at negative x. Two robots of a team in a goal
area with the ball are a foul, so only the keeper enters the own one and only the attacker the other.
"""

from __future__ import annotations

from math import copysign, cos, hypot, pi

from formiga.soccer.programs.moves import Drive, Point, clip, crossing, go, meet, rolled, slide, spin, towards
from formiga.soccer.team import Called, Foul, Picture, Pitch, Robot, Team

LOYAL = 0.12       # m: another robot must be so much nearer to take over a part
SPEED = 0.8        # m/s that robots are counted on for when it is asked which is first
WALL = 0.10        # m from a board: no robot has room behind such a ball; it can only be played along the board
REACH = 0.075      # m between the middles of a robot and a ball that it touches, or nearly
STILL = 0.015      # m; a robot that moved less than this in STUCK s, and wanted to, is stuck
STUCK, FREE = 0.5, 0.3  # s
KICKS = (Foul.KICKOFF, Foul.PENALTY_KICK)  # after these the attacker stands as it wants to kick
KICK = 0.3         # s that it takes


# -- roles -----------------------------------------------------------------------------------------------------------
class Parts:
    """Which robot keeps the goal, attacks, defends and supports; they change when another robot is clearly nearer."""

    def __init__(self, players: int) -> None:
        self.order = list(range(players))  # keeper, attacker, defender, supporters

    def assign(self, see: Picture, pitch: Pitch) -> list[int]:
        """The robots in the order of the parts."""
        ball, half = see.ball, pitch.length / 2
        seen = {i for i, robot in enumerate(see.own) if robot.seen}

        def to_goal(i: int) -> float:
            return 0.4 * see.own[i].distance(-half, 0.0)  # a keeper keeps its part: it is changed for one much nearer

        def to_ball(i: int) -> float:
            """How far it is to a place behind the ball; from in front of it the way leads around."""
            me = see.own[i]
            return me.distance(ball.x - 0.06, ball.y) + (0.3 if me.x > ball.x - 0.02 else 0.0)

        def to_middle(i: int) -> float:
            return see.own[i].distance(0.5 * (ball.x - half), 0.5 * ball.y)

        left, order = list(self.order), []
        for part, cost in enumerate([to_goal, to_ball, to_middle][:len(left)]):
            held = self.order[part]
            best = min(left, key=lambda i: cost(i) + (9.0 if i not in seen else 0.0) - (LOYAL if i == held else 0.0))
            order.append(best)
            left.remove(best)
        self.order = order + left
        return self.order


# -- the parts --------------------------------------------------------------------------------------------------------
def keep(me: Robot, see: Picture, pitch: Pitch) -> Drive:
    """On the goal line, where the ball will cross it; out at a slow ball nearby, which no other robot may clear."""
    ball, half, post = see.ball, pitch.length / 2, pitch.goal_width / 2
    line = -half + pitch.side / 2 + 0.015
    away = me.distance(ball.x, ball.y)
    if away < REACH and ball.x < line + 0.05 and abs(ball.y) > 0.02:  # beside it: hit it away from the goal
        return spin(ball.y < me.y)
    near = ball.x < -half + pitch.area_depth and abs(ball.y) < pitch.area_width / 2
    if near and ball.x > me.x + 0.02 and hypot(ball.vx, ball.vy) < 0.4 and me.x < -half + 0.2:
        return go(me, ball.x + 0.05, ball.y, pitch, arrive=0.8)  # clear it
    y = crossing(ball, line + pitch.side / 2 + pitch.ball_radius, pitch)  # where it meets the keeper's side
    if y is None or abs(y) > post + 0.1:  # not coming: between the ball and the middle of the goal
        deep = clip((line + half) / max(ball.x + half, 0.05), 0.0, 1.0)
        y = ball.y * clip(0.35 + deep, 0.0, 1.0)
    return slide(me, line, clip(y, -post + 0.02, post - 0.02), pitch)


def attack(me: Robot, see: Picture, pitch: Pitch, kick: bool) -> Drive:
    """Behind the ball, seen from where it shall go, and then through it. kick: it stands as it shall; straight at it."""
    ball, half = see.ball, pitch.length / 2
    if kick:
        ux, uy = towards(me.x, me.y, ball.x, ball.y)
        return go(me, ball.x + 0.3 * ux, ball.y + 0.3 * uy, pitch, arrive=1.3)
    x, y = meet(ball, lambda px, py: me.distance(px - 0.05, py) / SPEED, pitch)
    if me.distance(ball.x, ball.y) < 0.12:
        x, y = rolled(ball, 0.05, pitch)
    ux, uy = aim(x, y, see, pitch)
    ahead = (me.x - x) * ux + (me.y - y) * uy        # negative: behind the ball
    aside = (me.x - x) * -uy + (me.y - y) * ux       # to the left of the line of the shot
    board = pitch.width / 2 - abs(ball.y)
    if me.distance(ball.x, ball.y) < REACH and ahead > -0.02 and min(board, half - abs(ball.x)) < WALL:
        return spin((ball.x - me.x) * uy - (ball.y - me.y) * ux > 0.0)  # beside it at a board: throw it out
    if ahead > -0.03:                                # beside the ball or in front of it: round it, never through it
        out = copysign(0.12, aside if aside else -y)
        if abs(y + ux * out) > pitch.width / 2 - 0.04:
            out = -out
        along = clip(ahead, 0.0, 0.15) if abs(aside) < 0.085 or aside * out < 0.0 else -0.12
        return outside(me, x + along * ux - out * uy, y + along * uy + out * ux, pitch, arrive=0.4)
    back = clip(1.6 * abs(aside) - 0.03, 0.0, 0.2)   # the more it is aside, the further behind the ball it aims
    if back > 0.0:
        return outside(me, x - (back + 0.04) * ux, y - (back + 0.04) * uy, pitch, arrive=0.7)
    return outside(me, x + 0.15 * ux, y + 0.15 * uy, pitch, arrive=1.3)


def aim(x: float, y: float, see: Picture, pitch: Pitch) -> Point:
    """Where a ball there shall go: into the freer half of the goal; along a board, if it lies at one."""
    half, broad = pitch.length / 2, pitch.width / 2
    if half - abs(x) < WALL and abs(y) > pitch.goal_width / 2:
        return (0.3, copysign(0.95, -y)) if x > 0.0 else (0.3, copysign(0.95, y))  # in front of their goal; away from ours
    if broad - abs(y) < WALL and x < half - 0.2:
        return 1.0, 0.0
    keeper = max(see.others, key=lambda other: other.x if other.seen else -9.0)
    free = -copysign(pitch.goal_width / 2 - 0.06, keeper.y) if keeper.x > half - 0.3 else 0.0
    return towards(x, y, half + 0.05, free)


def defend(me: Robot, see: Picture, pitch: Pitch) -> Drive:
    """Between the ball and the goal, in front of the area."""
    half = pitch.length / 2
    x, y = rolled(see.ball, 0.3, pitch)
    ux, uy = towards(-half, 0.0, x, y)
    away = clip(0.5 * hypot(x + half, y), 0.28, 0.7)
    return outside(me, max(-half + away * ux, -half + pitch.area_depth + 0.1), away * uy, pitch)


def support(me: Robot, see: Picture, pitch: Pitch, upper: bool) -> Drive:
    """Behind the ball to one side of it, for what comes back."""
    x = clip(see.ball.x - 0.35, -0.5 * pitch.length + 0.4, 0.5 * pitch.length - 0.45)
    return outside(me, x, (0.25 if upper else -0.25) * pitch.width, pitch)


def outside(me: Robot, x: float, y: float, pitch: Pitch, arrive: float = 0.0) -> Drive:
    """To a point, but not into the own goal area, and not into a board."""
    half, broad, room = pitch.length / 2, pitch.width / 2, pitch.side / 2 + 0.008
    y = clip(y, room - broad, broad - room)
    x = max(x, room - half)
    edge, end = -half + pitch.area_depth + 2 * room, pitch.area_width / 2 + room
    if x < edge and abs(y) < end:  # out of it on the nearer side
        x, y, arrive = (edge, y, 0.0) if edge - x < end - abs(y) else (x, copysign(end, y), 0.0)
    return go(me, x, y, pitch, arrive=arrive)


# -- getting free -----------------------------------------------------------------------------------------------------
class Watch:
    """Notices a robot that wants to move and does not, and takes it backwards for a moment."""

    def __init__(self) -> None:
        self._since = self._until = 0.0
        self._from: Point = (0.0, 0.0)
        self._escape: Drive = (0.0, 0.0)
        self._again = False

    def check(self, me: Robot, see: Picture, wanted: Drive) -> Drive:
        """What it shall do really."""
        if see.time < self._until:
            return self._escape
        moves = me.distance(*self._from) > STILL or abs(wanted[0]) < 0.2 or see.call.foul is not Foul.GAME_ON
        if moves or abs(wanted[1]) > 15.0:
            self._from, self._since = (me.x, me.y), see.time
        elif see.time - self._since > STUCK:
            self._since, self._until = see.time, see.time + FREE
            self._again = not self._again
            if self._again and me.distance(see.ball.x, see.ball.y) < 0.09:  # a spin sends it away from the own goal
                self._escape = spin(see.ball.y < me.y)
            else:
                self._escape = -copysign(0.6, wanted[0]), copysign(3.0, wanted[0] * me.y * cos(me.heading))
            return self._escape
        return wanted


# -- after a call -----------------------------------------------------------------------------------------------------
def places(call: Called, players: int, pitch: Pitch) -> list[tuple[float, float, float]]:
    """Where keeper, attacker, defender and supporters stand; empty: as the referee likes."""
    half, broad = pitch.length / 2, pitch.width / 2
    keeper = (-half + pitch.side / 2 + 0.015, 0.0, pi / 2)
    cross = (pitch.penalty_spot, broad - 0.25)  # of a free ball
    if pitch.penalty_spot > 0.5:                # VSSReferee's marks of five against five
        cross = (pitch.length / 4, pitch.width / 3)
    if call.foul is Foul.KICKOFF and call.ours:
        ours = [(-0.06, -0.08, 0.93), (-0.4, 0.0, 0.0), (-0.2, 0.35, 0.0), (-0.2, -0.35, 0.0)]
    elif call.foul is Foul.KICKOFF:
        ours = [(-pitch.circle - 0.055, 0.06, 0.0), (-0.45, 0.0, 0.0), (-0.3, 0.3, 0.0), (-0.3, -0.3, 0.0)]
    elif call.foul is Foul.PENALTY_KICK and call.ours:
        ours = [(pitch.penalty_spot - 0.10, 0.035, -0.33), (-0.2, 0.0, 0.0), (-0.1, 0.3, 0.0), (-0.1, -0.3, 0.0)]
    elif call.foul is Foul.PENALTY_KICK:
        ours = [(0.05, 0.0, 0.0), (0.05, 0.3, 0.0), (0.05, -0.3, 0.0), (0.05, 0.5, 0.0)]
    elif call.foul is Foul.FREE_BALL:
        x = cross[0] if call.quadrant in (1, 4) else -cross[0]
        y = cross[1] if call.quadrant in (1, 2) else -cross[1]
        ours = [(x - 0.2, y, 0.0), (-0.45, copysign(0.1, -y), 0.0), (-0.3, -0.5 * y, 0.0), (-0.1, -y, 0.0)]
    elif call.foul is Foul.GOAL_KICK:
        ours = [(-0.05, 0.2, 0.0), (-0.35, 0.0, 0.0), (-0.2, 0.35, 0.0), (-0.2, -0.35, 0.0)]
    else:
        return []
    return [keeper, *ours][:players]


def main() -> None:
    """Play."""
    with Team.from_arguments() as team:
        pitch, parts = team.field, Parts(team.players)
        watches = [Watch() for _ in range(team.players)]
        called, kick_until = Foul.HALT, 0.0
        for see in team:
            order = parts.assign(see, pitch)
            if see.new_call:
                if see.call.foul is Foul.GAME_ON and called in KICKS:
                    kick_until = see.time + KICK
                elif see.call.foul is not Foul.STOP:
                    called = see.call.foul if see.call.ours else Foul.HALT
                for i, place in zip(order, places(see.call, team.players, pitch)):
                    team.place(i, *place)
            for part, i in enumerate(order):
                me = see.own[i]
                if part == 0:
                    wanted = keep(me, see, pitch)
                elif part == 1:
                    wanted = attack(me, see, pitch, see.time < kick_until)
                elif part == 2:
                    wanted = defend(me, see, pitch)
                else:
                    wanted = support(me, see, pitch, upper=part == 3)
                team.drive(i, *watches[i].check(me, see, wanted))


if __name__ == "__main__":
    main()
