"""Features from pre-trained networks: items with texts or images -> items with a feature matrix, and its recipe.

>>> items, recipe = embed(items, "text:all-mpnet-base-v2", pca=0.9)     # doctest: +SKIP
>>> study = Study.create(items, recipe=recipe)                          # doctest: +SKIP
>>> study.add_items(embed_like(study.settings.recipe, new_items))       # doctest: +SKIP

An encoder's name is FAMILY:MODEL, with a family of the table below. `@untrained` behind it stands for the same network
with random weights, `@untrained=7` for those of seed 7.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ordinate.cluster import Cluster
from ordinate.data.arrays import Floats
from ordinate.data.items import Items
from ordinate.data.projection import Projection
from ordinate.data.recipe import Recipe
from ordinate.embedding import facenet, open_clip, text, timm, xray
from ordinate.embedding.cache import VectorCache, default_folder
from ordinate.embedding.contents import Content, contents
from ordinate.embedding.files import read_embedding, require_suffix, write_embedding
from ordinate.embedding.network import Family, Network, Vectors, fingerprint
from ordinate.errors import InvalidInput, naming

__all__ = [
    "DEFAULTS",
    "FAMILIES",
    "Recipe",
    "default_encoder",
    "embed",
    "embed_like",
    "read_embedding",
    "require_suffix",
    "write_embedding",
]

EXTRA = "python -m pip install 'ordinate[%s]'"

FAMILIES: dict[str, Family] = {
    "text": Family(
        "text", "texts, by any model of sentence-transformers", EXTRA % "text", "all-mpnet-base-v2", text.load
    ),
    "timm": Family("image", "images, by any network of timm", EXTRA % "image", "resnet34", timm.load),
    "open_clip": Family(
        "image", "images, by any CLIP of open_clip", EXTRA % "image", "ViT-B-32/laion2b_s34b_b79k", open_clip.load
    ),
    "facenet": Family("image", "faces, cropped, by facenet-pytorch", facenet.INSTALL, "casia-webface", facenet.load),
    "xray": Family("image", "chest X-rays, by torchxrayvision", EXTRA % "xray", "densenet121-res224-all", xray.load),
}
DEFAULTS = {"text": "text:all-mpnet-base-v2", "image": "timm:resnet34"}
BATCH = 32

Progress = Callable[[int, int], None]
"""Called with the number of different contents that are done, and that there are."""

_UNTRAINED = re.compile(r"(?P<model>.+)@untrained(=(?P<seed>\d{1,18}))?")


class Encoder(NamedTuple):
    """The name of an encoder, taken apart; `seed` is that of untrained weights."""

    family: str
    model: str
    seed: int | None


def embed(
    items: Items,
    encoder: str | None = None,
    *,
    pca: float | int | None = None,
    folder: str | Path = ".",
    cache: str | Path | None = None,
    batch: int = BATCH,
    device: str | None = None,
    progress: Progress | None = None,
    cluster: Cluster | None = None,
) -> tuple[Items, Recipe]:
    """The items with features made from their texts or images, and the recipe by which new items get theirs.

    encoder   None: `default_encoder`
    pca       keep that share of the variance (0.9) or that many principal components (35); None: all columns
    folder    where relative paths of images start
    cache     folder of vectors computed before; None: one of the user's, see `cache.default_folder`
    batch     how many contents go through the network at once, and how many an interrupted run can lose
    device    of PyTorch; None: a graphics processor where there is one
    cluster   its workers run the network, each on its own device; contents are sent to them

    Raises InvalidInput, naming the item; MissingExtra and WeightsMissing, saying how to get what is missing;
    ClusterFailed.
    """
    name = default_encoder(items) if encoder is None else encoder
    taken = parse_encoder(name)
    content = FAMILIES[taken.family].content
    listed = contents(items, content, folder)
    network, mark = _loaded(taken, device)
    encode = partial(_here, network) if cluster is None else partial(_there, cluster, taken, mark)
    vectors = _vectors(listed, encode, _cache(cache, mark), batch, progress)
    projection = None if pca is None else Projection.fit(vectors, pca)
    recipe = Recipe(_lasting(name), content, mark, projection)
    return _with_features(items, vectors, recipe), recipe


def embed_like(
    recipe: Recipe,
    items: Items,
    *,
    folder: str | Path = ".",
    cache: str | Path | None = None,
    batch: int = BATCH,
    device: str | None = None,
    progress: Progress | None = None,
) -> Items:
    """The items with features made by the recipe of others; the rest is as in `embed`.

    Raises InvalidInput where the encoder's name now means other weights than it did.
    """
    listed = contents(items, recipe.content, folder)
    network, mark = _loaded(parse_encoder(recipe.encoder), device)
    if mark != recipe.fingerprint:
        raise InvalidInput(
            f"{recipe.encoder} no longer is the encoder that made the features: its weights, or how it prepares its "
            "input, have changed. Bring back the old ones, or embed all items anew"
        )
    vectors = _vectors(listed, partial(_here, network), _cache(cache, mark), batch, progress)
    return _with_features(items, vectors, recipe)


def default_encoder(items: Items) -> str:
    """The encoder for what the items contain. Raises InvalidInput where they hold neither, or both."""
    kinds = [kind for kind in DEFAULTS if kind in items.content]
    if len(kinds) == 1:
        return DEFAULTS[kinds[0]]
    if kinds:
        raise InvalidInput(
            f"the items have texts and images; name the encoder, such as {' or '.join(DEFAULTS.values())}"
        )
    raise InvalidInput("there is nothing to embed: the items have neither a column 'text' nor a column 'image'")


def parse_encoder(name: str) -> Encoder:
    family, _, model = name.partition(":")
    if family not in FAMILIES or not model:
        known = ", ".join(f"{each}:{row.example}" for each, row in FAMILIES.items())
        raise InvalidInput(f"unknown encoder {name!r}; it is FAMILY:MODEL, such as {known}")
    if (untrained := _UNTRAINED.fullmatch(model)) is not None:
        return Encoder(family, untrained["model"], int(untrained["seed"] or 0))
    if "@untrained" in model:
        raise InvalidInput(f"encoder {name!r}: write @untrained, or @untrained=7 with a whole number as its seed")
    return Encoder(family, model, None)


def _lasting(name: str) -> str:
    """The name with a folder as an absolute path: later commands may run elsewhere."""
    family, _, rest = name.partition(":")
    model, marker, seed = rest.partition("@untrained")
    scheme = "local-dir:" if model.startswith("local-dir:") else ""
    folder = Path(model.removeprefix(scheme))
    return f"{family}:{scheme}{folder.resolve()}{marker}{seed}" if folder.is_dir() else name


def _loaded(encoder: Encoder, device: str | None) -> tuple[Network, str]:
    """The network, and its fingerprint."""
    network = FAMILIES[encoder.family].load(encoder.model, encoder.seed, device)
    return network, fingerprint(encoder.family, network)


def _cache(folder: str | Path | None, mark: str) -> VectorCache:
    return VectorCache(default_folder() if folder is None else folder, mark)


def _with_features(items: Items, vectors: Floats, recipe: Recipe) -> Items:
    features = vectors if recipe.projection is None else recipe.projection.apply(vectors)
    return replace(items, features=features, feature_names=None)


Batch = Sequence[tuple[str, bytes]]  # where each content is, for errors, and its bytes
Encode = Callable[
    [Iterable[Batch]], Iterable[tuple[int, Vectors]]
]  # batches -> place and vectors of each, in any order


def _vectors(
    listed: list[Content], encode: Encode, cache: VectorCache, batch: int, progress: Progress | None
) -> Floats:
    """(n, d) the vector of each content. What occurs twice is computed once; what the cache holds, not at all."""
    if batch < 1:
        raise InvalidInput(f"a batch holds at least one item; got {batch}")
    keys = [hashlib.sha256(content.read()).hexdigest() for content in listed]
    distinct = list(dict(zip(keys, listed, strict=True)).items())
    known = cache.found([key for key, _ in distinct])
    if progress is not None:
        progress(len(known), len(distinct))
    # Batches of the whole list, not of what is missing: so a run that was interrupted goes on with the same batches,
    # and its numbers are the same to the last bit (the shape of a batch decides the order of summation).
    batches = [distinct[start : start + batch] for start in range(0, len(distinct), batch)]
    batches = [part for part in batches if any(key not in known for key, _ in part)]
    for place, vectors in encode([_read(*one) for one in part] for part in batches):
        found = dict(zip((key for key, _ in batches[place]), vectors, strict=True))
        new = {key: vector for key, vector in found.items() if key not in known}
        cache.add(new)
        known.update(new)
        if progress is not None:
            progress(len(known), len(distinct))
    return np.array([known[key] for key in keys], dtype=np.float64)


def _read(key: str, content: Content) -> tuple[str, bytes]:
    data = content.read()
    if hashlib.sha256(data).hexdigest() != key:
        with naming(content.where):
            raise InvalidInput("its file changed while it was read; embed again")
    return content.where, data


def _here(network: Network, batches: Iterable[Batch]) -> Iterator[tuple[int, Vectors]]:
    return enumerate(_encoded(network, batch) for batch in batches)


def _there(cluster: Cluster, encoder: Encoder, mark: str, batches: Iterable[Batch]) -> Iterator[tuple[int, Vectors]]:
    return cluster.results(partial(_on_worker, encoder, mark, batch) for batch in batches)


def _on_worker(encoder: Encoder, mark: str, batch: Batch, report: object) -> Vectors:
    network, own = _kept(encoder)
    if own != mark:
        raise InvalidInput(
            f"a worker of the cluster has other weights of {encoder.family}:{encoder.model}, or prepares its input in "
            "another way: install the same versions, and bring the same weights to every machine"
        )
    return _encoded(network, batch)


@lru_cache(maxsize=1)
def _kept(encoder: Encoder) -> tuple[Network, str]:
    """A worker loads a network once."""
    return _loaded(encoder, None)


def _encoded(network: Network, batch: Batch) -> Vectors:
    inputs = []
    for where, data in batch:
        with naming(where):
            inputs.append(network.prepare(data))
    return network.encode(inputs)
