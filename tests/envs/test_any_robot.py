"""Environments for any robot: cars, omnidirectional ones, legs, lights; what is seen, what may be done, what each is called."""

import warnings
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import formiga
from formiga.envs.batch import Batch
from formiga.errors import FormigaError, WorldError
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.loop import Simulation
from formiga.world.reader import read_text
from formiga.world.shipped import shipped_worlds

FLAT = """<world dt="0.1" seconds="2"><arena width="3" depth="3"/>
<{0} count="2" name="r"><scatter/>{1}</{2}><fitness of="speed"/></world>"""
CAR = FLAT.format('car shape="disc"', "<proximity/><encoders/>", "car")
OMNI = FLAT.format("omni", "<proximity/><odometry/>", "omni")
LIGHTS = FLAT.format('sbot leds="2"', '<omnicamera mode="list" blobs="3"/>', "sbot")
SBOT3D = FLAT.format('sbot joint_speed="2" model="detailed"', "<motors/><traction/><accelerometer/>", "sbot") \
    .replace("<world", '<world engine="spatial"')
LEGS = """<world engine="spatial" dt="0.04" seconds="1"><arena width="4" depth="4" walls="false"/>
<machine name="dog" file="{}" posture="stand" radius="20cm"><at x="0" y="0" heading="0"/><motors/><inclinometer/>
</machine><fitness of="speed"/></world>""".format(shipped_worlds()["quadruped"].parent / "robots" / "quadruped.xml")
TALK = FLAT.format('sbot leds="0"', '<range_and_bearing numbers="2" most="3" limit="5"/><radio most="1" limit="2"/>', "sbot")
BELIEF = FLAT.format("sbot", "<encoders/><odometry/>", "sbot")
# numbers that one robot reads, and that it takes
ANY = {"car": (CAR, None, 15 + 2, 2), "omni": (OMNI, None, 15 + 3, 3), "quadruped": (LEGS, None, 24 + 3, 12),
       "lights": (LIGHTS, ["drive", "leds"], 3 * 5, 2 + 2 * 3), "messages": (TALK, None, 3 * 5 + 2, 2 + 3),
       "messages in space": (TALK.replace("<world", '<world engine="spatial"'), ["message", "drive"], 3 * 5 + 2, 2 + 3),
       "beliefs": (BELIEF, None, 2 + 3, 2), "s-bot in space": (SBOT3D, None, 6 + 2 + 3, 2 + 3)}
EACH = pytest.mark.parametrize("text, actions, seen, told", ANY.values(), ids=ANY)


@kernel()
def east_world(w, position, first, out):
    """Where each robot is along x."""
    for i in range(out.shape[1]):
        out[w, i, 0] = position[w, first + i, 0]


def quiet():
    """Gymnasium warns of infinite bounds, which say what is true of a wheel's angle; nothing else may be warned of."""
    caught = warnings.catch_warnings()
    caught.__enter__()
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message=r".*m(in|ax)imum value is -?infinity")
    return caught


def same(one, other):
    """Whether two readings agree bit for bit."""
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


# -- the two libraries ------------------------------------------------------------------------------------------------
@EACH
def test_gymnasium_and_pettingzoo_find_nothing_to_complain_about(text, actions, seen, told):
    world = read_text(text)
    caught = quiet()
    try:
        env = formiga.make_env(world, actions=actions)
        check_env(env, skip_render_check=True)
        parallel_api_test(formiga.parallel_env(world, actions=actions), num_cycles=40)
        parallel_seed_test(lambda: formiga.parallel_env(world, actions=actions), num_cycles=10)
    finally:
        caught.__exit__(None, None, None)
    count = env.batch.group.count
    assert env.observation_space.shape == (count * seen,) and env.action_space.shape == (count * told,)
    assert len(env.observation_names) == count * seen and len(env.action_names) == count * told


@EACH
def test_everything_that_is_seen_is_inside_the_space_and_worlds_are_the_same_in_any_batch(text, actions, seen, told, rng):
    world = read_text(text)
    many, one = (formiga.make_vector_env(world, worlds, actions=actions, max_episode_steps=7) for worlds in (3, 1))
    found, alone = many.reset(seed=3)[0], one.reset(seed=3)[0]
    for _ in range(16):
        action = rng.uniform(many.action_space.low, many.action_space.high).astype(np.float32)
        assert many.observation_space.contains(found) and np.array_equal(found[0], alone[0])
        found, reward, *_ = many.step(action)
        alone, its, *_ = one.step(action[:1])
        assert reward[0] == its[0] and np.isfinite(reward).all()


