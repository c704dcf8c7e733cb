"""Network teams, over real sockets: what goes out, what comes in, who is waited for, and what is said when it cannot be."""

from __future__ import annotations

import socket
import threading
import time
from math import nan, pi
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formiga.errors import FormigaError
from formiga.link import sockets
from formiga.soccer import network, network_bridge
from formiga.soccer.network import Network
from formiga.soccer.talk import BLUE, YELLOW, Call, Foul
from formiga.soccer.wire.fira_pb2 import Packet
from formiga.soccer.wire.vssref_pb2 import VSSRef_Command, VSSRef_Placement
from formiga.world.field import Field
from tests.soccer.wires import BALL, HERE, ON, PATIENCE, RADIUS, TOP, Ear, Mouth, game, hub_of, needs_multicast, sight, soon

ROOT = Path(__file__).parents[2]
NOT_YET = 4_294_967_295     # in all packets of an answer but the last


def arrived(bridge, count: int = 1):
    """Orders, as soon as so many packets are in."""
    soon(lambda: bridge.heard >= count)
    return bridge.orders(0, 0.0)


# -- pictures ---------------------------------------------------------------------------------------------------------
@needs_multicast
def test_a_picture_reaches_all_who_listen_to_the_group_whether_they_joined_or_only_bound_it():
    with Ear("224.0.0.1", join="224.0.0.1") as joined, Ear("224.0.0.1", joined.address[1]) as bound, \
            Ear("0.0.0.0", joined.address[1], join="224.0.0.1") as anywhere, hub_of(vision=[joined.address]) as hub:
        hub.bridge(BLUE).show(sight(3), game((1, 2)))
        pictures = [ear.see() for ear in (joined, bound, anywhere)]
        assert pictures[0] == pictures[1] == pictures[2]
        assert pictures[0].step == 48 and (pictures[0].goals_blue, pictures[0].goals_yellow) == (1, 2)
        assert [robot.robot_id for robot in pictures[0].frame.robots_yellow] == [0, 1, 2]
        assert (pictures[0].field.length, pictures[0].field.width) == (1.5, 1.3)
        assert not hub.troubles()


def test_each_destination_gets_each_picture_once_whoever_shows_it():
    with Ear() as one, Ear() as other, hub_of(vision=[one.address, other.address]) as hub:
        blue, yellow = hub.bridge(BLUE), hub.bridge(YELLOW)
        for frame in range(5):
            blue.show(sight(frame), game())
            yellow.show(sight(frame), game())
        assert [one.see().step for _ in range(5)] == [other.see().step for _ in range(5)] == [0, 16, 32, 48, 64]
        assert one.silent() and other.silent()


def test_where_multicast_does_not_arrive_pictures_go_to_this_machine_and_that_is_said_once(monkeypatch):
    monkeypatch.setattr(sockets, "arrives", lambda group, interface: False)
    with Ear() as eyes, Ear() as ears, hub_of(
            vision=[("224.0.0.1", eyes.address[1])], referee=("224.5.23.2", ears.address[1]),
            placement=("224.5.23.2", 0)) as hub:
        bridge = hub.bridge(BLUE)
        bridge.show(sight(2), game())
        bridge.tell(ON)
        assert eyes.see().step == 32
        assert VSSRef_Command.FromString(ears.hear()).foul == Foul.GAME_ON
        with Mouth(hub.placement) as team:
            team.say(placement(BLUE, (0, -0.5, 0.0, 0.0)))
            assert soon(lambda: bridge.placement() is not None)
        line, = bridge.troubles()
        assert line.startswith("multicast to 224.0.0.1 and 224.5.23.2 does not arrive on 127.0.0.1, so pictures go to 127.0.")
        assert str(eyes.address[1]) in line and str(ears.address[1]) in line and "--vision" in line


def test_a_destination_that_cannot_be_reached_is_reported_once_and_the_others_are_served():
    """Broadcasting needs a permission that we do not ask for, so the system refuses it."""
    with Ear() as ear, hub_of(vision=[("255.255.255.255", 9), ear.address]) as hub:
        bridge = hub.bridge(BLUE)
        for frame in range(3):
            bridge.show(sight(frame), game())
        assert [ear.see().step for _ in range(3)] == [0, 16, 32]
        line, = bridge.troubles()
        assert line.startswith("pictures cannot be sent to 255.255.255.255:9 (")


