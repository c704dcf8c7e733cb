"""What a pen makes of what it is given: marks, or one clear message."""

from __future__ import annotations

import numpy as np
import pytest

from formiga.drawing import COLOURS, KINDS, Pen, Sheet, same
from formiga.drawing.marks import LONGEST_TEXT, MOST_LAYERS, MOST_MARKS, MOST_ROWS, MOST_TEXTS, blend, wrong
from formiga.errors import WorldError


def rgb(colour):
    return [int(colour[k:k + 2], 16) for k in (1, 3, 5)]


@pytest.fixture
def sheet():
    return Sheet()


@pytest.fixture
def pen(sheet):
    """Of robots 4, 5 and 6, 5 cm wide and 10 cm high."""
    return Pen(sheet, "mine", range(4, 7), 0.05, 0.1)


def only(sheet, layer="mine"):
    (mark,) = sheet.drawings[layer]
    assert not wrong(mark)
    return mark


def test_every_kind_has_a_method_and_gives_a_mark_that_is_as_it_must_be(pen, sheet):
    pen.points([(0.0, 1.0)])
    pen.lines((0.0, 0.0), [(1.0, 1.0), (2.0, 2.0)])
    pen.polygon([(0, 0), (1, 0), (0, 1)])
    pen.text((0.0, 0.0), "here")
    pen.pose((1.0, 2.0, 0.5), np.eye(3))
    pen.particles(np.zeros((5, 3)), np.ones(5))
    pen.grid(np.eye(4), 0.1)
    pen.path([(0, 0), (1, 0), (1, 1)])
    marks = sheet.drawings["mine"]
    assert [mark.kind for mark in marks] == list(KINDS)
    assert not [why for mark in marks if (why := wrong(mark))]
    assert all(mark.numbers.dtype == np.float32 and len(mark.colours) == 1 for mark in marks)


def test_flat_places_lie_on_the_floor_and_on_top_of_a_robot_in_its_frame(pen, sheet):
    pen.points([(1.0, 2.0)])
    pen.layer("own").on(1).points([(1.0, 2.0)])
    pen.layer("high").on(1).points([(1.0, 2.0, 0.3)])
    assert only(sheet).numbers.tolist() == [[1.0, 2.0, 0.0]] and len(only(sheet).on) == 0
    assert only(sheet, "own").numbers[0, 2] == np.float32(0.1) and only(sheet, "own").on.tolist() == [5]
    assert only(sheet, "high").numbers[0, 2] == np.float32(0.3)


def test_robots_have_colours_of_their_own_by_their_number_in_the_world(pen, sheet):
    pen.pose(np.zeros((1, 3, 3)))
    pen.layer("clouds").particles(np.zeros((1, 3, 7, 3)))
    pen.layer("one each").points(np.zeros((1, 3, 2)))
    own = [rgb(COLOURS[number]) for number in (4, 5, 6)]
    assert only(sheet).colours.tolist() == own == only(sheet, "one each").colours.tolist()
    assert only(sheet, "clouds").colours.tolist() == [each for each in own for _ in range(7)]


def test_colours_are_one_or_one_for_each_robot_or_row(pen, sheet):
    pen.points(np.zeros((4, 2)), colour="#102030")
    pen.layer("rows").points(np.zeros((2, 2)), colour=["#000000", "#ffffff"])
    pen.layer("robots").particles(np.zeros((1, 3, 2, 3)), colour=["#000000", "#010101", "#020202"])
    assert only(sheet).colours.tolist() == [[16, 32, 48]]
    assert only(sheet, "rows").colours.tolist() == [[0, 0, 0], [255, 255, 255]]
    assert only(sheet, "robots").colours[:, 0].tolist() == [0, 0, 1, 1, 2, 2]


