"""The Remote: finds the pose of an omnidirectional robot and drives it round a course. It is the same file for the simulator
and for the robot, and knows neither: it knows a host and a port.

    python remote.py --udp 127.0.0.1:20116 --map map.xml --log run.csv

It needs the standard library and formiga_remote.py, and map.xml beside it if no other map is given. Each question has the
voltages of six infrared sensors, the angles of three wheels, and the pose by a camera over the arena, which goes into the log
and nowhere else. Each answer has three rim speeds. Numbers of equations are those of Goncalves, Lima, Malheiros & Costa 2009.
"""

import hashlib
import os
import sys
import xml.etree.ElementTree as xml
from math import atan, atan2, cos, hypot, inf, isfinite, pi, sin

L, WHEEL_RADIUS = 0.09, 0.04               # m: wheels from the middle, and their radius
K1, K2 = 0.1881, 4.6779                    # 1/V, 1/(V m): 1/v = k1 + k2 d
SPREAD, SPREAD_PER_M = 3e-5, 3e-5          # V^2, V^2/m: Var(v) = 3e-5 + 3e-5 d
REACH = 1.0                                # m: beyond it there is no measure
HALF = 0.06                                # m from the middle of a pair to each of its sensors
PAIRS = (0.0, 0.5 * pi, -0.5 * pi)         # rad, directions of the pairs
GATE_ANGLE, GATE_PLACE = 0.012, 0.05       # m by which measured and expected distances may differ
UNKNOWN = 1e6                              # variance of what is not measured
SHARE, FLOOR, SUB_STEPS = 0.10, 0.005, 4   # of the odometry: sigma of a rim speed is 0.10 |V| + 0.005 m/s
START_VARIANCE = 1e-4                      # m^2, rad^2
TOP, SLOW, LEAST, NEAR = 0.3, 2.0, 0.05, 0.03   # m/s, 1/s, m/s, m: speed is min(0.3, 2 distance + 0.05); reached within 3 cm
GAIN, TOP_TURN = 2.0, 1.0                  # 1/s, rad/s: of the heading, which is held


def wrap(angle):
    """The same angle between -pi and pi."""
    return atan2(sin(angle), cos(angle))


# -- the wheels ---------------------------------------------------------------------------------------------------------
def inverse(heading):
    """J: Vx, Vy, omega = J (V1, V2, V3), rows of a matrix; the inverse of (13)."""
    c, s, ahead, aside = cos(heading), sin(heading), 0.5 / sin(pi / 3), 0.5 / (1.0 + cos(pi / 3))
    return [[-2.0 * aside * s, -ahead * c + aside * s, ahead * c + aside * s],
            [2.0 * aside * c, -ahead * s - aside * c, ahead * s - aside * c],
            [1.0 / (3.0 * L)] * 3]


def wheels_of(vx, vy, turn, heading):
    """Rim speeds of velocities in the world. (13)"""
    return (-sin(heading) * vx + cos(heading) * vy + L * turn,
            -sin(pi / 3 - heading) * vx - cos(pi / 3 - heading) * vy + L * turn,
            sin(pi / 3 + heading) * vx - cos(pi / 3 + heading) * vy + L * turn)


def times(a, b):
    """The product of two matrices 3 x 3."""
    return [[row[0] * b[0][k] + row[1] * b[1][k] + row[2] * b[2][k] for k in range(3)] for row in a]


def transposed(a):
    """Rows as columns."""
    return [list(column) for column in zip(*a)]


def inverted(a):
    """The inverse of a matrix 3 x 3, by its adjugate."""
    (b, c, d), (e, f, g), (h, i, j) = a
    whole = b * (f * j - g * i) - c * (e * j - g * h) + d * (e * i - f * h)
    adjugate = [[f * j - g * i, d * i - c * j, c * g - d * f], [g * h - e * j, b * j - d * h, d * e - b * g],
                [e * i - f * h, c * h - b * i, b * f - c * e]]
    return [[each / whole for each in row] for row in adjugate]


# -- the map ------------------------------------------------------------------------------------------------------------
def numbers(node, *names):
    """Attributes of an element of the map, as numbers."""
    try:
        return [float(node.attrib[name]) for name in names]
    except (KeyError, ValueError) as wrong:
        raise SystemExit(f"the map: <{node.tag}> must have the numbers {', '.join(names)} ({wrong}).") from wrong