# -- commands ---------------------------------------------------------------------------------------------------------
def test_wheels_turn_in_rad_per_second_and_hold_until_the_next_command():
    """20 rad/s with wheels of 20 mm are 0.400 m/s."""
    with hub_of() as hub, Mouth(hub.commands) as team:
        blue, yellow = hub.bridge(BLUE), hub.bridge(YELLOW)
        assert_allclose(blue.orders(0, 0.0), np.zeros((3, 2)))
        team.drive((0, False, 20.0, 20.0), (2, False, -10.0, 10.0))
        for _ in range(3):
            assert_allclose(arrived(blue), [[0.4, 0.4], [0.0, 0.0], [-0.2, 0.2]])
        team.drive((1, False, 5.0, 0.0))
        assert_allclose(arrived(blue, 2), [[0.4, 0.4], [0.1, 0.0], [-0.2, 0.2]])
        assert_allclose(yellow.orders(2, 0.0), np.zeros((3, 2)))


def test_one_packet_can_drive_both_teams_and_one_team_can_send_a_packet_for_each_robot():
    with hub_of() as hub, Mouth(hub.commands) as team:
        blue, yellow = hub.bridge(BLUE), hub.bridge(YELLOW)
        team.drive((0, False, 10.0, 0.0), (0, True, 0.0, 10.0))
        assert_allclose(arrived(blue)[0], [0.2, 0.0])
        assert_allclose(arrived(yellow)[0], [0.0, 0.2])
        for robot in range(3):
            team.drive((robot, True, robot, robot))
        assert_allclose(arrived(yellow, 4), RADIUS * np.array([[0, 0], [1, 1], [2, 2]]))


def test_speeds_are_clamped_numbers_that_are_none_are_dropped_and_strangers_are_ignored():
    with hub_of() as hub, Mouth(hub.commands) as team:
        blue = hub.bridge(BLUE)
        team.drive((0, False, 1e308, -1e308), (1, False, nan, 1.0), (2, False, 1.0, float("-inf")), (3, False, 1.0, 1.0),
                   (4_000_000_000, False, 1.0, 1.0))
        assert_allclose(arrived(blue), [[TOP, -TOP], [0.0, 0.0], [0.0, 0.0]])
        lines: list[str] = []
        soon(lambda: lines.extend(blue.troubles()) or len(lines) == 2)
        assert sorted(lines) == [
            f"{team.name} sent a packet that we dropped, in whole or in part: the last one asks for a wheel speed that is no "
            "number.", f"{team.name} speaks of robots that are not there (those of a team are 0 to 2); that is left out."]


# -- replacements -----------------------------------------------------------------------------------------------------
def replacement(*robots, ball=None) -> bytes:
    """Robots: id, yellow, x, y, degrees, on."""
    packet = Packet()
    packet.replace.SetInParent()
    for robot, yellow, x, y, degrees, on in robots:
        each = packet.replace.robots.add(yellowteam=yellow, turnon=on)
        each.position.robot_id, each.position.x, each.position.y, each.position.orientation = robot, x, y, degrees
    if ball is not None:
        packet.replace.ball.x, packet.replace.ball.y, packet.replace.ball.vx, packet.replace.ball.vy = ball
    return packet.SerializeToString()


def test_a_trainer_puts_robots_and_the_ball_somewhere_in_degrees():
    with hub_of() as hub, Mouth(hub.commands) as trainer:
        trainer.say(replacement((1, True, 0.25, -0.5, 270.0, True), ball=(0.1, 0.2, 0.3, 0.4)))
        found, = soon(hub.replacements)
        assert found.ball == pytest.approx((0.1, 0.2, 0.3, 0.4))
        assert found.robots == ((YELLOW, 1, 0.25, -0.5, pytest.approx(-pi / 2), True),)
        assert hub.replacements() == []