def test_a_path_for_each_robot_is_a_mark_for_each(pen, sheet):
    pen.path(np.zeros((1, 3, 9, 2)))
    pen.layer("own").on().polygon(np.zeros((1, 3, 4, 2)))
    assert [mark.colours.tolist() for mark in sheet.drawings["mine"]] == [[rgb(COLOURS[number])] for number in (4, 5, 6)]
    assert [mark.on.tolist() for mark in sheet.drawings["own"]] == [[4], [5], [6]]


def test_weights_are_shares_of_the_largest_of_each_robot(pen, sheet):
    pen.particles(np.zeros((1, 3, 2, 3)), [[[1.0, 4.0], [10.0, 5.0], [0.0, 0.0]]])
    assert only(sheet).numbers[:, 4].tolist() == [0.25, 1.0, 1.0, 0.5, 1.0, 1.0]


def test_cells_are_shares_between_low_and_high_and_what_is_unknown_is_clear(pen, sheet):
    pen.grid([[-1.0, 0.0, 1.0], [5.0, np.nan, np.inf]], 0.2, (1.0, 2.0, 0.5), low=-1.0, high=1.0)
    mark = only(sheet)
    assert mark.numbers == pytest.approx(np.array([[0.0, 0.5, 1.0], [1.0, 0.0, 1.0]]), abs=1 / 255)
    assert (mark.size, mark.at) == (0.2, (1.0, 2.0, 0.0, 0.5))


def test_what_was_drawn_stays_until_it_is_cleared(pen, sheet):
    pen.points([(0.0, 0.0)])
    pen.points([(1.0, 0.0)])
    pen.layer("other").points([(2.0, 0.0)])
    changes = sheet.changes
    assert len(sheet.drawings["mine"]) == 2
    pen.clear()
    assert list(sheet.drawings) == ["other"] and sheet.changes > changes


def test_a_cleared_layer_has_room_again(pen, sheet):
    for _ in range(2):
        for number in range(MOST_TEXTS):
            pen.text((0.0, 0.0), str(number))
        for _ in range(3):
            pen.layer("maps").grid(np.zeros((1000, 1000)), 0.1)
        assert (len(sheet.drawings["mine"]), len(sheet.drawings["maps"])) == (MOST_TEXTS, 3) and not sheet.notes
        pen.clear()
        pen.layer("maps").clear()


def test_texts_are_printable_and_not_longer_than_a_page_can_show(pen, sheet):
    pen.text((0.0, 0.0), "a\nb\x1b" + "c" * 500)
    assert only(sheet).words == ("a b " + "c" * (LONGEST_TEXT - 4),)


def test_empty_words_are_no_texts(pen, sheet):
    pen.text(np.zeros((1, 3, 2)), ["a", " ", "c"])
    assert only(sheet).words == ("a", "c") and only(sheet).colours.tolist() == [rgb(COLOURS[4]), rgb(COLOURS[6])]


def test_nothing_is_drawn_of_nothing(pen, sheet):
    for draw in (pen.points, pen.path, pen.polygon):
        draw(np.zeros((0, 2)))
    pen.particles(np.zeros((1, 3, 0, 3)))
    pen.pose(np.zeros((0, 3)))
    pen.text(np.zeros((0, 2)), [])
    pen.lines(np.zeros((0, 2)), np.zeros((0, 2)))
    assert sheet.drawings == {}


