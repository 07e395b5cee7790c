"""Encoding: once, resumable, keyed by what determines the numbers, honest about unreadable images."""

import hashlib
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))

from made_up_images import Reader, image, image_set  # noqa: E402
from tiny_clip import tiny_clip  # noqa: E402

from openworld import OpenworldError  # noqa: E402
from openworld.features import (
    Encoding,
    _shards,
    encode,
    encode_shard,
    encode_together,
    encoded_size,
    fingerprint_of,
    is_encoded,
    missing_shards,
)


def test_equals_the_backbone_one_by_one(clip, tmp_path):
    features = encode(clip, image_set(Reader()), Encoding(patches=True), cache=tmp_path)
    for index in range(7):
        pixels = clip.preprocess(image(index))[None]
        expected, patches = clip.encode_patches(pixels)
        np.testing.assert_allclose(features.embeddings[index], expected[0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(features.patches[index], patches[0], rtol=2e-2, atol=2e-3)
    assert features.labels.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert features.rows.tolist() == list(range(7))


def test_pixels_and_patches_on_disk_are_those_that_were_encoded(clip, tmp_path):
    encoding = Encoding(views=2, patches=True, pixels=True)
    features = encode(clip, image_set(Reader()), encoding, cache=tmp_path)
    for pixels, rows, patches in (
        (np.asarray(features.pixels), features.embeddings, np.asarray(features.patches)),
        (np.asarray(features.view_pixels)[:, 1], features.views[:][:, 1], features.view_patches[:][:, 1]),
    ):
        assert pixels.dtype == np.uint8
        expected, expected_patches = clip.encode_patches(clip.preprocess.scale(torch.from_numpy(pixels)))
        np.testing.assert_allclose(rows, expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(patches, expected_patches, rtol=2e-2, atol=2e-3)


def test_rows_of_a_set_on_disk_are_taken_without_reading_them(clip, tmp_path):
    features = encode(clip, image_set(Reader()), Encoding(views=1, pixels=True), cache=tmp_path)
    some = features.of_classes(np.array([2, 0]))
    assert type(some.view_pixels) is type(features.view_pixels)
    np.testing.assert_array_equal(some.view_pixels[1], features.view_pixels[2])
    np.testing.assert_array_equal(np.asarray(some.pixels), np.asarray(features.pixels)[[0, 2, 3, 5, 6]])


@pytest.mark.parametrize("settings", [{}, {"patches": True}, {"pixels": True, "views": 1}])
def test_what_is_written_is_as_large_as_was_said_and_no_larger(clip, tmp_path, settings):
    encode(clip, image_set(Reader()), Encoding(**settings), cache=tmp_path)
    written = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    expected = encoded_size(clip.config, Encoding(**settings), 7)
    heads = encoded_size(clip.config, Encoding(**settings), 0) + 3 * 1000  # of three shards
    assert expected - heads <= written <= expected


def test_an_interrupted_encoding_goes_on_where_it_was_and_is_done_once(clip, tmp_path, monkeypatch):
    whole = encode(clip, image_set(Reader()), cache=tmp_path / "whole")

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode(clip, image_set(Reader()), cache=tmp_path / "parts", progress=interrupt)
    digested, digest = [], hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *given: digested.append(given) or digest(*given))
    for images_read, seen in ((4, [(3, 7), (6, 7), (7, 7)]), (0, []), (0, [])):
        reader, calls = Reader(), []
        parts = encode(clip, image_set(reader), cache=tmp_path / "parts", progress=lambda *at, to=calls: to.append(at))
        assert reader.count == images_read and calls == seen
        np.testing.assert_array_equal(whole.embeddings, parts.embeddings)
    assert len(digested) == 3  # of three shards, each read once per process


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


DAMAGE = {
    "a bit flipped": flip,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-4]),
    "emptied": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "its checksum lost": lambda path: path.with_name(path.name + ".sha256").write_bytes(b""),
}


QUIET = ("gone", "its checksum lost")  # another process may just be writing the checksum


@pytest.mark.parametrize(("damage", "finished"), [*((damage, True) for damage in DAMAGE), ("cut", False)])
def test_a_damaged_shard_is_encoded_again_and_the_others_are_not(clip, tmp_path, caplog, damage, finished):
    encode(clip, image_set(Reader()), cache=tmp_path)
    (folder,) = tmp_path.iterdir()
    before = contents(tmp_path)
    if not finished:
        (folder / "manifest.json").unlink()
    DAMAGE[damage](folder / "shard-00001.safetensors")
    assert not is_encoded(clip, image_set(Reader()), cache=tmp_path)
    reader = Reader()
    encode(clip, image_set(reader), cache=tmp_path)
    assert reader.count == 3 and contents(tmp_path) == before and is_encoded(clip, image_set(reader), cache=tmp_path)
    assert ("shard-00001.safetensors was damaged" in caplog.text) == (damage not in QUIET)