def test_of_two_replacements_of_one_thing_the_newer_counts():
    with hub_of() as hub, Mouth(hub.commands) as trainer:
        for number in range(100):                      # so few that they find room in the system's buffer
            y = number / 1000
            trainer.say(replacement((number % 3, False, 0.0, y, 0.0, True), ball=(y, 0.0, 0.0, 0.0)))
        trainer.drive((0, False, 1.0, 1.0))
        bridge = hub.bridge(BLUE)
        arrived(bridge)
        found, = hub.replacements()
        assert found.ball[0] == 0.099 and sorted(place.robot for place in found.robots) == [0, 1, 2]
        assert {place.robot: place.y for place in found.robots} == {0: 0.099, 1: 0.097, 2: 0.098}


def test_places_beside_the_field_are_refused_except_for_robots_that_are_switched_off():
    """Many programs switch a robot off by sending it far away. The ball is never faster than the engine can follow."""
    with hub_of() as hub, Mouth(hub.commands) as trainer:
        trainer.say(replacement((0, False, 7.0, 0.0, 0.0, True), (1, False, 1e308, nan, 0.0, False),
                                (2, False, 0.1, 0.0, float("inf"), True), ball=(0.0, 0.0, 300.0, -400.0)))
        found, = soon(hub.replacements)
        place, = found.robots
        assert (place.robot, place.on) == (1, False) and np.isnan([place.x, place.y, place.heading]).all()
        assert found.ball == pytest.approx((0.0, 0.0, 3.0, -4.0))
        assert "puts a robot at a place that is no number" in soon(hub.troubles)[0]
        trainer.say(replacement(ball=(0.0, 5.0, 0.0, 0.0)))
        assert "puts the ball beside the field" in soon(hub.troubles)[0]
        assert hub.replacements() == []


# -- calls and placements ---------------------------------------------------------------------------------------------
def placement(colour: int, *robots: tuple[int, float, float, float]) -> bytes:
    """Robots: id, x, y, degrees."""
    message = VSSRef_Placement()
    message.world.teamColor = colour
    for robot, x, y, degrees in robots:
        message.world.robots.add(robot_id=robot, x=x, y=y, orientation=degrees)
    return message.SerializeToString()


def test_a_call_is_sent_once_for_both_teams_and_again_each_second_until_the_next():
    with Ear() as ear, hub_of(referee=ear.address) as hub:
        blue, yellow = hub.bridge(BLUE), hub.bridge(YELLOW)
        call = Call(Foul.FREE_BALL, 2, 3, 2, 61.5)
        for bridge in (blue, yellow, blue):
            bridge.tell(call)
        heard = VSSRef_Command.FromString(ear.hear())
        assert (heard.foul, heard.teamcolor, heard.foulQuadrant, heard.timestamp, heard.gameHalf) == (3, 2, 3, 61.5, 2)
        assert ear.silent()
        assert VSSRef_Command.FromString(ear.hear()) == heard          # a second later
        blue.tell(call._replace(foul=Foul.STOP))
        assert VSSRef_Command.FromString(ear.hear()).foul == Foul.STOP
        assert VSSRef_Command.FromString(ear.hear()).foul == Foul.STOP


@needs_multicast
def test_calls_reach_programs_that_joined_the_group_wherever_the_default_route_points():
    with Ear("224.5.23.2", join="224.5.23.2") as joined, Ear("0.0.0.0", joined.address[1], join="224.5.23.2") as anywhere, \
            hub_of(referee=joined.address) as hub:
        hub.bridge(BLUE).tell(Call(Foul.KICKOFF, YELLOW, 0, 1, 0.0))
        for ear in (joined, anywhere):
            assert VSSRef_Command.FromString(ear.hear()).teamcolor == YELLOW


@needs_multicast
@pytest.mark.parametrize("interface", ["", HERE])
def test_placements_are_heard_through_loopback_and_as_existing_programs_send_them(interface):
    """Those send to the group without a word about interfaces: it leaves by the default route and comes back."""
    with hub_of(placement=("224.5.23.2", 0)) as hub, Mouth(hub.placement) as team:
        bridge = hub.bridge(YELLOW)
        if interface:
            team.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(interface))
        try:
            team.say(placement(YELLOW, (0, 0.65, 0.2, 180.0), (2, 0.3, -0.1, -90.0)))
        except OSError:
            assert not interface
            pytest.skip("this machine has no default route, so such a program cannot send")
        wanted = soon(lambda: [] if (places := bridge.placement()) is None else [places])[0]
        assert_allclose(wanted, [[0.65, 0.2, pi], [nan, nan, nan], [0.3, -0.1, -pi / 2]])
        assert hub.bridge(BLUE).placement() is None


