"""The s-bot's look-up table, both reconstructions and a user's own samples. [S1, acceptance 2]"""

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.sense.infrared_table import METHOD_B, from_csv, method_a, method_b
from formiga.sense.proximity import Proximity
from formiga.studies.swarmod.infrared_fit import fit
from formiga.world.model import Wall
from formiga.world.robots import SBot
from tests.reference.lab import bench

# Reading at 0, 1, ... 15 cm, as the digest computed them.
B_AT_CM = (35.761, 25.053, 21.554, 20.840, 20.043, 17.970, 14.701, 10.991, 7.684, 5.310,
           3.926, 3.221, 2.785, 2.407, 2.164, 2.000)
A_FROM_7_CM = (11.42, 9.01, 7.14, 5.67, 4.54, 3.65, 2.96, 2.42, 2.00)


def test_method_b_is_the_digest_s_table():
    table = method_b()
    assert len(table) == 151 and (np.diff(table) < 0.0).all()
    np.testing.assert_allclose(table[::10], B_AT_CM, atol=0.002)
    assert table.sum() == pytest.approx(1781.313, abs=0.05)
    assert table[150] == pytest.approx(2.0, abs=0.005)
    np.testing.assert_allclose(table[[0, 10, 20]], (35.76, 25.05, 21.55), atol=0.02)
    np.testing.assert_allclose(table[[30, 40, 50, 60]], (20.84, 20.01, 17.84, 14.52), atol=0.2)
    assert table[100] < 4.0 < table[99]  # inside the ambient band from 10 cm


def test_every_coefficient_of_method_b_rounds_to_the_printed_one():
    report = ("35.76", "-16.01", "6.15", "-0.8072", "-0.0632", "0.0261", "-0.0026", "0.0001", "-0.0000")
    for mine, printed in zip(METHOD_B, report, strict=True):
        assert f"{mine:.{len(printed.split('.')[1])}f}" == printed


def test_the_linear_program_gives_method_b_again():
    refit = np.polynomial.polynomial.polyval(np.arange(151) / 10.0, fit())
    np.testing.assert_allclose(refit, method_b(), atol=0.01)


def test_method_a_continues_value_and_slope_of_the_printed_polynomial():
    table = method_a()
    assert len(table) == 151 and (np.diff(table) < 0.0).all()
    np.testing.assert_allclose(table[70::10], A_FROM_7_CM, atol=0.02)
    assert table[60] == pytest.approx(14.5176, abs=0.02)
    slopes = np.diff(table)[57:63]
    assert np.abs(np.diff(slopes)).max() < 0.02  # no kink at 6 cm
    assert np.abs(table - method_b()).max() == pytest.approx(1.86, abs=0.03)
    assert np.argmax(np.abs(table - method_b())) == pytest.approx(93, abs=2)


@pytest.mark.parametrize("table, expected", [("A", method_a), ("B", method_b)])
def test_a_reading_is_the_table_s_entry_at_the_nearest_millimetre(table, expected):
    sensor = Proximity(table=table, noise=(0.0,), share=0.0)
    for millimetres in (0.0, 0.4, 0.6, 29.4, 29.6, 74.0, 149.4, 149.9):
        wall = Wall((-0.058 - millimetres * 1e-3, -1.0, -0.058 - millimetres * 1e-3, 1.0))
        simulation = bench(SBot(), [(0, 0, 0)], (wall,), sensors=[sensor])
        assert simulation.readings["a"]["proximity"][0, 0, 7] == expected()[round(millimetres)]


def test_the_table_is_stretched_over_another_reach():
    sensor = Proximity(reach=0.3, noise=(0.0,), share=0.0)
    simulation = bench(SBot(), [(0, 0, 0)], (Wall((-0.058 - 0.1, -1, -0.058 - 0.1, 1)),), sensors=[sensor])
    assert simulation.readings["a"]["proximity"][0, 0, 7] == method_b()[50]