class Map:
    """Walls along x and y, each seen from one side; the start, and the course."""

    def __init__(self, file):
        try:
            root = xml.parse(file).getroot()
        except (OSError, xml.ParseError) as wrong:
            raise SystemExit(f"the map {file}: {wrong}") from wrong
        self.lines = []                    # (upright, at, low, high, ahead): seen along the positive axis, or against it
        for node in [*root.findall("room"), *root.findall("block")]:
            x0, y0, x1, y1 = numbers(node, "x0", "y0", "x1", "y1")
            outside = node.tag == "block"
            self.lines += [(True, x0, y0, y1, outside), (True, x1, y0, y1, not outside),
                           (False, y0, x0, x1, outside), (False, y1, x0, x1, not outside)]
        starts, courses = root.findall("start"), root.findall("course")
        if len(starts) != 1 or len(courses) != 1:
            raise SystemExit(f"the map {file}: it must have one <start> and one <course>")
        laps = courses[0].get("laps", "1")
        if not laps.isdecimal():
            raise SystemExit(f"the map {file}: <course laps=\"{laps}\"> is no whole number")
        self.start = numbers(starts[0], "x", "y", "heading")
        self.course = [tuple(numbers(node, "x", "y")) for node in courses[0].findall("place")] * int(laps)

    def expected(self, pose, x, y, angle):
        """Distance and number of the wall that a sensor at x y in the robot's frame should see; inf and -1 if there is none.

        The sensor's place is turned first, and then moved. (6)-(8)
        """
        c, s = cos(pose[2]), sin(pose[2])
        px, py = pose[0] + c * x - s * y, pose[1] + s * x + c * y
        ux, uy = cos(pose[2] + angle), sin(pose[2] + angle)
        nearest, found = REACH, -1
        for number, (upright, at, low, high, ahead) in enumerate(self.lines):
            across, along, here, beside = (ux, uy, px, py) if upright else (uy, ux, py, px)
            if abs(across) < 1e-12 or (across > 0.0) != ahead:
                continue
            d = (at - here) / across
            if 0.0 < d <= nearest and low <= beside + d * along <= high:
                nearest, found = d, number
        return (nearest if found >= 0 else inf), found


# -- the filter ---------------------------------------------------------------------------------------------------------
class Filter:
    """Extended Kalman filter of x, y, heading."""

    def __init__(self, known):
        self.map, self.pose = known, list(known.start)
        self.covariance = [[START_VARIANCE * (i == k) for k in range(3)] for i in range(3)]

    def predict(self, wheels, period):
        """Odometry: rim speeds over a period. (14)-(18)"""
        v1, v2, v3 = wheels
        heading = self.pose[2]
        c, s, root = cos(heading), sin(heading), 2.0 * sin(pi / 3)
        a13 = -s / root * (v3 - v2) + c / (2.0 * (1.0 + cos(pi / 3))) * (v2 + v3 - 2.0 * v1)
        a23 = c / root * (v3 - v2) + s / (2.0 * (1.0 + cos(pi / 3))) * (v2 + v3 - 2.0 * v1)
        phi = [[1.0, 0.0, period * a13], [0.0, 1.0, period * a23], [0.0, 0.0, 1.0]]
        spread = [[each * (SHARE * abs(v) + FLOOR) * period for each, v in zip(row, wheels)] for row in inverse(heading)]
        carried, noise = times(times(phi, self.covariance), transposed(phi)), times(spread, transposed(spread))
        self.covariance = [[carried[i][k] + noise[i][k] for k in range(3)] for i in range(3)]
        for _ in range(SUB_STEPS):
            rows = inverse(self.pose[2])
            for k in range(3):
                self.pose[k] += period / SUB_STEPS * sum(each * v for each, v in zip(rows[k], wheels))
        self.pose[2] = wrap(self.pose[2])

    def measure(self, volts):
        """Pose by the walls, and its variances, from six voltages. (2), (5), (9)-(12)"""
        found: tuple[list, list, list] = ([], [], [])    # (value, variance) of x, of y, of the heading
        for pair, angle in enumerate(PAIRS):
            d, var, wall, off = [], [], [], []
            for side, volt in zip((HALF, -HALF), volts[2 * pair: 2 * pair + 2]):
                distance = max((1.0 / volt - K1) / K2, 0.0) if volt > 0.0 else inf
                foreseen, number = self.map.expected(self.pose, -side * sin(angle), side * cos(angle), angle)
                d.append(distance)
                var.append((SPREAD + SPREAD_PER_M * distance) * (distance * K2 + K1) ** 4 / K2**2)
                wall.append(number)
                off.append(abs(distance - foreseen))
            if wall[0] != wall[1] or wall[0] < 0 or max(d) > REACH:
                continue
            upright, at, _, _, ahead = self.map.lines[wall[0]]
            slope, middle = (d[0] - d[1]) / (2.0 * HALF), 0.5 * (d[0] + d[1])
            psi, gain = atan(slope), 1.0 / (2.0 * HALF * (1.0 + slope * slope))
            outward = (0.0 if upright else 0.5 * pi) + (0.0 if ahead else pi)
            if max(off) <= GATE_ANGLE:
                heading = self.pose[2] + wrap(outward + psi - angle - self.pose[2])
                found[2].append((heading, gain * gain * (var[0] + var[1])))
            if max(off) <= GATE_PLACE:
                turned, half = middle * sin(psi) * gain, 0.5 * cos(psi)
                variance = (turned - half) ** 2 * var[0] + (turned + half) ** 2 * var[1]
                found[0 if upright else 1].append((at - (1.0 if ahead else -1.0) * middle * cos(psi), variance))
        values, variances = list(self.pose), [UNKNOWN] * 3
        for k, each in enumerate(found):
            if each:
                weight = sum(1.0 / variance for _, variance in each)
                values[k], variances[k] = sum(value / variance for value, variance in each) / weight, 1.0 / weight
        return values, variances

    def correct(self, values, variances):
        """Take a measured pose in. (19)-(21)"""
        p = self.covariance
        gain = times(p, inverted([[p[i][k] + variances[i] * (i == k) for k in range(3)] for i in range(3)]))
        rest = [[(i == k) - gain[i][k] for k in range(3)] for i in range(3)]
        after = times(rest, p)
        off = [values[0] - self.pose[0], values[1] - self.pose[1], wrap(values[2] - self.pose[2])]
        self.pose = [self.pose[i] + sum(gain[i][k] * off[k] for k in range(3)) for i in range(3)]
        self.pose[2] = wrap(self.pose[2])
        self.covariance = [[0.5 * (after[i][k] + after[k][i]) for k in range(3)] for i in range(3)]


