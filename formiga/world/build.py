"""What the spatial engine offers a robot that builds its own part of the model: `robot.build_part(build)`.

    def build_part(self, build):
        base = build.base()                                     # a drum on its drive
        build.shell(base)
        mast = build.body(base, "mast", at=(0.0, 0.0, self.height))
        build.geom(mast, "capsule", (0.01,), to=(0.0, 0.0, 0.2), mass=0.05)
        build.hinge(mast, "mast", axis=(0.0, 0.0, 1.0))
        build.motor("mast", "mast", strength=0.2)               # carries out the joint 'mast' of `self.joints`

Bodies are MuJoCo's `MjsBody`: what is not offered here can be done to them directly. Names are the robot's own: the engine
puts the robot's number in front.
"""

from __future__ import annotations

from typing import Any, Protocol

Vector = tuple[float, float, float]


class Builder(Protocol):
    """Adds the bodies, joints and motors of one robot."""

    spec: Any          # mujoco.MjSpec of the whole model, for what is not below
    sliding: bool      # whether this robot stands on a sliding base, as `robot.slides` says

    # -- what it stands on: the first call --------------------------------------------------------------------------
    def base(self) -> Any:
        """The body 'chassis' with the whole mass on its drive: sliding, on wheels, or free to fall over without a drive."""

    def slide(self, name: str, mass: float) -> Any:
        """A sliding base: x, y and a turn about the vertical, over a level floor."""

    def roll(self, share: float) -> Any:
        """The body 'chassis', free in space, on two wheels and two casters. share: of the robot's mass, with the wheels."""

    def attach(self, child: Any, wheels: tuple[str, ...], lift: float | None) -> None:
        """A whole robot of a `mujoco.MjSpec`, all of its motors with a name.

        wheels: motors of its two wheels, if it has a drive; lift: m of its origin above the ground at the start, None: as high
        as its lowest point needs.
        """

    # -- what is on it -------------------------------------------------------------------------------------------------
    def body(self, parent: Any, name: str, at: Vector = (0.0, 0.0, 0.0)) -> Any:
        """A further part, fixed to its parent until it gets a joint. Its mass is that of its geoms, or of `drum`."""

    def geom(self, body: Any, shape: str, size: tuple[float, ...], at: Vector = (0.0, 0.0, 0.0), *, to: Vector | None = None,
             mass: float = 0.0, colour: str | None = None, ghost: bool = False) -> None:
        """A shape of MuJoCo, which others bump into and see; a ghost has only a mass.

        shape and size: sphere (radius), box (half the sides), cylinder and capsule (radius, half the length). to: the other
        end of a cylinder or capsule that begins at `at`.
        """

    def drum(self, body: Any, mass: float, middle: float, height: float) -> None:
        """Give a body the mass and inertia of an upright drum of the robot's radius, its middle so high above its origin."""

    def shell(self, body: Any, drum: bool = False) -> None:
        """What others bump into: the robot's outline or disc, up to its height.

        A disc becomes a sphere, which is cheaper and the same among robots of one height; or an upright drum above its wheels.
        """

    def hinge(self, body: Any, name: str, axis: Vector, limits: tuple[float, float] | None = None,
              armature: float = 0.0) -> None:
        """Let a body turn about an axis through its origin; limits in rad."""

    def slider(self, body: Any, name: str, axis: Vector, limits: tuple[float, float] | None = None) -> None:
        """Let a body move along an axis; limits in m."""

    def motor(self, joint: str, moves: str, strength: float, *, gain: float | None = None, damping: float | None = None,
              sign: float = 1.0) -> None:
        """The motor that carries out `joint` of robot.joints, in its mode, by moving a hinge or slider.

        strength: N m or N, at most; sign: -1 if the hinge turns the other way round.
            position: gain (order - place) - damping speed;  velocity: the place that the ordered speed gives, in the same way;
            torque: as ordered
        """

    def idle(self, joint: str) -> None:
        """This build of the robot has no motor for that joint; orders for it do nothing."""

    def gripper(self, body: Any, at: Vector) -> None:
        """Let a body grip what is at a place in its frame. The robot's joint 'grip' closes it."""

    def chassis(self, body: Any) -> None:
        """The body whose pose is the robot's own, if it is not the base."""

    def held_by(self, body: Any) -> None:
        """The body by which others hold the robot, and which its own rays do not meet, if it is not the base."""


__all__ = ["Builder"]
