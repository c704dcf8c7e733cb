"""Text -> commands: quoting, comments, variables, continued lines, and where a mistake is."""

import contextlib
import shlex
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from formiga.console import ConsoleError, Variable, limits, parse, quote
from formiga.console.parse import half_typed
from formiga.errors import Where

WRITABLE = st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t\r"))
NASTY = st.text(st.sampled_from("ab1 \t\n\r;#\"'\\$${}_+-é\u00a0\x00"), max_size=40)


def words(text):
    """[[words of a command], ...], variables shown as <name>."""
    return [["".join(part if isinstance(part, str) else f"<{part.name}>" for part in word) for word in command.words]
            for command in parse(text)]


@pytest.mark.parametrize("text, expected", [
    ("", []),
    ("  ;; \n ; # nothing\n", []),
    ("speed max", [["speed", "max"]]),
    ("a;b ; c\nd", [["a"], ["b"], ["c"], ["d"]]),
    ("a\r\nb\rc", [["a"], ["b"], ["c"]]),
    ("a # b; c\nd", [["a"], ["d"]]),
    ("a b#c ;#d", [["a", "b#c"]]),
    ("a '#' \"#\" \\#", [["a", "#", "#", "#"]]),
    ('a "b; c" \'d; e\'', [["a", "b; c", "d; e"]]),
    ('a""b"c d"\'e\' ""', [["abc de", ""]]),
    (r'a "\" \\ \$x \n \t"', [["a", '" \\ $x \n \t']]),
    (r"a 'b\n $x' \; \' \ ", [["a", r"b\n $x", ";", "'", " "]]),
    ("a$x ${y}z \"$x.\" '$x' $$x $$", [["a<x>", "<y>z", "<x>.", "$x", "$x", "$"]]),
    ("go $1 ${2}3", [["go", "<1>", "<2>3"]]),
    ("a \\\n b", [["a", "b"]]),
    ("ab\\\ncd", [["abcd"]]),
    ('"ab\\\ncd"', [["abcd"]]),
    ("# comments do not continue \\\na", [["a"]]),
    ("a\u00a0b", [["a", "b"]]),
])
def test_text_becomes_these_words(text, expected):
    assert words(text) == expected


def test_variables_stay_variables_until_the_command_runs():
    (command,) = parse('echo "it is $time s"')
    assert command.words == (("echo",), ("it is ", Variable("time"), " s"))


@pytest.mark.parametrize("text, message", [
    ('ok\na "b\nc"', 'a.fsh:2: a " opens here and is not closed on its line.'),
    ("ok\n\na 'b", "a.fsh:3: a ' opens here and is not closed on its line."),
    ("a \\", "a.fsh:1: a backslash ends the text; there is no line to continue."),
    ("a \\\n\\q", "a.fsh:2: '\\q' means nothing outside quotes. A backslash itself is written \\\\."),
    ('a "\\q"', "a.fsh:1: '\\q' means nothing inside \"...\"; allowed are"),
    ("costs 5$", "a.fsh:1: '$' needs a name behind it, as in $time. The sign itself is written $$."),
    ("a ${time", "a.fsh:1: '${' needs a name and a '}'"),
    ("a ${}", "a.fsh:1: '${' needs a name and a '}'"),
    ("a $12", "a.fsh:1: '$' needs a name"),
    ("a\nb\x1b[2J", "a.fsh:2: U+001B is a control character"),
    ("a \ud800", "a.fsh:1: U+D800 is a control character"),
])
def test_a_mistake_names_its_line(text, message):
    with pytest.raises(ConsoleError) as wrong:
        parse(text, "a.fsh")
    assert str(wrong.value).startswith(message)


def test_a_command_stands_where_it_begins():
    commands = parse("a\n\nb \\\n  c; d\n# e\nf", "x.fsh")
    assert [(command.name, command.where.line) for command in commands] == [("a", 1), ("b", 3), ("d", 4), ("f", 6)]


def test_text_inside_another_text_stands_where_that_stands():
    here = Where("arena.xml", 12)
    assert {command.where for command in parse("a\nb; c", here)} == {here}
    with pytest.raises(ConsoleError, match=r"^arena.xml:12: "):
        parse("a\nb 'c", here)


def test_lines_and_texts_have_a_longest_length():
    assert len(parse("a" * limits.LINE + "\nb")) == 2
    with pytest.raises(ConsoleError, match="console:2: the line has more than 10000 characters"):
        parse("b\n" + "a" * (limits.LINE + 1))
    with pytest.raises(ConsoleError, match="more than 10000 characters"):
        parse("abcdefg\\\n" * 2000)
    with pytest.raises(ConsoleError, match="at most 1000000"):
        parse("a\n" * limits.TEXT)