# -- what is seen -----------------------------------------------------------------------------------------------------
def test_signed_readings_are_seen_from_minus_1_to_1_and_endless_ones_as_they_are():
    env = formiga.make_env(read_text(SBOT3D))
    space, names = env.observation_space, env.observation_names
    assert names[:3] == ("r_0.motors[0]", "r_0.motors[1]", "r_0.motors[2]") and names[11] == "r_1.motors[0]"
    limits = dict(zip(names, zip(space.low, space.high)))
    assert limits["r_0.motors[3]"] == (-1.0, 1.0)                        # the turret's effort
    assert limits["r_0.traction[0]"] == (-1.0, 1.0) and limits["r_0.traction[1]"] == (0.0, np.inf)
    assert limits["r_1.accelerometer[2]"] == (-np.inf, np.inf)
    seen, _ = env.reset(seed=1)
    assert seen[names.index("r_0.accelerometer[2]")] == pytest.approx(9.81, abs=0.01)


def test_all_readings_are_seen_unless_they_are_left_out_by_name():
    world = read_text(CAR)
    env = formiga.make_env(world)
    assert {name.split(".")[1].partition("[")[0] for name in env.observation_names} == {"proximity", "encoders"}
    assert formiga.make_env(world, without=["encoders"]).observation_space.shape == (30,)
    assert formiga.make_env(world, observe=["encoders"]).observation_names[0] == "r_0.encoders[0]"
    names = formiga.parallel_env(world, observe=["encoders", "proximity"], without={"proximity"}).observation_names
    assert names == ("encoders[0]", "encoders[1]")
    assert formiga.make_vector_env(world, 2, without=["proximity"]).observation_space.shape == (2, 4)


def test_a_group_with_a_network_shows_its_inputs_and_all_if_it_is_asked():
    text = FLAT.format("sbot", '<proximity/><encoders/><perceptron inputs="proximity"/>', "sbot")
    assert Batch(read_text(text)).inputs.shape == (1, 2, 15)
    assert Batch(read_text(text), observe="all").inputs.shape == (1, 2, 17)
    assert Batch(read_text(text), observe=["encoders"]).inputs.shape == (1, 2, 2)


def test_the_kernel_gives_the_bits_of_the_readable_loop_for_signed_readings(own, rng):
    """A sensor of the user's own with kernels and a range with numbers below 0."""
    def stages(scene):
        out = np.zeros((scene.state.worlds, scene.group.count, 1))
        return out, [Stage(east_world, (scene.state.position, scene.robots.start, out))]

    sensor = own("sensor", name="east", read=lambda scene: scene.state.position[:, scene.robots, :1].copy(), stages=stages,
                 bounds=lambda robot: (-1.5, 1.5))
    world = read_text(FLAT.format("sbot", "<proximity/>", "sbot"))
    world = replace(world, groups=(world.groups[0].carrying("sensor", (*world.groups[0].sensors, sensor)),))
    fast, slow = Batch(world, 3), Batch(world, 3, compiled=False)
    assert fast._step_parts and not slow._step_parts
    fast.reset(2)
    slow.reset(2)
    for actions in rng.uniform(-1, 1, (10, 3, 2, 2)):
        assert np.array_equal(fast.inputs, slow.inputs) and fast.inputs[..., 15].min() < 0.0
        assert np.array_equal(fast.inputs[..., 15], fast.lab.state.position[..., 0] / 1.5)
        fast.step(actions)
        slow.step(actions)


# -- what may be done -------------------------------------------------------------------------------------------------
def test_joints_go_where_the_action_says():
    env = formiga.make_env("hexapod")
    env.reset(seed=1)
    assert env.action_names[:3] == ("hexapod_0.joints.lf_coxa", "hexapod_0.joints.lf_femur", "hexapod_0.joints.lf_tibia")
    action = np.linspace(-1, 1, 18)
    env.step(action)
    low, high = env.batch.group.robot.joint_range
    assert env.batch.lab.state.joint_command[0, 0] == pytest.approx(low + 0.5 * (high - low) * (action + 1.0))


