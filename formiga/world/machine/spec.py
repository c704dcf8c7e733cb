"""An MJCF or URDF file as one robot of MuJoCo. Run as a script, it tries the file out under limits of memory and time.

    python spec.py ARGUMENTS        ARGUMENTS: JSON with file, smooth, gain, fixed, memory (bytes), seconds (of the processor)

The script prints one line of JSON: {"bodies": ..., "dofs": ..., "geoms": ..., "heights": ..., "bytes": ..., "motors": ...,
"joints": ..., "keys": ...} if the file compiles and makes one step, {"wrong": reason} if MuJoCo refuses it, and nothing if it
was stopped at a limit. It imports MuJoCo and nothing of formiga, so that it starts quickly.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from itertools import count
from typing import Any

SMOOTH = 1000   # priority of a geom without friction over what it touches


def describe(file: str, smooth: str, gain: float, fixed: bool) -> Any:
    """A `mujoco.MjSpec` of the one body at the top of the file, all of its motors with a name; ValueError if there is none."""
    import mujoco

    spec = mujoco.MjSpec.from_file(file)
    spec.compiler.fusestatic = False  # a caster is a link of its own, also if it does not move
    spec.memory = -1                  # the arena is sized for the whole world, not by one robot
    tops = list(spec.worldbody.bodies)
    if len(tops) != 1:
        raise ValueError(f"it has {len(tops) or 'no'} bodies at the top, and a robot has one")
    tops[0].name = tops[0].name or "robot"
    for each in [*spec.worldbody.geoms, *spec.worldbody.lights, *spec.worldbody.cameras]:
        spec.delete(each)  # a floor and lamps to look at it; here it stands in our world
    for each in [*spec.keys, *spec.sensors]:
        spec.delete(each)  # poses of the file alone, and readings that formiga does not use: its own sensors do that
    _name_joints(spec)
    moving = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    if not spec.actuators:
        for joint in [joint for joint in spec.joints if joint.type in moving]:
            spec.add_actuator(name=joint.name, target=joint.name,
                              trntype=mujoco.mjtTrn.mjTRN_JOINT).set_to_velocity(kv=gain)
    for number, motor in enumerate(spec.actuators):
        motor.name = motor.name or f"motor{number}"
        if motor.trntype not in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
            raise ValueError(f"its motor '{motor.name}' does not drive a joint")
    _smooth(spec, smooth)
    if fixed:
        _fix(spec, tops[0])
    elif not any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in tops[0].joints):
        tops[0].add_freejoint()
    return spec


def _name_joints(spec: Any) -> None:
    """Give each joint a name, by which a motor can drive it."""
    taken = {joint.name for joint in spec.joints}
    free = (name for number in count() if (name := f"joint{number}") not in taken)
    for joint in spec.joints:
        joint.name = joint.name or next(free)


def _fix(spec: Any, first: Any) -> None:
    """Let the first body stay where the world puts it: a mocap body of MuJoCo, whose pose is in the state."""
    import mujoco

    for joint in list(first.joints):
        if joint.type != mujoco.mjtJoint.mjJNT_FREE:
            raise ValueError(f"it is fixed, and its first body '{first.name}' has the joint '{joint.name}'; put a body without "
                             "joints around it")
        spec.delete(joint)
    first.mocap = True


def _smooth(spec: Any, names: str) -> None:
    """Take the friction from the bodies of these names."""
    bodies = {body.name: body for body in spec.bodies}
    for name in names.split():
        if name not in bodies:
            raise ValueError(f"it has no body '{name}' to be smooth")
        for geom in bodies[name].geoms:
            geom.friction, geom.condim, geom.priority = (0.0, 0.0, 0.0), 1, SMOOTH


# -- the trial, in a process of its own -------------------------------------------------------------------------------------
def _limit(memory: int, seconds: int) -> None:
    """Limits of this process, beyond what it has used already. Windows has none; there the caller's clock is the limit."""
    try:
        import resource
    except ImportError:
        return
    used = 0
    with suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    for name, most in (("RLIMIT_AS", used + memory), ("RLIMIT_CPU", int(spent) + 1 + seconds), ("RLIMIT_CORE", 0),
                       ("RLIMIT_FSIZE", 0)):
        with suppress(OSError, ValueError, AttributeError):
            limit = getattr(resource, name)
            hard = resource.getrlimit(limit)[1]
            resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _try(arguments: dict[str, Any]) -> dict[str, Any]:
    import mujoco

    mujoco.set_mju_user_warning(lambda text: None)  # it would write into a log file
    _limit(arguments["memory"], arguments["seconds"])
    try:
        model = describe(arguments["file"], arguments["smooth"], arguments["gain"], arguments["fixed"]).compile()
        _refuse_no_numbers(model)
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data)
    except MemoryError:
        return {"wrong": f"MuJoCo needs more than {arguments['memory'] >> 30} GB of memory for it"}
    except (ValueError, OSError, mujoco.FatalError) as wrong:
        return {"wrong": " ".join(str(wrong).split()).rstrip(".") or type(wrong).__name__}
    return {"bodies": model.nbody, "dofs": model.nv, "geoms": model.ngeom, "heights": model.nhfielddata,
            "bytes": model.nbuffer + data.nbuffer, "motors": _motors(model), "joints": _joints(model),
            "keys": _keys(arguments["file"])}