# -- the robot ----------------------------------------------------------------------------------------------------------
class Navigator:
    """One robot: its filter, and how far it has come on its course."""

    def __init__(self, known, angles, clock):
        self.map, self.filter, self.at = known, Filter(known), 0
        self.angles, self.clock = angles, clock

    def drive(self, clock, angles, volts, period):
        """Rim speeds, from what the robot measured at a time of its clock."""
        period = clock - self.clock if clock > self.clock else period      # questions before this one may be lost
        ways = [(new - old) * WHEEL_RADIUS for new, old in zip(angles, self.angles)]
        self.angles, self.clock = angles, clock
        self.filter.predict([way / period for way in ways], period)
        if all(isfinite(volt) for volt in volts):
            self.filter.correct(*self.filter.measure(volts))
        return self.towards()

    def towards(self):
        """Rim speeds towards the next place of the course; none at its end."""
        x, y, heading = self.filter.pose
        course = self.map.course
        if self.at < len(course) and hypot(course[self.at][0] - x, course[self.at][1] - y) < NEAR:
            self.at += 1
        if self.at == len(course):
            return (0.0, 0.0, 0.0)
        dx, dy = course[self.at][0] - x, course[self.at][1] - y
        far = hypot(dx, dy)
        speed = min(TOP, SLOW * far + LEAST) / max(far, 1e-9)
        turn = max(-TOP_TURN, min(TOP_TURN, GAIN * wrap(self.map.start[2] - heading)))
        return wheels_of(speed * dx, speed * dy, turn, heading)


def option(name, default):
    """The word after an option."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv[:-1] else default


def opened(path):
    """A file for the log."""
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as wrong:
        raise SystemExit(f"--log: {wrong}") from wrong


def main():
    """Answer all questions, and write down what was believed."""
    from formiga_remote import Robots  # type: ignore[import-not-found]

    here = os.path.abspath(__file__)
    known = Map(option("--map", os.path.join(os.path.dirname(here), "map.xml")))
    with open(here, "rb") as source:
        print("remote.py sha256", hashlib.sha256(source.read()).hexdigest(), flush=True)
    with opened(option("--log", os.devnull)) as log, Robots.from_arguments() as robots:
        if missing := {"infrared", "encoders"} - set(robots.readings):
            raise SystemExit(f"the robots have no readings called {', '.join(sorted(missing))}")
        log.write("world,robot,clock,x,y,heading,xx,xy,xh,yy,yh,hh,camera_x,camera_y,camera_heading,at\n")
        minds: dict[tuple[int, int], Navigator] = {}
        for _ in robots:
            for world in range(robots.worlds):
                clock = float(robots.own["clock"][world])
                for robot in range(robots.count):
                    one = world, robot
                    volts = [float(robots.readings["infrared"][world, robot, k]) for k in range(6)]
                    angles = [float(robots.readings["encoders"][world, robot, k]) for k in range(3)]
                    if one not in minds or clock < minds[one].clock:       # it begins, or begins again
                        minds[one] = Navigator(known, angles, clock)
                    rims = minds[one].drive(clock, angles, volts, robots.period)
                    for k in range(3):
                        robots.orders["drive"][world, robot, k] = rims[k]
                    mind, p = minds[one].filter, minds[one].filter.covariance
                    camera = robots.readings.get("camera")
                    seen = [float("nan") if camera is None else float(camera[world, robot, k]) for k in range(3)]
                    row = [clock, *mind.pose, p[0][0], p[0][1], p[0][2], p[1][1], p[1][2], p[2][2], *seen]
                    log.write(f"{world},{robot}," + ",".join(f"{each:.9g}" for each in row) + f",{minds[one].at}\n")
            log.flush()


if __name__ == "__main__":
    main()
