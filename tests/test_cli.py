"""What a person sees at the terminal."""

import pytest

from dalembert.cli import main


def test_study(capsys):
    assert main(["study", "puma560"]) == 0
    text = capsys.readouterr().out
    for words in ("puma560: 6 joints RRRRRR", "joint2", "37.4837", "newton_euler", "lie_group", "angular part first"):
        assert words in text


def test_study_of_files(capsys, tmp_path):
    (tmp_path / "stone.urdf").write_text('<robot name="stone"><link name="a"/></robot>')
    assert main(["study", str(tmp_path / "stone.urdf")]) == 0
    assert "stone: 0 joints" in capsys.readouterr().out


def test_info_check_robots(capsys):
    assert main(["info", "panda"]) == 0
    assert main(["check", "panda"]) == 0
    assert main(["check", "puma560"]) == 1
    assert main(["robots"]) == 0
    assert "stanford" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("robot", "message"), [("pumma", "did you mean 'puma560'"), ("x.urdf", "cannot be read"), ("x.txt", "known are")]
)
def test_errors_are_one_line(capsys, robot, message):
    assert main(["study", robot]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("dalembert 0.")