def test_the_bytes_do_not_depend_on_threads(clip, tmp_path):
    before = torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            encode(clip, image_set(Reader()), Encoding(views=1, patches=True), cache=tmp_path / str(threads))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert contents(tmp_path / "1") == contents(tmp_path / "3")


def contents(cache):
    return {str(path.relative_to(cache)): path.read_bytes() for path in cache.rglob("*") if path.is_file()}


def test_shards_done_elsewhere_in_any_order_give_the_same_bytes(clip, tmp_path):
    encode(clip, image_set(Reader()), cache=tmp_path / "whole")
    parts, images = {"cache": tmp_path / "parts"}, image_set(Reader())
    assert missing_shards(clip, images, [Encoding()], **parts) == {0: 3, 1: 3, 2: 1}
    for index in (2, 0):
        encode_shard(clip, images, [Encoding()], index, **parts)
    broken = image_set(Reader({4}))  # stops at an unreadable image and is not kept
    with pytest.raises(OpenworldError, match="image-4.png cannot be read"):
        encode_shard(clip, broken, [Encoding()], 1, **parts)
    assert missing_shards(clip, images, [Encoding()], **parts) == {1: 3}
    encode_shard(clip, broken, [Encoding()], 1, **parts, allow_corrupt=1)
    assert missing_shards(clip, images, [Encoding()], **parts) == {}
    (path,) = parts["cache"].glob("*/shard-00001.safetensors")
    flip(path)
    assert missing_shards(clip, images, [Encoding()], among=[1, 2], **parts) == {1: 3}
    encode_shard(clip, images, [Encoding()], 1, **parts)
    reader = Reader()
    encode(clip, image_set(reader), **parts)
    encode_shard(clip, image_set(reader), [Encoding()], 1, **parts)
    assert reader.count == 0 and contents(tmp_path / "parts") == contents(tmp_path / "whole")


@pytest.fixture
def beside_gpu(monkeypatch):
    """Encode as beside a GPU: here, batch by batch, in one thread as a core does, while others prepare the next one."""
    monkeypatch.setattr("openworld.features._shards._on_cores", _shards._beside_gpu)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # some processors sum in another order in two
    yield
    torch.set_num_threads(threads)


def test_encoding_beside_a_gpu_gives_what_the_cores_give(clip, tmp_path, request):
    ask, images = Encoding(views=2, patches=True, pixels=True), image_set(Reader({4}))
    encode(clip, images, ask, cache=tmp_path / "cores", allow_corrupt=1)
    request.getfixturevalue("beside_gpu")
    encode(clip, images, ask, cache=tmp_path / "gpu", allow_corrupt=1)
    assert contents(tmp_path / "gpu") == contents(tmp_path / "cores")  # batches of two on both


def test_the_next_batch_is_read_while_one_is_encoded_and_no_further_one(clip, tmp_path, beside_gpu, monkeypatch):
    monkeypatch.setattr("openworld.features.encoding._SHARD_IMAGES", 100)
    forward, reader, seen = _shards.SharedReading.forward, Reader(), []

    def watched(*given):
        deadline = time.monotonic() + 600
        wanted = min(2 * (len(seen) + 2), 7)  # this batch and the next one
        while reader.count < wanted and time.monotonic() < deadline:
            time.sleep(0.001)
        seen.append(reader.count)
        return forward(*given)

    monkeypatch.setattr(_shards.SharedReading, "forward", watched)
    encode(clip, image_set(reader), cache=tmp_path)
    assert seen == [4, 6, 7, 7]


def full_beyond(monkeypatch, rows):
    """A tower for which the memory of its GPU is full beyond so many images; the sizes that were tried."""
    forward, tried = _shards.SharedReading.forward, []

    def full(looks, pixels):
        tried.append(len(pixels))
        if len(pixels) > rows:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return forward(looks, pixels)

    monkeypatch.setattr(_shards.SharedReading, "forward", full)
    return tried


def test_images_that_do_not_fit_together_are_encoded_in_smaller_batches(
    clip, tmp_path, beside_gpu, monkeypatch, caplog
):
    ask, images = Encoding(views=1, patches=True), image_set(Reader({4}))
    whole = encode(clip, images, ask, cache=tmp_path / "whole", allow_corrupt=1)
    monkeypatch.setattr("openworld.features._shards._CPU_BATCH_IMAGES", 3)
    tried = full_beyond(monkeypatch, 1)
    parts = encode(clip, images, ask, cache=tmp_path / "parts", allow_corrupt=1)
    assert tried == [3, 1, 1, 1, 3, 1, 1, 1, 1] and "3 at a time do not fit" in caplog.text
    for name in ("embeddings", "views"):
        np.testing.assert_allclose(getattr(parts, name)[:], getattr(whole, name)[:], rtol=1e-4, atol=1e-5)
    assert parts.rows.tolist() == whole.rows.tolist() == [0, 1, 2, 3, 5, 6]


