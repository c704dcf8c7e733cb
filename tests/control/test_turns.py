"""The record of <remote> is one and the same in Python here, in the file for programs, in the C header and on the page."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from formiga import read_world
from formiga.control.turns import ANSWER, FIRST, FIRST_ORDER, QUESTION, turns_of
from formiga.link import LinkError
from formiga.link.clients import FOLDER
from formiga.link.datagrams import BYE, HELLO, TAKEN
from formiga.loop import Simulation
from formiga.world.reader import read_text

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "remote.md"
WORLD = """<world name="t" dt="0.1" engine="spatial"><arena width="3" depth="3"/>
<sbot count="3" name="a.group" ><scatter/><proximity/><ground name="floor"/><radio numbers="3"/><loudspeaker/><odometry/>
<remote/></sbot></world>"""
TYPES = {"u4": 4, "i8": 8, "f8": 8}


@pytest.fixture(scope="module")
def lab():
    return Simulation(read_text(WORLD.replace("a.group", "flock"), "t.xml"), worlds=2)


@pytest.fixture(scope="module")
def turns(lab):
    return turns_of(lab.world.groups[0], 2, lab.readings["flock"])


def test_every_array_stands_where_the_table_says_it_does(turns):
    found = {}
    for line in turns.table.splitlines():
        what, name, *rest = line.split()
        if what in ("channel", "joint"):
            continue
        layout = (turns.question if what in ("own", "reading") else turns.answer).layout
        kind, place = layout.fields[f"{what} {name}"][:2]
        shape = tuple(int(number) for number in rest[2:])
        assert (int(rest[1]), np.dtype(f"<{rest[0]}"), shape) == (place, kind.base, kind.shape) and place % 8 == 0
        found[f"{what} {name}"] = shape
    assert found["own clock"] == (2,) and found["own crashed"] == (2, 3)
    assert found["reading radio"][:2] == (2, 3) and found["reading odometry"] == (2, 3, 3)
    assert found["order joints"] == (2, 3, 3) and found["order leds"] == (2, 3, 8, 3) and found["order sound"] == (2, 3, 1, 2)
    assert found["message radio"] == (2, 3, 3)
    table, place = turns.question.layout.fields["table"][:2]
    assert place == FIRST and len(turns.table.encode()) <= table.itemsize


def test_the_page_has_the_bytes(turns):
    text = PAGE.read_text(encoding="utf-8")
    asked = text.split("**The question**")[1].split("**The answer**")[0]
    answered = text.split("**The answer**")[1].split("**The table**")[0]
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| ([\w` ]+?) \|", asked, re.MULTILINE)
    assert len(rows) == 14
    for place, name, kind in rows:
        field, at = turns.question.layout.fields[name][:2]
        assert at == int(place), name
        assert name == "table" or field.itemsize == (TYPES.get(kind) or int(kind.split()[0])), name
    for place, name in re.findall(r"^\| (\d+) \| `(\w+)` \|", answered, re.MULTILINE):
        if name in turns.answer.layout.fields:
            assert turns.answer.layout.fields[name][1] == int(place), name
    assert re.search(rf"^\| {FIRST_ORDER} \| the arrays", answered, re.MULTILINE)
    for number, name in ((HELLO, "hello"), (BYE, "bye"), (TAKEN, "taken")):
        assert f"| {number} | {name} |" in text
    assert f"| `kind` | u4 | {QUESTION} |" in asked and f"of kind {ANSWER}" in answered


def test_the_file_for_programs_has_the_same_numbers_and_needs_nothing_of_ours(turns):
    text = (FOLDER / "formiga_remote.py").read_text(encoding="utf-8")
    imported = set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE)) - {"formiga_remote"}
    assert imported - {"numpy"} <= sys.stdlib_module_names
    code = ("import sys; import formiga_remote as f; assert 'formiga' not in sys.modules; print(f.QUESTION, f.ANSWER, f.HELLO, "
            "f.BYE, f.TAKEN, f.TABLE, f.FIRST_ORDER, f.BODY + f.PLAIN.size, 4 * f.SEQUENCE)")
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, cwd=FOLDER, check=True)
    found = [int(number) for number in done.stdout.split()]
    assert found == [QUESTION, ANSWER, HELLO, BYE, TAKEN, FIRST, FIRST_ORDER, FIRST, 20]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_header_finds_every_array_and_compiles_as_c_and_cpp(turns, tmp_path):
    names = [line.split()[:2] for line in turns.table.splitlines() if line.split()[0] not in ("channel", "joint")]
    finds = "\n".join(f'    at = (char *)formiga_find(&r, "{what}", "{name}", &each); '
                      f'show(at - (char *)r.{"question" if what in ("own", "reading") else "answer"}, each);'
                      for what, name in names)
    (tmp_path / "t.c").write_text(f"""#include "formiga_remote.h"
static void show(long place, size_t each) {{ printf("%ld %zu\\n", place, each); }}
int main(int argc, char **argv) {{
    struct formiga_robots r;
    size_t each;
    char *at;
    double least, most;
    if (argc < 2) return 1;
    memset(&r, 0, sizeof r);
    FILE *file = fopen(argv[1], "rb");
    r.question = (struct formiga_question *)malloc(r.asked = {turns.question.layout.itemsize});
    if (!file || fread(r.question, 1, r.asked, file) != r.asked) return 1;
    formiga_take(&r);
{finds}
    show((long)r.answered, (size_t)formiga_channel(&r, "right", &least, &most));
    printf("%a %a %u %u\\n", least, most, r.worlds, r.count);
    return 0;
}}""")
    question = np.zeros((), turns.question.layout)
    question["worlds"], question["robots"], question["words"] = 2, 3, len(turns.table)
    question["table"] = turns.table.encode()
    (tmp_path / "question").write_bytes(question.tobytes())
    for language in ("c", "c++"):
        if shutil.which("c++" if language == "c++" else "cc") is None:
            continue
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-x", language, "-I", FOLDER, "-o", tmp_path / "t",
                        tmp_path / "t.c", "-lm"], check=True)
        done = subprocess.run([tmp_path / "t", tmp_path / "question"], capture_output=True, text=True, check=True)
        *lines, last = [line.split() for line in done.stdout.splitlines()]
        for (what, name), (place, each) in zip(names, lines[:-1], strict=True):
            layout = (turns.question if what in ("own", "reading") else turns.answer).layout
            kind, at = layout.fields[f"{what} {name}"][:2]
            assert (int(place), int(each)) == (at, int(np.prod(kind.shape[2:]))), name
        assert lines[-1] == [str(turns.answer.layout.itemsize), "1"]
        assert [float.fromhex(number) for number in last[:2]] == [-0.08, 0.08] and last[2:] == ["2", "3"]



def test_more_than_a_memory_holds_is_refused_with_its_size():
    group, readings = read_world("remote").group("swarm"), {"proximity": np.broadcast_to(0.0, (4_000_000, 5, 15))}   # no room
    with pytest.raises(LinkError, match=r"the readings of 'swarm' in 4,000,000 worlds are 2,452,000,024 bytes; a program gets"):
        turns_of(group, 4_000_000, readings)