def test_a_placement_is_kept_until_the_next_foul():
    with hub_of(placement=(HERE, 0)) as hub, Mouth(hub.placement) as team:
        bridge = hub.bridge(BLUE)
        team.say(placement(BLUE, (1, -0.5, 0.0, 0.0), (7, 0.0, 0.0, 0.0), (2, 9.0, 0.0, 0.0)))
        assert soon(lambda: bridge.placement() is not None)
        bridge.tell(Call(Foul.STOP, 2, 0, 1, 0.0))
        assert_allclose(bridge.placement(), [[nan] * 3, [-0.5, 0.0, 0.0], [nan] * 3])
        assert "puts a robot beside the field" in soon(bridge.troubles)[0]
        bridge.tell(Call(Foul.KICKOFF, BLUE, 0, 1, 0.0))
        assert bridge.placement() is None
        team.say(placement(2, (1, -0.5, 0.0, 0.0)))
        assert "is a placement of no team" in soon(lambda: "".join(bridge.troubles()))


def test_another_machine_is_not_heard_unless_somebody_asked_for_it(monkeypatch):
    monkeypatch.setattr(sockets, "is_ours", lambda host: False)
    with hub_of(placement=(HERE, 0)) as hub, Mouth(hub.placement) as team:
        bridge = hub.bridge(BLUE)
        team.say(placement(BLUE, (1, -0.5, 0.0, 0.0)))
        assert "came from another machine" in soon(bridge.troubles)[0]
        assert bridge.placement() is None
        assert hub.commands[0] == HERE


@pytest.mark.parametrize("host, ours", [("127.0.0.1", True), ("127.9.9.9", True), ("192.0.2.200", False), ("8.8.8.8", False)])
def test_addresses_of_this_machine_are_told_from_others(host, ours):
    assert sockets.is_ours(host) is ours


# -- lock-step --------------------------------------------------------------------------------------------------------
def test_in_lock_step_the_answer_to_each_picture_is_waited_for():
    """A program that thinks for a while, and sends a packet for each robot, of which the last one completes the answer."""
    def play():
        with Mouth(hub.commands) as team:
            for _ in range(30):
                seen = ear.see()
                time.sleep(0.003)
                for robot in range(3):
                    team.drive((robot, False, seen.lockstep, robot), answered=seen.lockstep if robot == 2 else NOT_YET)

    with Ear() as ear, hub_of(vision=[ear.address]) as hub:
        bridge = hub.bridge(BLUE)
        player = threading.Thread(target=play)
        player.start()
        for frame in range(30):
            bridge.show(sight(frame), game())
            assert_allclose(bridge.orders(frame, PATIENCE)[:, 0], RADIUS * (frame + 1))
        player.join()


def test_who_comes_late_to_a_game_in_lock_step_hears_the_call_and_sees_the_picture_that_is_waited_for():
    """It is waited for, although a picture is otherwise waited for a moment only."""
    def come():
        soon(lambda: hub._picture)
        eyes.silent(), ears.silent()                   # what was said before it came is lost
        assert VSSRef_Command.FromString(ears.hear()).foul == Foul.GAME_ON
        with Mouth(hub.commands) as team:
            team.drive((0, False, 5.0, 5.0), answered=eyes.see().lockstep)

    with Ear() as eyes, Ear() as ears, hub_of(vision=[eyes.address], referee=ears.address) as hub:
        bridge = hub.bridge(BLUE, patience=PATIENCE)
        bridge.tell(ON)
        bridge.show(sight(0), game())
        player = threading.Thread(target=come)
        player.start()
        assert_allclose(bridge.orders(0, 0.001)[0], 5.0 * RADIUS)
        player.join()
        assert not bridge.troubles()


