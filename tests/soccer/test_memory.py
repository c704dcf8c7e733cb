"""The two memories: the same bytes for every language, no torn pictures, and nothing that a team writes is believed."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formiga.link import LinkError
from formiga.link.memory import HEAD, SEQUENCE, TURN
from formiga.soccer import memory
from formiga.soccer.memory import MOST, ORDERS, SIGHT, Feed, Pitch, TeamError
from formiga.soccer.talk import Call, Foul, Game, Sight
from formiga.soccer.team import Team

HERE = Path(memory.__file__).parent
compiler = shutil.which("cc") or shutil.which("gcc")
needs_c = pytest.mark.skipif(compiler is None, reason="there is no C compiler")


def some_sight(rng, frame=0, players=3):
    robots = rng.uniform(-0.7, 0.7, (2, players, 6))
    robots[:, :, 2] = rng.uniform(-np.pi, np.pi, (2, players))
    return Sight(frame, 0.033 * frame, rng.uniform(-0.6, 0.6, 4), robots, np.ones((2, players), bool))


# -- layout -----------------------------------------------------------------------------------------------------------
@needs_c
@pytest.mark.parametrize("standard", ["c11", "gnu17"])
def test_every_field_is_at_the_same_byte_in_c_and_in_python(standard, tmp_path):
    head = [name for name, *_ in (*HEAD, ("players", "<u4"), *TURN)]
    lines = []
    for layout, struct in ((SIGHT.layout, "formiga_sight"), (ORDERS.layout, "formiga_orders")):
        lines.append(f'printf("{struct} %zu\\n", sizeof(struct {struct}));')
        for name in layout.names:
            field = f"head.{name}" if name in head else name
            lines.append(f'printf("{struct}.{name} %zu %zu\\n", offsetof(struct {struct}, {field}), '
                         f"sizeof(((struct {struct} *)0)->{field}));")
    source = tmp_path / "sizes.c"
    source.write_text('#include "memory.h"\nint main(void) {\n' + "\n".join(lines) + "\nreturn 0; }\n")
    subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-I", HERE, source, "-o", tmp_path / "sizes",
                    "-lm"], check=True)
    found = subprocess.run([tmp_path / "sizes"], check=True, capture_output=True, text=True).stdout.splitlines()
    expected = []
    for layout, struct in ((SIGHT.layout, "formiga_sight"), (ORDERS.layout, "formiga_orders")):
        expected.append(f"{struct} {layout.itemsize}")
        expected += [f"{struct}.{name} {layout.fields[name][1]} {layout.fields[name][0].itemsize}" for name in layout.names]
    assert found == expected


def test_fouls_have_the_same_numbers_in_c():
    text = (HERE / "memory.h").read_text()
    names = text[text.index("enum formiga_foul {"):].split("{")[1].split("}")[0].replace("\n", " ").split(",")
    assert [name.strip().removeprefix("FORMIGA_") for name in names] == [foul.name for foul in Foul]


def test_nothing_is_aligned_by_luck():
    """Every number starts at a multiple of its size, so that any compiler leaves the same gaps: none."""
    for layout in (SIGHT.layout, ORDERS.layout):
        at = 0
        for name in layout.names:
            kind, offset = layout.fields[name][:2]
            size = 1 if kind.base.kind == "S" else kind.base.itemsize
            assert offset == at and offset % size == 0, name
            at += kind.itemsize
        assert at == layout.itemsize and at % 8 == 0


# -- writing and reading ----------------------------------------------------------------------------------------------
def test_a_team_reads_what_the_camera_wrote(rng):
    pitch = Pitch(length=2.2, width=1.8, top_speed=2.0, period=0.016)
    with Feed(5, pitch) as feed:
        sight = some_sight(rng, 17, players=5)
        sight.present[1, 4] = False
        game = Game((3, 1), 2, 12.5, Call(Foul.FREE_BALL, 2, 3, 2, 321.0), 9)
        feed.show(sight, game)
        team = Team(*feed.paths, "blue")
        see = team.look()
        assert team.field == pitch and team.players == 5
        assert (see.frame, see.time, see.ball) == (17, sight.time, tuple(sight.ball))
        assert [robot[:6] for robot in see.own] == [tuple(robot) for robot in sight.robots[0]]
        assert [robot[:6] for robot in see.others] == [tuple(robot) for robot in sight.robots[1]]
        assert [robot.seen for robot in see.others] == [True] * 4 + [False]
        assert (see.score, see.half, see.clock) == ((3, 1), 2, 12.5)
        assert see.call == (9, Foul.FREE_BALL, None, 3) and see.new_call


def test_the_camera_reads_what_a_team_wrote(rng):
    with Feed() as feed:
        assert not feed.opened
        team = Team(*feed.paths, "blue")
        assert feed.opened and feed.take().frame == -1
        feed.show(some_sight(rng, 4))
        team.look()
        team.drive(0, 0.5, -1.0)
        team.wheels(2, 0.1, 0.4)
        assert feed.answer(4, wait=0.0) is None
        team.answer()
        answer = feed.answer(4, wait=0.0)
        assert answer.frame == 4 and answer.damage == "" and answer.placed_for == -1
        assert answer.speeds == [(0.5, -1.0), (0.0, 0.0), (pytest.approx(0.25), pytest.approx(0.3 / 0.075))]
        team.close()
        assert feed.take().speeds == [(0.0, 0.0)] * 3  # who goes, stops its robots


def test_yellow_sees_the_field_turned_by_half_a_turn(rng):
    """Turn the world, swap the colours, and each team sees what the other saw."""
    sight = some_sight(rng, 1)
    turned = sight.robots[::-1].copy()
    turned[:, :, [0, 1, 3, 4]] *= -1.0
    turned[:, :, 2] += np.pi
    other = sight._replace(ball=-sight.ball, robots=turned)
    game = Game((3, 1), 1, 0.0, Call(Foul.FREE_BALL, 0, 1, 1, 0.0), 1)
    swapped = Game((1, 3), 1, 0.0, Call(Foul.FREE_BALL, 1, 3, 1, 0.0), 1)
    with Feed() as one, Feed() as two:
        one.show(sight, game)
        two.show(other, swapped)
        blue, yellow = Team(*one.paths, "blue"), Team(*two.paths, "yellow")
        a, b = blue.look(), yellow.look()
        assert b.ball == pytest.approx(a.ball)
        for mine, theirs in zip([*a.own, *a.others], [*b.own, *b.others], strict=True):
            assert theirs[:2] == pytest.approx(mine[:2]) and theirs[3:] == pytest.approx(mine[3:])
            assert np.cos(theirs.heading - mine.heading) == pytest.approx(1.0)
        assert a.score == b.score == (3, 1) and a.call == b.call and a.call.ours
        for team in (blue, yellow):  # the same wish is a place on the other side
            team.place(1, -0.3, 0.2, 0.1)
            team.drive(1, 0.5, 2.0)
            team.answer()
        (x, y, heading), (u, v, bearing) = one.take().places[1], two.take().places[1]
        assert (u, v) == pytest.approx((-x, -y)) and np.cos(bearing - heading) == pytest.approx(-1.0)
        assert one.take().speeds == two.take().speeds  # a turn keeps v and omega as they are


def test_a_team_that_asks_for_it_sees_the_field_as_the_camera_does(rng):
    with Feed() as feed:
        feed.show(some_sight(rng, 0))
        plain, mirrored = Team(*feed.paths, "yellow", mirror=False).look(), Team(*feed.paths, "yellow").look()
        assert plain.ball == pytest.approx([-each for each in mirrored.ball])
        assert plain.own[0].x == pytest.approx(-mirrored.own[0].x)


def test_teams_that_swap_ends_go_on_seeing_themselves_on_the_left(rng):
    with Feed() as feed:
        sight = some_sight(rng, 0)
        feed.blue_attacks = -1
        feed.show(sight)
        assert Team(*feed.paths, "blue").look().ball == pytest.approx(-sight.ball)
        assert Team(*feed.paths, "yellow").look().ball == pytest.approx(sight.ball)


def test_a_place_answers_the_call_that_it_was_made_for(rng):
    with Feed() as feed:
        team = Team(*feed.paths, "blue")
        for number, frame in enumerate([0, 1]):
            feed.show(some_sight(rng, frame), Game((0, 0), 1, 0.0, Call(Foul.KICKOFF, 0, 0, 1, 0.0), number))
            assert team.look().new_call
            team.answer()
            assert feed.take().placed_for == -1  # the places of an earlier call are forgotten
            team.place(0, -0.2, 0.0)
            team.answer()
            assert feed.take().placed_for == number


# -- others that write --------------------------------------------------------------------------------------------------
def test_a_reader_gives_up_on_a_writer_that_died_in_the_middle():
    with Feed() as feed:
        feed.exchange.answered._words[SEQUENCE] += 1
        assert feed.exchange.answered.read() is None
        assert feed.take() is None and feed.answer(0, wait=0.01) is None
        team = Team(*feed.paths, "blue")  # and the next writer puts it right
        assert feed.take() is not None
        team.close()


def test_waiting_ends_when_somebody_writes(rng):
    """The waiter would sleep for a minute; a child that answers wakes it."""
    with Feed() as feed:
        feed.show(some_sight(rng, 0))
        program = ("import sys, time; from formiga.soccer.team import Team; team = Team(*sys.argv[1:3], 'blue'); team.look(); "
                   "time.sleep(0.2); team.answer()")
        child = subprocess.Popen([sys.executable, "-c", program, *feed.paths], pass_fds=feed.files,
                                 env={**os.environ, "PYTHONPATH": str(HERE.parents[1])})
        began, answers = time.monotonic(), feed.exchange.answered
        while not feed.opened:
            answers.wait(answers.sequence, 60.0)
        while feed.take().frame < 0:
            answers.wait(answers.sequence, 60.0)
        assert time.monotonic() - began < 59.0
        assert child.wait(10.0) == 0


# -- what is left -------------------------------------------------------------------------------------------------------
def test_a_feed_gives_back_its_files():
    def count():
        return len(os.listdir("/proc/self/fd")), Path("/proc/self/maps").read_text().count("memfd:formiga")

    before = count()
    for _ in range(3):
        feed = Feed()
        feed.close()
        feed.close()
    assert count() == before


def test_plain_files_do_as_well_and_go_with_the_feed(rng, tmp_path):
    with Feed(folder=tmp_path / "vision", name="blue") as feed:
        assert [Path(path).name for path in feed.paths] == ["sight", "orders-blue"]
        team = Team(*feed.paths, "blue")
        feed.show(some_sight(rng, 0))
        assert team.look().frame == 0
    assert team.look() is None  # the game is over
    assert list((tmp_path / "vision").iterdir()) == []


def test_a_memory_that_is_not_there_is_a_clear_complaint(tmp_path):
    with Feed() as feed, pytest.raises(LinkError, match="cannot be opened as a memory"):
        Team(str(tmp_path / "nothing"), feed.paths[1], "blue")
    with pytest.raises(TeamError, match="12 players: a team has 1 to 11"):
        Feed(12)
    with Feed() as feed, pytest.raises(TeamError, match="colour 'red' is unknown; a team is blue or yellow"):
        Team(*feed.paths, "red")


# -- garbage ----------------------------------------------------------------------------------------------------------
@given(st.binary(min_size=ORDERS.layout.itemsize, max_size=ORDERS.layout.itemsize), st.booleans(), st.booleans())
@settings(max_examples=300)
def test_no_bytes_that_a_team_writes_can_do_harm(data, keep_head, keep_frame):
    with Feed(MOST) as feed:
        feed.exchange.newest = 10
        written = bytearray(data)
        if keep_head:
            written[:20] = ORDERS.head
        if keep_frame:
            written[32:40] = (7).to_bytes(8, "little")
        written[20] &= 0xFE
        feed.exchange.answered._bytes[:] = bytes(written)
        answer = feed.take()
        assert answer is not None and -1 <= answer.frame <= 10
        assert np.isfinite(answer.speeds).all() and len(answer.speeds) == MOST
        asked = memory.places_in(answer.places, MOST)
        assert asked.shape == (MOST, 3) and (np.isnan(asked) | (np.abs(asked) <= 10.0)).all()
        assert (answer.damage == "head") == (bytes(written[:20]) != ORDERS.head)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_robot_stands_still_that_is_told_no_number_and_the_others_drive(bad):
    with Feed() as feed:
        team = Team(*feed.paths, "blue")
        team.drive(0, 0.4, 1.0)
        team.drive(1, bad, 0.0)
        team.drive(2, 0.1, bad)
        team._peer.frame = -1
        team.answer()
        answer = feed.take()
        assert answer.speeds == [(0.4, 1.0), (0.0, 0.0), (0.0, 0.0)] and answer.damage == "numbers"


@pytest.mark.parametrize("frame", [5, -2, 2**62, -2**63])
def test_an_answer_to_a_picture_that_was_never_shown_is_none(frame, rng):
    with Feed() as feed:
        team = Team(*feed.paths, "blue")
        feed.show(some_sight(rng, 4))
        team._peer.frame = frame
        team.answer()
        assert feed.take().damage == "frame" and feed.take().frame == -1