@pytest.mark.parametrize("line", ["a;" * 4999, "$$" * 4999, f'"{"$a" * 4999}"', "''" * 4999, "# " * 4999, "\\\\" * 2499,
                                  "a", "\\", '"' + '\\n' * 4998 + '"'], ids=lambda line: line[:6])
def test_the_longest_text_is_read_in_a_few_seconds(line):
    """A megabyte takes a few seconds. A reader that copies what it has at every part would take minutes."""
    start = time.thread_time()  # of this thread: what else the machine does not count
    with contextlib.suppress(ConsoleError):
        parse((line + "\n") * (limits.TEXT // (len(line) + 1)))
    assert time.thread_time() - start < 20


def test_a_line_that_is_too_long_is_refused_before_it_is_read():
    start = time.thread_time()
    for text in ("$$" * 499_999, "\\\\" * 250_000, "''" * 499_999):
        with pytest.raises(ConsoleError, match="more than 10000"):
            parse(text)
    assert time.thread_time() - start < 5


@given(st.text() | NASTY)
@example("'")
@example("$")
@example("\\")
@example('"\\')
def test_any_text_parses_or_is_a_console_error(text):
    try:
        commands = parse(text, "any.fsh")
    except ConsoleError as wrong:
        assert str(wrong).startswith("any.fsh:")
    else:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
        places = [command.where.line for command in commands]
        assert places == sorted(places) and all(1 <= line <= lines for line in places)
        assert all(command.words for command in commands)


@given(st.lists(WRITABLE, min_size=1, max_size=6))
def test_quoting_words_and_parsing_them_gives_the_words_back(given_words):
    assert words(quote(given_words)) == [given_words]


@given(st.lists(WRITABLE, min_size=1, max_size=3), st.integers(1, 4))
def test_quoting_can_be_repeated_like_an_alias_inside_an_alias(given_words, times):
    text = quote(given_words)
    for _ in range(times):
        text = quote(["alias", "name", text])
    for _ in range(times):
        ((_, _, text),) = words(text)
    assert words(text) == [given_words]


def test_quoting_leaves_plain_words_alone_and_refuses_control_characters():
    assert quote(["drive", "0", "a#b", "", "#c", "a b", "5$", 'say "x"']) == r'drive 0 a#b "" "#c" "a b" "5\$" "say \"x\""'
    with pytest.raises(ConsoleError, match=r"U\+001B"):
        quote(["\x1b[2J"])


@given(st.text(st.sampled_from("ab \"';"), max_size=30))
def test_quotes_mean_what_they_mean_in_a_shell(text):
    """Python's shlex is the twin where both languages agree: no backslashes, variables or comments."""
    lexer = shlex.shlex(_hide_quoted(text), posix=True, punctuation_chars=";")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        tokens = list(lexer)
    except ValueError:  # "No closing quotation"
        with pytest.raises(ConsoleError):
            parse(text)
        return
    expected = [[]]
    for token in tokens:
        if set(token) == {";"}:
            expected.append([])
        else:
            expected[-1].append(token.replace("\u00b7", ";"))
    assert words(text) == [command for command in expected if command]


def _hide_quoted(text):
    """A ; in quotes becomes a dot, because shlex tells it from a separator only while it reads."""
    result, inside = "", ""
    for character in text:
        if inside:
            inside = "" if character == inside else inside
            result += "\u00b7" if character == ";" else character
        else:
            inside = character if character in "\"'" else ""
            result += character
    return result


# -- half-typed lines
@pytest.mark.parametrize("text, finished, last, start", [
    ("", [], "", 0),
    ("ec", [], "ec", 0),
    ("echo ", ["echo"], "", 5),
    ("echo a; he", [], "he", 8),
    ('load "my wo', ["load"], "my wo", 5),
    ("load 'my wo", ["load"], "my wo", 5),
    ('load my\\ wo', ["load"], "my wo", 5),
    ("load my\\", ["load"], "my", 5),
    ('load "my\\', ["load"], "my", 5),
    ("a\r\nb c", ["b"], "c", 5),
])
def test_a_half_typed_line_is_understood_as_far_as_it_goes(text, finished, last, start):
    before, word, at = half_typed(text)
    assert ["".join(map(str, one)) for one in before] == finished and "".join(map(str, word)) == last and at == start


@given(NASTY)
def test_any_half_typed_line_is_understood_or_a_console_error(text):
    try:
        _, _, start = half_typed(text)
    except ConsoleError:
        return
    assert 0 <= start <= len(text)
