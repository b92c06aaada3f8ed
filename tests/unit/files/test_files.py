"""Files are written whole or not at all, and read within limits."""

import os
import stat
from pathlib import Path

import pytest

from onetree import InvalidInputError, ModelFileError
from onetree.files.atomic import read_whole, write_whole


def test_what_is_written_is_read(tmp_path):
    write_whole(tmp_path / "file", "größer\n")
    assert read_whole(tmp_path / "file") == "größer\n".encode()
    write_whole(str(tmp_path / "file"), b"\0")
    assert read_whole(tmp_path / "file") == b"\0"


def test_no_other_file_is_left(tmp_path):
    write_whole(tmp_path / "file", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_write_that_fails_leaves_the_old_file_alone(tmp_path, monkeypatch):
    write_whole(tmp_path / "file", "old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInputError, match="No space left"):
        write_whole(tmp_path / "file", "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_an_interrupted_write_leaves_the_old_file_alone(tmp_path, monkeypatch):
    write_whole(tmp_path / "file", "old")

    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file", "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("name", [".", "missing/file"])
def test_a_place_that_cannot_be_written_is_refused_with_its_name(tmp_path, name):
    with pytest.raises(InvalidInputError, match=r"cannot write .*choose a file in a writable folder"):
        write_whole(tmp_path / name, "new")
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link_and_permissions_stay(tmp_path):
    write_whole(tmp_path / "file", "old")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced():
    write_whole(os.devnull, "gone")
    assert not Path(os.devnull).is_file()


def test_a_file_over_the_limit_is_refused(tmp_path):
    write_whole(tmp_path / "file", b"12345")
    assert read_whole(tmp_path / "file", limit=5) == b"12345"
    with pytest.raises(ModelFileError, match="larger than 4 bytes"):
        read_whole(tmp_path / "file", limit=4)


def test_memory_is_taken_for_what_is_in_a_file_not_for_what_may_be(tmp_path):
    (tmp_path / "small").write_bytes(b"abc")
    assert read_whole(tmp_path / "small", limit=1 << 60) == b"abc"
