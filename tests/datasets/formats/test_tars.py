import gzip
import io
import os
import pickle
import random
import tarfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.datasets import few_shot, load
from openworld.datasets.formats import tars


def jpeg(number):
    file = io.BytesIO()
    Image.new("RGB", (4, 4), (number, 0, 0)).save(file, "PNG")
    return file.getvalue()


def write(path, members):
    """members: name -> bytes, or a TarInfo of another type."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
            else:
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return path


def samples(labels, first=0):
    members = {}
    for number, label in enumerate(labels, start=first):
        members |= {f"{number:04d}.png": jpeg(number), f"{number:04d}.cls": str(label).encode()}
    return members


@pytest.fixture
def shards(tmp_path):
    (tmp_path / "classnames.txt").write_text("wild_dog\ncat\nowl\n")
    write(tmp_path / "train" / "0.tar", samples([1, 0, 1]))
    write(tmp_path / "train" / "1.tar", samples([2, 1], first=3) | {"0003.json": b"{}", "0003.txt": b"a caption"})
    write(tmp_path / "test" / "0.tar", samples([2]))
    return tmp_path


def test_shards_by_hand(shards):
    before = sorted(shards.rglob("*"))
    images = load(str(shards / "{part}" / "*.tar"), part="train")
    assert images.classnames == ("wild dog", "cat", "owl")
    assert images.labels.tolist() == [1, 0, 1, 2, 1]
    assert [images.image(number).getpixel((0, 0))[0] for number in range(5)] == [0, 1, 2, 3, 4]
    for pattern in ("{part}/{0..0}.tar", "test/0.tar"):
        assert load(str(shards / pattern)).labels.tolist() == [2]
    assert sorted(shards.rglob("*")) == before  # nothing is extracted


def test_shots_are_drawn_as_everywhere_and_the_fingerprint_is_of_contents(shards):
    pattern = str(shards / "{part}" / "*.tar")
    drawn = load(pattern, part="train", shots=1, seed=3)
    expected = few_shot([1, 0, 1, 2, 1], 1, random.Random(3))
    names = [f"{number // 3}.tar/{number:04d}.png" for number in expected]
    assert [drawn.path_of(place) for place in range(len(drawn))] == names
    images = load(pattern, part="train")
    assert pickle.loads(pickle.dumps(images)).image(4).getpixel((0, 0)) == (4, 0, 0)
    write(shards / "train" / "1.tar", samples([2, 0], first=3))
    assert load(pattern, part="train").fingerprint != images.fingerprint


def special(name, kind, target=""):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"../0.png": b"", "../0.cls": b"0"}, "leaves its folder"),
        ({"/etc/0.png": b"", "/etc/0.cls": b"0"}, "leaves its folder"),
        ({"a/../../0.txt": b""}, "leaves its folder"),
        ({"0.png": special("0.png", tarfile.SYMTYPE, "/etc/passwd")}, "no plain file"),
        ({"0.png": special("0.png", tarfile.LNKTYPE, "1.png")}, "no plain file"),
        ({"0.png": special("0.png", tarfile.CHRTYPE)}, "no plain file"),
        ({"0.png": b"x"}, "0 has no label"),
        ({"0.cls": b"0"}, "0 has no image"),
        ({"0.png": b"x", "0.jpg": b"x", "0.cls": b"0"}, "two members like 0.jpg"),
        ({"0.png": b"x", "0.cls": b"\xff"}, "is no label"),
        ({"0.png": b"x", "0.cls": b" "}, "is no label"),
        ({"0.png": b"x", "0.cls": b"3"}, "the label '3'; .* names 2 classes"),
        ({"0.txt": b"x"}, "holds no sample"),
        ({}, "holds no sample"),
    ],
)
def test_a_wrong_shard_is_refused(tmp_path, members, message):
    (tmp_path / "classnames.txt").write_text("ant\nbee\n")
    path = write(tmp_path / "a.tar", members)
    with pytest.raises(OpenworldError, match=message):
        load(str(path))


def test_numbers_need_names_and_a_compressed_shard_is_refused(tmp_path):
    path = write(tmp_path / "a.tar", samples([0, 1]))
    with pytest.raises(OpenworldError, match="name the classes, one per line"):
        load(str(path))
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(OpenworldError, match="decompress it"):
        load(str(path))


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(length=st.integers(0, 6 * 512))
def test_a_cut_shard_is_refused_wherever_it_was_cut(tmp_path, length):
    """Three samples in twelve blocks, cut before the last; tarfile alone would read whole samples and say nothing."""
    path = write(tmp_path / "a.tar", samples(["ant", "bee", "cat"]))
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(OpenworldError, match="cut short|plain tar archive"):
        load(str(path))


@pytest.mark.parametrize(
    ("pattern", "options", "message"),
    [
        ("{part}/{0..2}.tar", {"part": "train"}, r"no file matches .*2\.tar"),
        ("{part}/*.tar", {"part": "validation"}, "no file matches .*val"),
        ("train/0.tar", {"part": "train"}, "does not say where part 'train' lies"),
        ("{part}/*.tar", {"domain": "sketch"}, "no domains"),
        ("0.tar", {"part": "exam"}, "unknown part"),
        ("pipes/*.tar", {}, "2.tar is no plain file"),
        ("{000000000..999999999}.tar", {}, "stand for none or more than 100,000 shards"),
        ("{a,b}" * 3000 + ".tar", {}, "stand for none or more than 100,000 shards"),
        ("{2..1}.tar", {}, "stand for none or more than 100,000 shards"),
    ],
    ids=range(9),
)
def test_shards_that_are_not_all_there_are_refused(shards, pattern, options, message):
    (shards / "pipes").mkdir()
    os.mkfifo(shards / "pipes" / "2.tar")
    with pytest.raises(OpenworldError, match=message):
        tars.load(str(shards / pattern), **options)


def header(size, kind=b"0", name="0.png"):
    """A header of a member whose size may be larger than tarfile would write."""
    block = bytearray(tarfile.TarInfo(name).tobuf()[:512])
    block[124:136] = b"\x80" + size.to_bytes(11, "big") if size >= 8**11 else b"%011o\0" % size
    block[156:157] = kind
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


LONG_LINK = header(512, b"K", "././@LongLink") + b"x".ljust(512, b"\0")


@pytest.mark.parametrize(
    "content",
    [header(2**62), LONG_LINK * 5000, header(10**12, b"K"), header(10**12, b"L"), header(10**12, b"x")],
    ids=["size beyond any file", "links without end", "link", "name", "extended header"],
)
def test_sizes_beyond_any_archive_are_refused(tmp_path, content):
    (tmp_path / "0.tar").write_bytes(content + bytes(1024))
    with pytest.raises(OpenworldError, match="0.tar cannot be read as a plain tar archive|0.tar is damaged"):
        load(str(tmp_path / "0.tar"))