def test_lights_are_in_the_action_if_they_are_asked_for():
    env = formiga.make_env(read_text(LIGHTS), actions=["leds"])
    assert env.action_space.low.min() == 0.0 and env.action_names[:3] == ("r_0.leds[0].red", "r_0.leds[0].green",
                                                                          "r_0.leds[0].blue")
    env.reset(seed=1)
    env.step(np.linspace(0, 1, 12))
    lights = env.batch.lab.state.leds[0, :, :2].reshape(-1)
    assert lights.tolist() == np.rint(np.linspace(0, 255, 12)).tolist()
    assert not env.batch.lab.state.drive.any()
    assert formiga.make_env(read_text(LIGHTS)).action_space.shape == (4,)   # the drive alone


def test_what_is_not_in_the_action_stays_as_it_is():
    env = formiga.make_env(read_text(SBOT3D), actions=["joints"])
    env.reset(seed=1)
    env.step(np.ones(6))
    state = env.batch.lab.state
    assert (np.abs(state.drive) < 0.01).all()                            # its wheels yield a little
    assert (state.joint_command[0, :, :2] == 2.0).all() and (state.joint_command[0, :, 2] == 1.0).all()


def test_messages_are_numbers_up_to_the_limit_of_their_link_and_are_heard_in_the_next_step(rng):
    env = formiga.make_env(read_text(TALK))
    assert env.action_names[2:5] == ("r_0.message.range_and_bearing[0]", "r_0.message.range_and_bearing[1]",
                                     "r_0.message.radio[0]")
    assert env.observation_space.contains(env.reset(seed=1)[0])
    action = rng.uniform(-1, 1, 10)
    seen = dict(zip(env.observation_names, env.step(action)[0]))
    said = dict(zip(env.action_names, action))
    assert env.batch.lab.state.outbox[0, 0] == pytest.approx([5 * action[2], 5 * action[3], 2 * action[4]])
    for own, other in (("r_0", "r_1"), ("r_1", "r_0")):
        assert seen[f"{own}.range_and_bearing[0,0]"] == 1.0 and seen[f"{own}.range_and_bearing[1,0]"] == 0.0
        for k in range(2):
            assert seen[f"{own}.range_and_bearing[0,{3 + k}]"] == pytest.approx(said[f"{other}.message.range_and_bearing[{k}]"])
        assert seen[f"{own}.radio[0,1]"] == pytest.approx(said[f"{other}.message.radio[0]"])
        assert 0.0 < seen[f"{own}.range_and_bearing[0,1]"] <= 1.0        # the range, in ranges of the link
    quiet = formiga.make_env(read_text(TALK), actions=["drive"])         # it hears, and says nothing
    quiet.reset(seed=1)
    assert not any("message" in name for name in quiet.action_names) and not quiet.step(np.ones(4))[0].any()


@pytest.mark.parametrize("text", [TALK, BELIEF.replace("<encoders/>", "<proximity/>")])
def test_with_messages_and_beliefs_the_kernel_gives_the_bits_of_the_readable_loop(text, rng):
    world = read_text(text)
    fast, slow = (Batch(world, 3, steps=9, compiled=compiled) for compiled in (True, False))
    assert fast._step_parts and not slow._step_parts
    fast.reset(2)
    slow.reset(2)
    for actions in rng.uniform(-1.2, 1.2, (25, 3, 2, fast.channels)):
        assert np.array_equal(fast.inputs, slow.inputs)
        for batch in (fast, slow):
            batch.step(actions)
        assert np.array_equal(fast.inputs, slow.inputs) and np.array_equal(fast.reward, slow.reward)
        assert np.array_equal(fast.lab.state.outbox, slow.lab.state.outbox, equal_nan=True)
        assert same(fast.lab.readings["r"], slow.lab.readings["r"])          # also when the loop reads what kernels remember
        over = fast.over.copy()
        for batch in (fast, slow):
            batch.restart(over)
            assert np.isnan(batch.lab.state.outbox[over]).all()