def test_in_lock_step_a_placement_that_was_sent_before_an_answer_is_there_with_it():
    """Else the same game could go on a picture earlier or later."""
    def play():
        with Mouth(hub.commands) as team, Mouth(hub.placement) as places:
            for _ in range(100):
                seen = ear.see()
                places.say(placement(BLUE, (0, -seen.lockstep / 1000, 0.0, 0.0)))
                team.drive((0, False, 1.0, 1.0), answered=seen.lockstep)

    with Ear() as ear, hub_of(vision=[ear.address], placement=(HERE, 0)) as hub:
        bridge = hub.bridge(BLUE)
        player = threading.Thread(target=play)
        player.start()
        for frame in range(100):
            bridge.show(sight(frame), game())
            bridge.orders(frame, PATIENCE)
            assert bridge.placement()[0, 0] == -(frame + 1) / 1000
        player.join()


def test_from_an_old_program_in_lock_step_the_first_command_after_a_picture_counts():
    def play():
        with Mouth(hub.commands) as team:
            for _ in range(20):
                step = ear.see().step
                time.sleep(0.003)
                team.drive((0, False, step / 16, 0.0))

    with Ear() as ear, hub_of(vision=[ear.address]) as hub:
        bridge = hub.bridge(BLUE)
        player = threading.Thread(target=play)
        player.start()
        for frame in range(20):
            bridge.show(sight(frame), game())
            assert_allclose(bridge.orders(frame, PATIENCE)[0], [RADIUS * frame, 0.0])
        player.join()
        assert not bridge.troubles()


def test_a_team_that_hangs_in_lock_step_is_reported_and_not_waited_for_until_it_answers_again(monkeypatch):
    """An hour would be waited for each picture, if it were."""
    monkeypatch.setattr(network_bridge, "AGAIN", 0.0)
    with hub_of() as hub, Mouth(hub.commands) as team:
        bridge = hub.bridge(BLUE)
        bridge.show(sight(0), game())
        bridge.orders(0, 0.01)
        for frame in range(1, 50):
            bridge.show(sight(frame), game())
            bridge.orders(frame, 3600.0)
        assert bridge.troubles() == ["did not answer picture 0 within 0.01 s, and is not waited for until it does."]
        bridge.show(sight(50), game())
        team.drive((0, False, 7.0, 7.0), answered=51)
        soon(lambda: bridge.heard)
        assert_allclose(bridge.orders(50, 3600.0)[0], 7.0 * RADIUS)
        bridge.show(sight(51), game())
        bridge.orders(51, 0.01)                        # it is waited for again, and missed again
        assert bridge.troubles() == ["did not answer picture 51 within 0.01 s, and is not waited for until it does."]


def test_absurd_answers_do_not_end_the_waiting():
    with hub_of() as hub, Mouth(hub.commands) as team:
        bridge = hub.bridge(BLUE)
        bridge.show(sight(5), game())
        for answered in (5, 7, NOT_YET):
            team.drive((0, False, 1.0, 1.0), answered=answered)
        soon(lambda: bridge.heard == 3)
        bridge.orders(5, 0.01)
        assert "did not answer picture 5" in bridge.troubles()[0]


# -- silence ----------------------------------------------------------------------------------------------------------
def test_robots_of_a_team_that_is_silent_for_2_s_of_the_game_stand_and_old_orders_do_not_come_back():
    with hub_of() as hub, Mouth(hub.commands) as team:
        bridge = hub.bridge(BLUE)
        team.drive((0, False, 20.0, 20.0), (1, False, 10.0, 10.0))
        soon(lambda: bridge.heard)
        driving = np.array([[0.4, 0.4], [0.2, 0.2], [0.0, 0.0]])
        for frame in range(200):                       # 16 ms each; how long that takes on the clock does not matter
            bridge.show(sight(frame), game())
            assert_allclose(bridge.orders(frame, 0.0), driving if 0.016 * frame < 2.0 else 0.0)
        assert bridge.troubles() == ["no commands for 2 s; its robots stand until some come."]
        assert bridge.failure() == "no commands for it came any more"
        team.drive((1, False, 5.0, 5.0))
        soon(lambda: bridge.heard == 2)
        assert_allclose(bridge.orders(199, 0.0), [[0.0, 0.0], [0.1, 0.1], [0.0, 0.0]])
        bridge.show(sight(200), game())
        assert bridge.troubles() == ["commands arrive again."]