def _motors(model: Any) -> list[list[Any]]:
    """Of each motor: name, mode, least and largest order (None: any), the joint that it moves, its gear and its largest effort
    (None: any)."""
    import mujoco
    import numpy as np

    found = []
    for number in range(model.nu):
        motor, (_, place, speed, *_) = model.actuator(number), model.actuator_biasprm[number]
        affine = model.actuator_biastype[number] == mujoco.mjtBias.mjBIAS_AFFINE
        integrates = model.actuator_dyntype[number] == mujoco.mjtDyn.mjDYN_INTEGRATOR
        mode = "torque" if not affine else "velocity" if integrates or (place == 0.0 and speed != 0.0) else \
            "position" if place != 0.0 else "torque"
        limits = motor.ctrlrange.tolist() if model.actuator_ctrllimited[number] else [None, None]
        effort = float(np.abs(motor.forcerange).max()) if model.actuator_forcelimited[number] else None
        found.append([motor.name, mode, *limits, model.joint(int(motor.trnid[0])).name, float(motor.gear[0]), effort or None])
    return found


def _joints(model: Any) -> dict[str, list[Any]]:
    """Of each hinge and slider: 'hinge' or 'slider', its least and largest place (None: any), and where it is by itself."""
    import mujoco

    kinds = {int(mujoco.mjtJoint.mjJNT_HINGE): "hinge", int(mujoco.mjtJoint.mjJNT_SLIDE): "slider"}
    return {joint.name: [kinds[int(joint.type[0])], *(joint.range.tolist() if model.jnt_limited[joint.id] else [None, None]),
                         float(joint.qpos0[0])]
            for joint in map(model.joint, range(model.njnt)) if int(joint.type[0]) in kinds}


def _keys(file: str) -> dict[str, dict[str, float]]:
    """Of each named <key>: where it has the hinges and sliders. Keys that do not fit the robot are left out, as MuJoCo says."""
    import mujoco

    spec = mujoco.MjSpec.from_file(file)
    if not spec.keys:
        return {}
    _name_joints(spec)
    spec.compiler.fusestatic = False
    try:
        model = spec.compile()
    except (ValueError, mujoco.FatalError):
        return {}
    column = {name: model.jnt_qposadr[model.joint(name).id] for name in _joints(model)}
    return {model.key(k).name: {name: float(model.key_qpos[k, place]) for name, place in column.items()}
            for k in range(model.nkey) if model.key(k).name}


def _refuse_no_numbers(model: Any) -> None:
    """ValueError if a number of the compiled robot is NaN or infinite: MuJoCo takes most of them as they are."""
    import numpy as np

    found = {name: getattr(model, name) for name in dir(model) if not name.startswith("_")}
    wrong = [name for name, values in found.items()
             if isinstance(values, np.ndarray) and values.dtype.kind == "f" and not np.isfinite(values).all()]
    if wrong:
        raise ValueError(f"it has numbers that are not finite: {', '.join(wrong)}")


def _main() -> None:
    answer = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what MuJoCo prints is no part of the answer
    os.write(answer, json.dumps(_try(json.loads(sys.argv[1]))).encode())


if __name__ == "__main__":
    _main()