def test_episodes_of_a_batch_begin_with_an_empty_queue_and_an_empty_account():
    """A message may still be on its way when its episode ends, and is heard in no other. World 0 alone starts again."""
    link = '<range_and_bearing numbers="1" limit="9" range="9" sight="none" delay="0.3"/>'
    batch = Batch(read_text(FLAT.format("sbot", link, "sbot")), 2, group="r", actions=["drive", "message"])
    assert batch._step_parts  # compiled
    batch.reset(seed=1)
    heard, account = (batch.lab.state.memory["r/range_and_bearing", name] for name in ("inbox", "traffic"))
    for episode in range(2):
        for step in range(1, 7):
            batch.step(np.concatenate([np.zeros((2, 2, 2)), np.full((2, 2, 1), 0.5)], axis=2))
            assert (heard[0, :, 0, 0] == (step >= 4)).all(), (episode, step)
            assert (account[0, :, 0] == step).all()
        batch.restart(np.array([True, False]))
        assert (heard[0] == 0.0).all() and (account[0] == 0).all() and (account[1, :, 0] == 6 * (episode + 1)).all()


def test_in_the_plane_joints_are_not_in_the_action():
    assert formiga.make_env(read_text(LIGHTS)).action_names == ("r_0.drive.left", "r_0.drive.right", "r_1.drive.left",
                                                                "r_1.drive.right")


def test_a_gait_given_as_actions_walks_as_the_controller_does():
    """The environment of the hexapod, told what its <gait> would order."""
    world = formiga.read_world("hexapod")
    lab, env = Simulation(world, 4), formiga.make_env("hexapod")
    env.reset(seed=4)
    low, high = world.groups[0].robot.joint_range
    for _ in range(25):
        lab.step()
        ordered = lab.orders["hexapod"].joints[0, 0]
        _, reward, *_ = env.step(2.0 * (ordered - low) / (high - low) - 1.0)
    assert env.batch.lab.state.position == pytest.approx(lab.state.position, abs=1e-6)
    assert reward == pytest.approx(lab.state.velocity[0, 0, 0], abs=0.02)


def test_the_hexapod_has_an_id():
    env = gymnasium.make("formiga/Hexapod-v0")
    assert env.observation_space.shape == (39,) and env.action_space.shape == (18,)
    assert len(env.get_wrapper_attr("action_names")) == 18 and (env.observation_space.high == 1.0).all()


# -- what goes wrong --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text, choice, complaint", [
    (CAR, {"without": ["encodres"]}, "without: there is no reading 'encodres'. Did you mean 'encoders'?"),
    (CAR, {"observe": ["camra"]}, "observe: there is no reading 'camra'. There are: proximity, encoders"),
    (CAR, {"without": "encoders"}, "without: it must be a list of names, such as \\[\"proximity\"\\], not 'encoders'"),
    (CAR, {"observe": 3}, "observe: it must be a list of names"),
    (CAR, {"actions": "drive"}, "actions: it must be a list of names, such as \\[\"drive\"\\]"),
    (CAR, {"without": ["encoders", "proximity"]}, "<text>:2: there is nothing to observe: .* 'r' read proximity, encoders"),
    (CAR, {"actions": ["joints"]}, "have no joints, so 'joints' says nothing to them. They take: drive"),
    (CAR, {"actions": ["drvie"]}, "there is no part 'drvie'. Did you mean 'drive'?"),
    (CAR, {"actions": []}, "nothing to do"),
    (CAR.replace("<proximity/><encoders/>", ""), {}, "<text>:2: there is nothing to observe: the robots of 'r' read nothing"),
    (LIGHTS, {"actions": ["joints"]}, "joints move only in space; choose engine=\"spatial\""),
    (SBOT3D.replace('joint_speed="2"', ""), {}, "joint 'turret' of 'r' takes any velocity.*Declare one: joint_speed"),
    (LIGHTS, {"actions": ["message"]}, "have no link"),
    (TALK.replace('limit="2"', ""), {}, "the messages of <radio> 'radio' of 'r' have numbers of any size, .*limit=\"1\""),
])
def test_a_wrong_choice_is_named(text, choice, complaint):
    with pytest.raises(WorldError, match=complaint):
        formiga.make_env(read_text(text), **choice)


def test_soccer_has_its_own_observation_and_action():
    for make in (formiga.make_env, formiga.make_vector_env, formiga.parallel_env):
        with pytest.raises(WorldError, match="robot soccer has an observation and an action of its own"):
            make("soccer", without=["ball"])


def test_an_action_of_the_wrong_shape_is_refused():
    env = formiga.make_env("hexapod")
    env.reset(seed=1)
    with pytest.raises(FormigaError, match=r"actions must be numbers of the shape \(18,\), not float64 of the shape \(2,\)"):
        env.step(np.zeros(2))
    with pytest.raises(FormigaError, match="is not a number"):
        env.step(np.full(18, np.nan))