def test_views_are_the_same_again_and_differ_among_themselves(clip, tmp_path):
    ask = Encoding(views=2, seed=5)
    one = encode(clip, image_set(Reader()), ask, cache=tmp_path / "one")
    two = encode(clip, image_set(Reader()), ask, cache=tmp_path / "two")
    assert one.views.shape == (7, 2, 64)
    np.testing.assert_array_equal(np.asarray(one.views), np.asarray(two.views))
    views = np.asarray(one.views)
    assert not np.allclose(views[:, 0], views[:, 1])


def test_whatever_changes_the_numbers_changes_the_key(clip):
    asks = [Encoding(), Encoding(views=1), Encoding(seed=1), Encoding(patches=True)]
    keys = [fingerprint_of(clip, image_set(Reader()), ask) for ask in asks]
    keys.append(fingerprint_of(clip, image_set(Reader(), content="other images"), Encoding()))
    assert len(set(keys)) == 5 and fingerprint_of(clip, image_set(Reader({1})), Encoding()) == keys[0]


def test_an_unreadable_image_stops_the_run_and_is_named(clip, tmp_path):
    with pytest.raises(OpenworldError, match="image-4.png cannot be read"):
        encode(clip, image_set(Reader({4})), cache=tmp_path)
    # Once it is repaired, only its shard is read again.
    reader = Reader()
    assert len(encode(clip, image_set(reader), cache=tmp_path)) == 7
    assert reader.count == 4


def test_allowed_unreadable_images_are_left_out_and_counted_over_all_shards(clip, tmp_path):
    with pytest.raises(OpenworldError, match="image-5.png"):
        encode(clip, image_set(Reader({1, 5})), cache=tmp_path, allow_corrupt=1)
    features = encode(clip, image_set(Reader({1, 5})), cache=tmp_path, allow_corrupt=2)
    assert features.rows.tolist() == [0, 2, 3, 4, 6]
    assert np.isfinite(features.embeddings).all()
    with pytest.raises(OpenworldError, match="2 of 7 images .* could not be read, 1 allowed"):
        encode(clip, image_set(Reader({1, 5})), cache=tmp_path, allow_corrupt=1)


def test_an_empty_set_is_refused(clip, tmp_path):
    with pytest.raises(OpenworldError, match="empty"):
        encode(clip, image_set(Reader(), count=0), cache=tmp_path)


def test_embeddings_that_are_not_finite_are_not_taken_for_unreadable_images(tmp_path):
    overflowing = tiny_clip(torch.float32)
    with torch.no_grad():
        overflowing.image.projection.weight.fill_(torch.inf)
    with pytest.raises(OpenworldError, match="not finite in torch.float32"):
        encode(overflowing, image_set(Reader()), cache=tmp_path, allow_corrupt=7)


TOGETHER = [
    Encoding(),
    Encoding(views=2, seed=5),
    Encoding(views=2, seed=5, patches=True),
    Encoding(views=1, seed=6, crop_scale=(0.5, 1.0), pixels=True),
]


def test_one_pass_writes_what_each_encoding_alone_would(clip, tmp_path, monkeypatch):
    """Every image is read once, and every look goes through the tower once for all encodings."""
    reader = Reader()
    images, seen, passes = image_set(reader), [], []
    alone = [encode(clip, images, one, cache=tmp_path / "alone") for one in TOGETHER]
    assert reader.count == 7 * len(TOGETHER)
    for name in ("encode_image", "encode_patches"):
        plain = getattr(clip, name)
        monkeypatch.setattr(clip, name, lambda pixels, plain=plain: passes.append(len(pixels)) or plain(pixels))
    reader.count = 0
    together = encode_together(
        clip, images, TOGETHER, cache=tmp_path / "together", progress=lambda *done: seen.append(done)
    )
    assert reader.count == 7 and seen == [(3, 7), (6, 7), (7, 7)]
    assert sum(passes) == 7 * (1 + 2 + 1)
    assert contents(tmp_path / "together") == contents(tmp_path / "alone")
    assert [one.fingerprint for one in together] == [one.fingerprint for one in alone]


def test_an_unreadable_image_leaves_no_shard_in_any_encoding(clip, tmp_path):
    images, both = image_set(Reader(broken=[4])), [Encoding(), Encoding(pixels=True)]
    with pytest.raises(OpenworldError, match="image-4"):
        encode_together(clip, images, both, cache=tmp_path)
    assert missing_shards(clip, images, both, cache=tmp_path) == {1: 3, 2: 1}
    assert [len(one) for one in encode_together(clip, images, both, cache=tmp_path, allow_corrupt=1)] == [6, 6]