def test_a_team_that_nobody_plays_or_that_falls_silent_is_told_once(monkeypatch):
    monkeypatch.setattr(network_bridge, "SILENCE", 0.05)
    with hub_of() as hub, Mouth(hub.commands) as team:
        bridge, lines = hub.bridge(YELLOW), []

        def watch(times):
            for _ in range(times):
                bridge.show(sight(len(frames)), game())
                frames.append(len(frames))
                lines.extend(bridge.troubles())
                time.sleep(0.02)

        frames: list[int] = []
        watch(10)
        assert lines == [f"no program sends commands for yellow to {HERE}:{hub.commands[1]} yet."]
        team.drive((0, True, 1.0, 1.0))
        soon(lambda: bridge.heard)
        watch(10)
        assert lines[1:] == ["commands arrive.", "no commands for 0.05 s; its robots stand until some come."]
        time.sleep(0.2)                                # a pause: no pictures, so no answer is expected
        team.drive((0, True, 1.0, 1.0))
        soon(lambda: bridge.heard == 2)
        watch(1)
        assert lines[3:] == ["commands arrive again."]


# -- opening and closing ----------------------------------------------------------------------------------------------
def test_a_port_in_use_is_one_clear_message_and_nothing_stays_open():
    threads = threading.active_count()
    with hub_of() as hub:
        with pytest.raises(FormigaError) as wrong, hub_of(commands=hub.commands):
            pass
        assert str(wrong.value) == (f"port {hub.commands[1]} of 127.0.0.1 is in use, by FIRASim or another match perhaps; "
                                    "give another one with --commands HOST:PORT.")
        with pytest.raises(FormigaError, match="--placement HOST:PORT"), hub_of(placement=hub.commands):
            pass
        port = hub.commands
    with hub_of(commands=port) as again:               # free again, as soon as the first one is closed
        assert again.commands == port
    assert threading.active_count() == threads


@pytest.mark.parametrize("given, message", [
    ({"commands": ("192.0.2.200", 20011)}, "192.0.2.200:20011 is no address of this machine (.*); give another"),
    ({"commands": (HERE, 70000)}, "--commands: port 70000 is out of range; it must be from 0 to 65535."),
    ({"vision": [(HERE, 0)]}, "--vision: port 0 is out of range; it must be from 1 to 65535."),
    ({"vision": [("no such.host", 9)]}, "--vision: 'no such.host' is no address of a machine"),
    ({"interface": "192.0.2.200"}, "no interface of this machine has the address 192.0.2.200"),
    ({"players": 11}, "a picture of 11 against 11 can have 1,[0-9]+ bytes, and network teams read 1,024; let fewer"),
])
def test_what_cannot_be_opened_is_one_clear_message(given, message):
    with pytest.raises(FormigaError, match=message), hub_of(**given):
        pass


@pytest.mark.parametrize("text", ["20011", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1", "127.0.0.1:99999"])
def test_an_address_is_a_host_and_a_port(text):
    assert network.parse("127.0.0.1:20011") == (HERE, 20011)
    with pytest.raises(FormigaError, match=r"HOST:PORT|out of range"):
        network.parse(text)


def test_the_hub_is_closed_when_all_its_bridges_are():
    hub = Network(3, Field(), RADIUS, TOP, BALL, vision=(), commands=(HERE, 0), referee=None, placement=None)
    blue, yellow = hub.bridge(BLUE, "Bots"), hub.bridge(YELLOW)
    assert (blue.name, yellow.name) == ("Bots", "network yellow")
    with pytest.raises(FormigaError, match="the blue team plays over the network already"):
        hub.bridge(BLUE)
    blue.close()
    with Mouth(hub.commands) as team:
        team.drive((0, True, 1.0, 1.0))
        arrived(yellow)
    yellow.close()
    yellow.close()
    assert not hub._thread.is_alive()
    yellow.show(sight(), game())                       # a match that has not noticed yet
    yellow.tell(ON)
    assert yellow.orders(0, 3600.0).shape == (3, 2)
    with hub_of(commands=hub.commands):
        pass
