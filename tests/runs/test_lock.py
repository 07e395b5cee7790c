from openworld.runs.lock import file_lock


def test_one_holder_at_a_time(tmp_path):
    path = tmp_path / "deep" / "a.lock"
    with file_lock(path) as held:
        assert held
        with file_lock(path, wait=False) as second:
            assert not second
        with file_lock(tmp_path / "b.lock", wait=False) as other:
            assert other
    with file_lock(path, wait=False) as again:
        assert again
