"""What a killed process leaves in the folder of a set."""

from openworld.shifts.synthesis.generating import read_journal


def test_scratch_files_of_a_killed_process_are_removed(tmp_path):
    (tmp_path / "cell").mkdir()
    scratch, picture = tmp_path / "cell" / ".1.png.0a1b2c3d.writing", tmp_path / "cell" / "1.png"
    for path in (scratch, picture):
        path.write_bytes(b"\x89PNG")
    assert read_journal(tmp_path, 1) == {}
    assert picture.exists() and not scratch.exists()