# -- a user's own samples -------------------------------------------------------------------------------------------
def csv(folder, text):
    path = folder / "samples.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("text", ["0,10\n0.1,0\n", "distance,reading\n0,10\n0.1,0", "# measured on a Monday\n0,10\n\n0.1,0\n",
                                  "0, 10\r\n0.1, 0\r\n", " 0 ,10\n0.1,0\n"])
def test_samples_are_read_with_or_without_heading_comments_and_blank_lines(tmp_path, text):
    np.testing.assert_allclose(from_csv(csv(tmp_path, text), 0.1), np.linspace(10.0, 0.0, 151), atol=1e-12)


def test_a_table_of_samples_holds_its_ends(tmp_path):
    table = from_csv(csv(tmp_path, "0.05,8\n0.1,4\n"), 0.15)
    assert (table[:51] == 8.0).all() and table[75] == pytest.approx(6.0) and (table[100:] == pytest.approx(4.0))


def test_a_sensor_reads_a_user_s_samples(tmp_path):
    path = csv(tmp_path, "0,100\n0.15,0\n")
    sensor = Proximity(samples=path, noise=(0.0,), share=0.0)
    simulation = bench(SBot(), [(0, 0, 0)], (Wall((-0.058 - 0.03, -1, -0.058 - 0.03, 1)),), sensors=[sensor])
    assert simulation.readings["a"]["proximity"][0, 0, 7] == pytest.approx(80.0)


@pytest.mark.parametrize("text, message", [
    ("0,1\n0.1,x\n", r":2: '0.1,x' is not 'distance in m, reading'\."),
    ("0,1\n0.1\n", r":2: '0.1' is not"),
    ("0,1\n0.1,1,1\n", r":2: '0.1,1,1' is not"),
    ("0;1\n0.1;2\n", r":[12]: '0(.1)?;[12]' is not"),
    ("0,1\nnan,2\n", r":2: 'nan,2' is not finite"),
    ("0,1\n0.1,inf\n", r":2: '0.1,inf' is not finite"),
    ("0,1\n0.2,2\n0.1,3\n", r":3: distances must ascend; 0.1 comes after 0.2"),
    ("0,1\n0,2\n", r":2: distances must ascend; 0 comes after 0"),
    ("0,1\n", r": a table needs at least two samples .*; found 1\."),
    ("", r"; found 0\."),
    ("distance,reading\n", r"; found 0\."),
])
def test_samples_that_make_no_table_are_refused_with_their_line(tmp_path, text, message):
    path = csv(tmp_path, text)
    with pytest.raises(WorldError, match=message) as error:
        from_csv(path, 0.15)
    assert str(error.value).startswith(path)


def test_a_first_line_with_a_typing_error_is_not_taken_for_a_heading(tmp_path):
    """A heading has no number in it. Half a sample is a mistake, and dropping it would bend the table."""
    with pytest.raises(WorldError, match=":1: "):
        from_csv(csv(tmp_path, "0.0,35.8o\n0.05,20\n0.15,2\n"), 0.15)


def test_samples_saved_with_a_byte_order_mark_lose_no_line(tmp_path):
    """As spreadsheets save 'CSV UTF-8'."""
    path = tmp_path / "excel.csv"
    path.write_text("0,10\n0.05,9\n0.1,0\n", encoding="utf-8-sig")
    assert from_csv(str(path), 0.1)[0] == 10.0


def test_a_file_of_samples_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01" * 10)
    for name in ("missing.csv", "binary.csv", "."):
        with pytest.raises(WorldError, match="cannot be read as a table of samples"):
            from_csv(str(tmp_path / name), 0.15)


def test_one_endless_line_of_samples_is_refused_too(tmp_path):
    with pytest.raises(WorldError):
        from_csv(csv(tmp_path, "0,1\n" + "9" * 200_000 + ",1\n"), 0.15)
