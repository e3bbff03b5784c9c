"""What an error says reaches terminals, logs and pages."""

from roofline.errors import UnknownFormatError


def test_control_characters_of_a_file_do_not_reach_the_terminal() -> None:
    error = UnknownFormatError("a\x1b[31m\nb\u202ec is not a profile.", remedy="Send\r another.")
    assert error.message == "a�[31m b�c is not a profile."
    assert error.remedy == "Send  another."
    assert str(error) == error.message


def test_names_keep_their_spaces() -> None:
    error = UnknownFormatError("Trace 10.31\u202fPM: 3\u00a0MiB", remedy="-")
    assert error.message == "Trace 10.31\u202fPM: 3\u00a0MiB"
