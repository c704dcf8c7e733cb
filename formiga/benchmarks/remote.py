"""Programs in other processes: how often in a second a simulation can ask one and wait for its answer; what a rosbridge costs.

A round trip is one question of 5 s-bots with 15 beams each, in lock step: it is written, the program reads it, writes a drive
for each robot and is waited for, and its orders are checked. A step is a whole `Simulation.step`: beams are cast, and robots
move. `processor_us` is what this process uses for a step, looking for the answer included; `program_us` is that of the
program. rosbridge.py measures the other table.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import formiga
from formiga.benchmarks import rosbridge
from formiga.benchmarks.measure import Columns, show
from formiga.control.remote import RemoteControl
from formiga.errors import FormigaError
from formiga.link.clients import FOLDER
from formiga.link.process import environment
from formiga.loop import Simulation
from formiga.world.model import World

BLOCKS, FULL_BLOCKS, BLOCK = 12, 40, 2_000     # blocks of so many round trips each
COLUMNS: Columns = (("transport", "transport", "{}"), ("client", "program in", "{}"),
                    ("round_trips_per_s", "round trips/s", "{:,.0f}"),
                    ("wanted", "wanted", "{:,.0f}"), ("steps_per_s", "steps/s", "{:,.0f}"),
                    ("median_steps_per_s", "median\nblock", "{:,.0f}"), ("processor_us", "us here", "{:.0f}"),
                    ("program_us", "us in the\nprogram", "{:.0f}"))
IN_PYTHON = """
from formiga_remote import Robots
with Robots.from_arguments() as robots:
    for _ in robots:
        robots.orders["drive"][:] = 0.01 * robots.readings["proximity"][..., :2]
"""
IN_C = """
#include "formiga_remote.h"
int main(int argc, char **argv) {
    struct formiga_robots robots;
    if (formiga_open(&robots, argc, argv)) return 1;
    while (formiga_look(&robots)) {
        size_t beams, wheels;
        const double *near = (const double *)formiga_find(&robots, "reading", "proximity", &beams);
        double *drive = (double *)formiga_find(&robots, "order", "drive", &wheels);
        for (uint32_t i = 0; i < robots.worlds * robots.count; i++)
            for (size_t k = 0; k < 2; k++) drive[wheels * i + k] = 0.01 * near[beams * i + k];
        formiga_send(&robots);
    }
    formiga_close(&robots);
    return 0;
}
"""


def run(full: bool = False) -> dict[str, Any]:
    """Measure all rows and print them, in two tables."""
    asked = list(round_trips(full))
    show("Round trips to a program in another process, in lock step (best block)", asked,
         [] if shutil.which("cc") else ["There is no C compiler here, so there is no program in C."], COLUMNS)
    served = rosbridge.rows(full)
    show("rosbridge: scans to a client in another process, in real time", served, [], rosbridge.COLUMNS)
    return {"rows": [*asked, *served]}


def round_trips(full: bool) -> Iterator[dict[str, Any]]:
    """Shared memory and UDP, from Python and from C."""
    with tempfile.TemporaryDirectory() as folder:
        for language, command in _commands(Path(folder)):
            for transport, wanted in (("memory", 20_000), ("udp", 5_000)):
                with _connected(command, transport) as (lab, pid):
                    yield {"transport": transport, "client": language, "wanted": wanted,
                           **_measure(lab, pid, FULL_BLOCKS if full else BLOCKS)}


def _commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    (folder / "driver.py").write_text(IN_PYTHON, encoding="utf-8")
    yield "Python", [sys.executable, str(folder / "driver.py")]
    if (compiler := shutil.which("cc")) is not None:
        (folder / "driver.c").write_text(IN_C, encoding="utf-8")
        subprocess.run([compiler, "-O2", "-I", str(FOLDER), "-o", str(folder / "driver"), str(folder / "driver.c"), "-lm"],
                       check=True)
        yield "C", [str(folder / "driver")]


@contextmanager
def _connected(command: list[str], transport: str) -> Iterator[tuple[Simulation, int]]:
    world = _world()
    if transport == "memory":
        with Simulation(formiga.attach(world, "swarm", command)) as lab:
            lab.step()
            yield lab, _driver(lab).pid
        return
    with Simulation(world) as lab:
        driver = _driver(lab)
        driver.open()
        if driver.address is None:
            raise FormigaError(" ".join(driver.troubles()))
        child = subprocess.Popen([*command, "--udp", f"127.0.0.1:{driver.address[1]}"], env=environment())
        try:
            if not driver.ready(20.0):
                raise FormigaError("the program did not come to its port.")
            lab.step()
            yield lab, child.pid
        finally:
            lab.close()
            with suppress(subprocess.TimeoutExpired):
                child.wait(2.0)
            child.kill()
            child.wait()


def _world() -> World:
    world = formiga.read_world("remote")
    group = world.group("swarm")
    return replace(world, groups=(replace(group, controller=RemoteControl(port=0)),))


def _driver(lab: Simulation) -> Any:
    group = lab.world.group("swarm")
    assert lab.programs is not None
    return lab.programs.drivers.get("swarm") or lab.programs.driver(group, 1, lab.world.dt, lab.readings["swarm"])


def _measure(lab: Simulation, pid: int, blocks: int) -> dict[str, Any]:
    driver, readings = _driver(lab), lab.readings["swarm"]
    alone = _speeds(lambda: driver.ask(lab.state.step, lab.state.crashed, readings), blocks)
    for _ in range(200):
        lab.step()
    here, there = time.process_time(), _used(pid)
    speeds, steps = _speeds(lab.step, blocks), blocks * BLOCK
    return {"round_trips_per_s": max(alone), "steps_per_s": max(speeds), "median_steps_per_s": sorted(speeds)[len(speeds) // 2],
            "processor_us": 1e6 * (time.process_time() - here) / steps, "program_us": 1e6 * (_used(pid) - there) / steps}


def _speeds(turn: Callable[[], object], blocks: int) -> list[float]:
    """Turns a second, of each block."""
    speeds = []
    for _ in range(blocks):
        began = time.perf_counter()
        for _ in range(BLOCK):
            turn()
        speeds.append(BLOCK / (time.perf_counter() - began))
    return speeds


def _used(pid: int) -> float:
    """Seconds of the processor that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