@pytest.mark.parametrize("draw, words", [
    (lambda pen: pen.points([(0, 0, 0, 0)]), "needs an array (K, 2) or (K, 3), with (1, robots) before it"),
    (lambda pen: pen.points([(0.0, np.nan)]), "needs finite numbers up to 1e+06, not nan at [0, 1]"),
    (lambda pen: pen.points([(0.0, 1e9)]), "needs finite numbers"),
    (lambda pen: pen.points("here"), "needs numbers, not str"),
    (lambda pen: pen.points([[0, 0], [0]]), "needs numbers, not list"),
    (lambda pen: pen.points(np.zeros((2, 3, 4, 2))), "needs an array"),
    (lambda pen: pen.points([(0, 0)], size=0.0), "needs a size in m above 0, not 0.0"),
    (lambda pen: pen.points([(0, 0)], colour="red"), "needs a colour such as '#0072b2', not 'red'"),
    (lambda pen: pen.points([(0, 0)], colour=["#000000"] * 2), "needs one colour, or one for each of 1 rows, not 2"),
    (lambda pen: pen.points([(0, 0)], colour=5), "needs a colour such as '#0072b2', not 5"),
    (lambda pen: pen.points([(0, 1j)]), "needs numbers, not list"),
    (lambda pen: pen.points([(0, 10**400)]), "needs numbers, not list"),
    (lambda pen: pen.text((0, 0), np.array("one")), "needs a text for each of 1 places"),
    (lambda pen: pen.grid([["a", "b"]], 0.1), "needs numbers, not list"),
    (lambda pen: pen.grid(np.zeros((3, 3)), 0.1, low="a"), "needs numbers, not tuple"),
    (lambda pen: pen.lines(np.zeros((2, 2)), np.zeros((3, 2))), "needs as many ends as starts, not (3, 2) and (2, 2)"),
    (lambda pen: pen.polygon([(0, 0), (1, 1)]), "needs at least 3 places, not 2"),
    (lambda pen: pen.text((0, 0), ["one", "two"]), "needs a text for each of 1 places"),
    (lambda pen: pen.text((0, 0), 7), "needs a text for each of 1 places"),
    (lambda pen: pen.pose((0, 0)), "needs an array (K, 3)"),
    (lambda pen: pen.pose((0, 0, 0), np.eye(4)), "needs a covariance (2, 2) or (3, 3) for each of 1 poses, not (4, 4)"),
    (lambda pen: pen.pose((0, 0, 0), -np.eye(2)), "needs variances that are not negative"),
    (lambda pen: pen.particles(np.zeros((4, 3)), np.ones(3)), "needs weights that are not negative, one for each of 4"),
    (lambda pen: pen.grid(np.zeros(5), 0.1), "needs values (rows, columns), not (5,)"),
    (lambda pen: pen.grid(np.zeros((3000, 3000)), 0.1), "needs at most 1,000,000 cells"),
    (lambda pen: pen.grid(np.zeros((3, 3)), -0.1), "needs a size in m above 0"),
    (lambda pen: pen.grid(np.zeros((3, 3)), 0.1, low=1.0), "needs low below high"),
    (lambda pen: pen.grid(np.zeros((3, 3)), 0.1, (0, 0, 0, 0)), "needs an origin x y, or x y heading"),
    (lambda pen: pen.on().points([(0, 0)]), "needs an array (1, 3, ...) with something for each robot"),
    (lambda pen: pen.on(3), "pen.on(3): there are 3 robots, numbered from 0"),
    (lambda pen: pen.layer(""), "a layer has a name of 1 to 40 letters, not ''"),
    (lambda pen: pen.layer("x" * 41), "a layer has a name of 1 to 40 letters"),
    (lambda pen: pen.layer("two\nlines"), "a layer has a name"),
])
def test_what_cannot_be_drawn_is_refused_with_one_message(pen, sheet, draw, words):
    with pytest.raises(WorldError) as refused:
        draw(pen)
    assert words in str(refused.value) and "\n" not in str(refused.value)
    assert sheet.drawings == {}


def test_too_much_is_thinned_out_with_one_note(pen, sheet):
    many = MOST_ROWS["particles"] + 1
    for _ in range(2):
        pen.particles(np.zeros((many, 3)))
    assert all(len(mark.numbers) <= MOST_ROWS["particles"] for mark in sheet.drawings["mine"])
    assert sheet.notes == [f"layer 'mine': at most 50,000 particles are drawn; of {many:,} some are left out"]
    pen.layer("path").path(np.zeros((MOST_ROWS["path"] + 1, 2)))
    assert not wrong(only(sheet, "path")) and len(sheet.notes) == 2


