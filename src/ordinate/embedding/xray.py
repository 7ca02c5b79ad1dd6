"""Chest X-rays by the DenseNet121 of torchxrayvision: `xray:densenet121-res224-all`. 1,024 columns."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from ordinate.data.pictures import picture
from ordinate.embedding.network import (
    Network,
    choose_device,
    drawn_from,
    fetching,
    image_encoder,
    needing,
    weights_digest,
)
from ordinate.errors import InvalidInput

SIDE = 224


def load(model: str, seed: int | None, device: str | None) -> Network:
    """The network up to its last pooling layer; with a seed, it has random weights."""
    # Importing the package turns all warnings off.
    with needing("torchxrayvision", "xray", "embedding X-rays"), warnings.catch_warnings():
        import torch
        import torchxrayvision as xrv

    known = {name: row for name, row in xrv.models.model_urls.items() if name.startswith("densenet")}
    if model not in known:
        raise InvalidInput(f"torchxrayvision has no DenseNet {model!r}; it has {', '.join(known)}")
    url = known[model]["weights_url"]
    place = f"the file {Path(url).name}, from {url}, in {xrv.utils.get_cache_dir()}"
    with fetching(f"xray:{model}", place), drawn_from(seed):
        network = xrv.models.DenseNet(weights=model if seed is None else None)
    on = choose_device(device)
    network.eval().to(on)
    crop, resize = xrv.datasets.XRayCenterCrop(), xrv.datasets.XRayResizer(SIDE, engine="skimage")

    def prepare(data: bytes) -> torch.Tensor:
        grey = np.asarray(picture(data).convert("L"))
        pixels = xrv.datasets.normalize(grey, maxval=255, reshape=True)  # from -1024 to 1024
        return torch.from_numpy(resize(crop(pixels)).astype(np.float32))

    return Network(
        weights_digest(network),
        f"1: grey, centre square, resized to {SIDE}",
        prepare,
        image_encoder(network.features2, on),
    )
