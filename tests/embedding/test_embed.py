"""What surrounds the networks: order, repeats, the cache, interruptions, principal components, and new items."""

import os
import pickle
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ordinate import embedding
from ordinate.cluster import Cluster
from ordinate.data.items import Items
from ordinate.data.recipe import Recipe
from ordinate.embedding import embed, embed_like, parse_encoder, read_embedding, write_embedding
from ordinate.embedding.cache import VectorCache
from ordinate.errors import InvalidInput, StorageFailed
from ordinate.study.study import Study

WORDS = ["plain", "words", "to", "count", "letters", "of", "and", "one", "more", "line", "at", "last"]


def texts(*values: str, prefix: str = "") -> Items:
    return Items([f"{prefix}{number}" for number in range(len(values))], content={"text": values})


def counts(value: str) -> list[int]:
    return [value.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz "]


def test_rows_follow_the_items_and_repeats_are_computed_once(batches):
    made, recipe = embed(texts("abba", "cab", "abba", "b"), "letters:any")
    np.testing.assert_allclose(made.features, [counts(value) for value in ("abba", "cab", "abba", "b")], rtol=1e-5)
    assert batches == [3]
    assert (recipe.encoder, recipe.content, recipe.projection) == ("letters:any", "text", None)


class Elsewhere(Cluster):
    """In place of a cluster: runs go through pickle, and the results come back in another order."""

    def __init__(self, scheduler):
        self.sent: list[int] = []

    def results(self, runs):
        packed = [pickle.dumps(run) for run in runs]
        self.sent.append(len(packed))
        for place in reversed(range(len(packed))):
            yield place, pickle.loads(packed[place])(lambda step: None)


def test_workers_of_a_cluster_make_the_same_vectors(batches, tmp_path):
    here, recipe = embed(texts(*WORDS), "letters:any", batch=5, cache=tmp_path / "here")
    embedding._kept.cache_clear()
    cluster = Elsewhere("tcp://nowhere")
    for sent in ([3], [3, 0]):  # what is kept is not sent
        there, same = embed(texts(*WORDS), "letters:any", batch=5, cache=tmp_path / "there", cluster=cluster)
        np.testing.assert_array_equal(there.features, here.features)
        assert same.fingerprint == recipe.fingerprint
        assert cluster.sent == sent


def test_a_worker_with_other_weights_refuses(batches):
    encoder = embedding.parse_encoder("letters:any")
    with pytest.raises(InvalidInput, match="a worker of the cluster has other weights of letters:any"):
        embedding._on_worker(encoder, "the fingerprint of other weights", [("item 'new'", b"new")], None)


def test_the_rest_of_the_items_stays(batches):
    items = Items(["x", "y"], group=["g", "h"], content={"text": ["one", "two"], "link": ["https://example.org", None]})
    made, _ = embed(items)
    assert (made.ids, made.group, made.content) == (items.ids, items.group, items.content)


def test_nothing_is_computed_twice(batches):
    first, _ = embed(texts(*WORDS), batch=5)
    assert batches == [5, 5, 2]
    again, _ = embed(texts(*WORDS[:3], "new", *WORDS[3:]), batch=100)
    assert batches == [5, 5, 2, 13]  # a batch is computed whole, so that its shape does not hang on the cache
    np.testing.assert_array_equal(np.delete(again.features, 3, axis=0), first.features)
    embed(texts(*reversed(WORDS)), batch=1)
    assert batches == [5, 5, 2, 13]


def test_a_run_that_was_interrupted_goes_on_to_the_same_numbers(batches, tmp_path):
    whole, _ = embed(texts(*WORDS), batch=4, cache=tmp_path / "whole")

    def stop(done: int, total: int) -> None:
        if done == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(texts(*WORDS), batch=4, cache=tmp_path / "part", progress=stop)
    del batches[:]
    resumed, _ = embed(texts(*WORDS), batch=4, cache=tmp_path / "part")
    assert batches == [4]
    np.testing.assert_array_equal(resumed.features, whole.features)


KILLED = """
import os, signal, sys
import numpy as np
from ordinate import embedding
from ordinate.embedding.network import Family, Network
from ordinate import Items

done = []

def encode(batch):
    if len(done) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(len(batch))
    print(len(batch), flush=True)
    return np.array([[len(data), data[0]] for data in batch], np.float32)

embedding.FAMILIES["plain"] = Family("text", "", "", "", lambda *_: Network("", "", lambda data: data, encode))
items = Items([str(k) for k in range(20)], content={"text": [f"{k} {'x' * k}" for k in range(20)]})
made, _ = embedding.embed(items, "plain:any", batch=4, cache=sys.argv[1])
print(made.features.tolist())
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_kill_9_loses_the_batch_that_was_running_and_no_other(tmp_path):
    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", KILLED, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    first, second = run(), run()
    assert first.returncode == -signal.SIGKILL
    assert first.stdout.split() == ["4", "4", "4"]
    assert second.returncode == 0, second.stderr
    *sizes, matrix = second.stdout.splitlines()
    assert sizes == ["4", "4"]  # of five batches, three were there
    assert eval(matrix) == [[len(f"{k} {'x' * k}"), ord(str(k)[0])] for k in range(20)]


def test_progress_counts_from_what_is_there(batches):
    seen: list[tuple[int, int]] = []
    embed(texts("a", "b", "c", "a"), batch=2, progress=lambda done, total: seen.append((done, total)))
    embed(texts("a", "b", "d"), batch=2, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 3), (2, 3), (3, 3), (2, 3), (3, 3)]


class TestCache:
    def test_a_damaged_row_is_computed_again(self, batches, tmp_path):
        made, _ = embed(texts("abc", "def"))
        (file,) = (tmp_path / "cache").iterdir()
        whole = file.read_bytes()
        at = whole.index(made.features[0].astype("<f4").tobytes())
        file.write_bytes(whole[: at + 3] + b"\xff" + whole[at + 4 :])
        again, _ = embed(texts("abc", "def"))
        assert batches == [2, 2]
        np.testing.assert_array_equal(again.features, made.features)

    @pytest.mark.parametrize("damage", [b"this is no database at all, but long enough to be read as one" * 20, None])
    def test_a_damaged_file_is_made_anew(self, batches, tmp_path, damage):
        made, _ = embed(texts(*WORDS))
        (file,) = (tmp_path / "cache").iterdir()
        data = file.read_bytes()
        file.write_bytes(damage or data[:4096] + b"\x00" * (len(data) - 4096))
        again, _ = embed(texts(*WORDS))
        assert batches == [12, 12]
        np.testing.assert_array_equal(again.features, made.features)

    def test_more_rows_than_one_query_may_name(self, tmp_path):
        cache = VectorCache(tmp_path, "f")
        vectors = {str(key): np.full(2, key, np.float32) for key in range(1203)}
        cache.add(vectors)
        found = cache.found([str(key) for key in range(1300)])
        assert found.keys() == vectors.keys()
        assert all((found[key] == vectors[key]).all() for key in found)

    def test_a_folder_that_cannot_be_made_is_named(self, batches, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(StorageFailed, match=r"file.* choose another"):
            embed(texts("a", "b"), cache=tmp_path / "file" / "below")

    def test_a_file_that_cannot_be_written_is_named(self, batches, tmp_path, ordinary_user):
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(StorageFailed, match=r"locked.* choose another"):
            embed(texts("a", "b"), cache=tmp_path / "locked")

    def test_a_full_disk_is_an_error_and_not_an_empty_cache(self, batches, tiny_disk):
        many = texts(*(f"{k} {'abcdefghij'[k % 10]}" for k in range(4000)))
        with pytest.raises(StorageFailed, match="full"):
            embed(many, cache=tiny_disk)


class TestNewItems:
    def test_they_go_through_the_same_map_as_if_they_had_been_there(self, batches):
        items, new = texts(*WORDS), texts("brand", "new", "words", prefix="new-")
        made, recipe = embed(items, pca=4)
        plain, _ = embed(items)
        placed = embed_like(recipe, new)
        assert recipe.projection is not None
        raw = np.array([counts(value) for value in ("brand", "new", "words")])
        joint = (np.vstack([plain.features, raw]) - plain.features.mean(axis=0)) @ recipe.projection.components.T
        np.testing.assert_allclose(np.vstack([made.features, placed.features]), joint, atol=1e-4)
        assert made.features.shape == (12, 4)
        np.testing.assert_allclose(placed.features[2], made.features[WORDS.index("words")], rtol=1e-4)

    @pytest.mark.parametrize("pca", [None, 3])
    @pytest.mark.parametrize("stored", [True, False])
    def test_a_study_keeps_the_recipe(self, batches, tmp_path, pca, stored):
        made, recipe = embed(texts(*WORDS), pca=pca)
        url = f"sqlite:///{tmp_path / 'study.db'}" if stored else None
        study = Study.create(made, storage=url, recipe=recipe)
        if url is not None:
            study.close()
            study = Study.open(url)
        kept = study.settings.recipe
        assert kept is not None
        assert (kept.encoder, kept.content, kept.fingerprint) == ("letters:any", "text", recipe.fingerprint)
        new = texts("some", "new", "ones", prefix="new-")
        np.testing.assert_array_equal(embed_like(kept, new).features, embed_like(recipe, new).features)
        study.add_items(embed_like(kept, new))
        assert len(study.ordering()) == 15
        study.close()

    def test_other_weights_under_the_same_name_are_refused(self, batches):
        _, recipe = embed(texts("a", "b"))
        with pytest.raises(InvalidInput, match="letters:any is no longer the encoder"):
            embed_like(replace(recipe, fingerprint="0" * 64), texts("c"))

    def test_features_that_are_not_of_the_recipe_are_refused(self, batches):
        made, recipe = embed(texts(*WORDS), pca=3)
        with pytest.raises(InvalidInput, match="makes 3 columns; the items have 2"):
            Study.create(replace(made, features=made.features[:, :2]), recipe=recipe)
        matrix = made.features
        named: list[Any] = [dict.fromkeys(names, matrix) for names in (["other", "text"], ["text", "other"], ["image"])]
        others = [replace(made, feature_names=["a", "b", "c"]), texts(*WORDS), *(Items(made.ids, one) for one in named)]
        for items in others:
            with pytest.raises(InvalidInput, match="other blocks, named columns alone, or no features"):
                Study.create(items, recipe=recipe)

    @pytest.mark.parametrize("pca", [None, 3])
    def test_named_columns_stay_as_blocks_of_their_own(self, batches, tmp_path, pca):
        sizes = np.arange(len(WORDS), dtype=float)[:, None]
        plain, _ = embed(texts(*WORDS), pca=pca)
        made, recipe = embed(replace(texts(*WORDS), features=sizes, feature_names=["size"]), pca=pca)
        width = plain.features.shape[1]
        assert made.blocks == (("text", width, None), ("columns", 1, ("size",)))
        np.testing.assert_array_equal(made.features, np.hstack([plain.features, sizes]))
        again, _ = embed(made, pca=pca)
        np.testing.assert_array_equal(again.features, made.features)
        assert again.blocks == made.blocks
        study = Study.create(made, recipe=recipe)
        new = replace(texts("some", "new", prefix="new-"), features=np.array([[3.0], [4.0]]), feature_names=["size"])
        study.add_items(embed_like(recipe, new))
        assert study.items.features[-2:, -1].tolist() == [3.0, 4.0]
        # A file of the embedding has what the encoder made.
        for path in (tmp_path / "a.npz", tmp_path / "a.npy"):
            write_embedding(path, made, recipe)
        np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), plain.features)
        read, same = read_embedding(tmp_path / "a.npz", replace(texts(*WORDS), features=sizes, feature_names=["size"]))
        np.testing.assert_array_equal(read.features, made.features)
        assert (read.blocks, same.fingerprint) == (made.blocks, recipe.fingerprint)

    def test_features_without_names_are_not_replaced(self, batches, tmp_path):
        made, recipe = embed(texts("one", "two"))
        write_embedding(tmp_path / "a.npz", made, recipe)
        matrix, sizes = np.eye(2), np.ones((2, 1))
        blocks: Any = {"m": matrix, "n": sizes}
        for given, columns in (
            (replace(texts("one", "two"), features=matrix), 2),
            (replace(texts("one", "two"), features=blocks), 3),
        ):
            message = (
                f"these items have {columns} feature columns without names, which the features made of their texts"
            )
            for make in (
                lambda given=given: embed(given),
                lambda given=given: embed_like(recipe, given),
                lambda given=given: read_embedding(tmp_path / "a.npz", given),
            ):
                with pytest.raises(InvalidInput, match=message):
                    make()
        assert batches == [2], "nothing is computed first"


class TestWhatCannotBeEmbedded:
    @pytest.mark.parametrize("pca", [None, 2])
    def test_no_items(self, batches, pca):
        _, recipe = embed(texts("one", "two", "three"), pca=pca)
        for make in (lambda: embed(texts(), pca=pca), lambda: embed_like(recipe, texts())):
            with pytest.raises(InvalidInput, match="there are no items, so there is nothing to embed"):
                make()

    @pytest.mark.parametrize("pca", ["0.9", True, [2]])
    def test_a_number_of_components_that_is_none(self, batches, pca):
        message = re.escape(
            f"keep a share of the variance between 0 and 1, such as 0.9, or a number of components; got {pca!r}"
        )
        with pytest.raises(InvalidInput, match=message):
            embed(texts("one", "two"), pca=pca)
        with pytest.raises(InvalidInput, match=message):
            Recipe.of_given(Items(["a", "b"], np.eye(2)), pca)
        assert not batches, "nothing is computed first"
        numbers: list[Any] = [np.float64(0.9), np.int64(1)]
        for number in numbers:
            assert embed(texts("one", "two"), pca=number)[0].features.shape == (2, 1)


class TestContent:
    @pytest.mark.parametrize("empty", ["", "   ", "\n"])
    def test_an_empty_text_is_named(self, batches, empty):
        with pytest.raises(InvalidInput, match=r"item '1' \(row 2\) has no text"):
            embed(texts("a", empty, "c"))

    def test_the_encoder_follows_the_content(self, batches):
        assert embedding.default_encoder(texts("a")) == "letters:any"
        assert embedding.default_encoder(Items(["a"], content={"image": ["a.png"]})) == "tones:any"
        with pytest.raises(InvalidInput, match="texts and images; name the encoder"):
            embed(Items(["a"], content={"text": ["a"], "image": ["a.png"]}))
        with pytest.raises(InvalidInput, match="neither a column 'text' nor a column 'image'"):
            embed(Items(["a"]))

    def test_an_encoder_of_another_kind_is_refused(self, batches):
        with pytest.raises(InvalidInput, match="reads images, and the items have text"):
            embed(texts("a"), "tones:any")

    def test_a_missing_file_and_an_address_name_the_item(self, batches, tmp_path):
        for place, message in (
            ("gone.png", r"item 'x' \(row 1\): there is no file .*gone.png"),
            ("https://example.org/a.png", r"item 'x' \(row 1\): the image is a URL; download it"),
            ("data:image/png;base64,AAAA", r"item 'x' \(row 1\): this data: URL holds no image"),
        ):
            with pytest.raises(InvalidInput, match=message):
                embed(Items(["x"], content={"image": [place]}), folder=tmp_path)

    def test_a_picture_within_a_table_is_as_good_as_its_file(self, batches, tmp_path):
        Image.new("L", (4, 4), 90).save(tmp_path / "a.png")
        within = {"bytes": (tmp_path / "a.png").read_bytes(), "path": None}
        by_file, _ = embed(Items(["x"], content={"image": ["a.png"]}), folder=tmp_path)
        by_table, _ = embed(Items.from_columns({"id": ["x"], "image": [within]}))
        np.testing.assert_array_equal(by_table.features, by_file.features)


class TestNames:
    def test_untrained_weights_have_a_seed(self):
        assert parse_encoder("timm:resnet34@untrained") == ("timm", "resnet34", 0)
        assert parse_encoder("facenet:casia-webface@untrained=7") == ("facenet", "casia-webface", 7)
        assert parse_encoder("text:C:\\models\\a@b") == ("text", "C:\\models\\a@b", None)

    @pytest.mark.parametrize("name", ["", "resnet34", "timm:", "nobody:resnet34"])
    def test_an_unknown_family_lists_those_there_are(self, name):
        with pytest.raises(InvalidInput, match=r"FAMILY:MODEL, such as text:all-mpnet-base-v2, timm:resnet34"):
            parse_encoder(name)

    @pytest.mark.parametrize("name", ["timm:resnet34@untrained=", "timm:resnet34@untrained=-1", "timm:a@untrainedx"])
    def test_a_seed_is_a_whole_number(self, name):
        with pytest.raises(InvalidInput, match="whole number as SEED"):
            parse_encoder(name)

    @pytest.mark.parametrize("scheme", ["", "local-dir:"])
    @pytest.mark.parametrize("ending", ["", "@untrained=3"])
    def test_a_folder_is_kept_as_an_absolute_path(self, batches, tmp_path, monkeypatch, scheme, ending):
        monkeypatch.chdir(tmp_path)
        Path("letters").mkdir()
        _, recipe = embed(texts("a", "b"), f"letters:{scheme}letters{ending}")
        assert recipe.encoder == f"letters:{scheme}{tmp_path / 'letters'}{ending}"