def test_what_is_thinned_out_keeps_its_colours_and_frames(sheet):
    """Of so many points of two robots every second one is left."""
    count = MOST_ROWS["points"] // 2 + 1
    Pen(sheet, "mine", range(4, 6), 0.05, 0.1).on().points(np.zeros((1, 2, count, 2)))
    mark = only(sheet)
    assert len(mark.numbers) == count and mark.on.tolist() == [4] * -(-count // 2) + [5] * (count // 2)
    assert np.array_equal(mark.colours, np.array([rgb(COLOURS[robot]) for robot in mark.on]))


def test_a_layer_holds_so_many_marks_texts_and_numbers_and_a_sheet_so_many_layers(pen, sheet):
    for _ in range(MOST_MARKS + 5):
        pen.points([(0.0, 0.0)])
    words = pen.layer("words")
    for number in range(MOST_TEXTS + 5):
        words.text((0.0, 0.0), str(number))
    for _ in range(5):
        pen.layer("maps").grid(np.zeros((1000, 1000)), 0.1)
    for number in range(MOST_LAYERS + 5):
        pen.layer(str(number)).points([(0.0, 0.0)])
    drawn = sheet.drawings
    assert (len(drawn["mine"]), len(drawn["words"]), len(drawn["maps"]), len(drawn)) == (MOST_MARKS, MOST_TEXTS, 3, MOST_LAYERS)
    assert len(sheet.notes) == 3 + 8  # one for each of the layers that are too many


def test_layers_are_compared_by_what_they_show(pen, sheet):
    other = Sheet()
    for each in (pen, Pen(other, "mine", range(4, 7), 0.05, 0.1)):
        each.pose((0.0, 0.0, 1.0))
        each.text((0.0, 0.0), "a")
    assert same(sheet.drawings["mine"], other.drawings["mine"])
    Pen(other, "mine").text((0.0, 0.0), "b")
    assert not same(sheet.drawings["mine"], other.drawings["mine"]) and not same(sheet.drawings["mine"], ())


@pytest.mark.parametrize("change", [
    {"kind": "path"}, {"size": 0.3}, {"at": (0.0,)}, {"words": ("a",)}, {"numbers": np.ones((1, 3), np.float32)},
    {"colours": np.array([[0, 0, 1]], np.uint8)}, {"on": np.array([2], np.int32)},
], ids=lambda change: next(iter(change)))
def test_a_layer_is_another_one_if_anything_of_a_mark_is(pen, sheet, change):
    pen.points([(0.0, 0.0)])
    mark = only(sheet)
    assert same((mark,), (mark._replace(numbers=mark.numbers.copy()),))
    assert not same((mark,), (mark._replace(**change),))


def test_poses_on_other_robots_are_not_blended(pen, sheet):
    other = Sheet()
    pen.on(0).pose((0.0, 0.0, 0.0))
    Pen(other, "mine", range(4, 7), 0.05, 0.1).on(1).pose((1.0, 0.0, 0.0))
    (pose,) = blend(sheet.drawings, other.drawings, 0.25)["mine"]
    assert pose.on.tolist() == [5] and pose.numbers[0, 0] == 1.0


def test_between_two_steps_poses_go_the_short_way_and_the_rest_stays(pen, sheet):
    other = Sheet()
    pen.pose((0.0, 0.0, 3.0))
    pen.points([(0.0, 0.0)])
    later = Pen(other, "mine", range(4, 7), 0.05, 0.1)
    later.pose((1.0, 2.0, -3.0))
    later.points([(1.0, 1.0)])
    pose, point = blend(sheet.drawings, other.drawings, 0.25)["mine"]
    assert pose.numbers[0, :2].tolist() == [0.25, 0.5]
    assert pose.numbers[0, 3] == pytest.approx(3.0 + 0.25 * (2.0 * np.pi - 6.0), abs=1e-6)
    assert point.numbers[0].tolist() == [1.0, 1.0, 0.0]
    later.pose((0.0, 0.0, 0.0))
    assert len(blend(sheet.drawings, other.drawings, 0.25)["mine"]) == 3
