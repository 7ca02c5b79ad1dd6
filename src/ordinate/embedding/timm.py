"""Images by any network of timm: `timm:resnet34`. The vector is the input of the classifier."""

from __future__ import annotations

from difflib import get_close_matches

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

_ELSEWHERE = ("hf_hub:", "hf-hub:", "local-dir:")  # prefixes of networks that are not in timm's own list


def load(model: str, seed: int | None, device: str | None) -> Network:
    """The network with timm's weights; with a seed, it has random weights."""
    with needing("timm", "image", "embedding images"):
        import timm
        from timm.data import create_transform, resolve_model_data_config

    if not model.startswith(_ELSEWHERE) and not timm.is_model(model):
        near = get_close_matches(model, timm.list_models(), n=3, cutoff=0.5)
        meant = f"; perhaps {', '.join(near)}" if near else ""
        raise InvalidInput(f"timm has no network {model!r}{meant}; timm.list_models() in Python lists all")
    hub = getattr(timm.get_pretrained_cfg(model, allow_unregistered=True), "hf_hub_id", None) or model
    place = f"the folder that `hf download {hub} --local-dir FOLDER` makes, given as timm:local-dir:FOLDER"
    with fetching(f"timm:{model} (model {hub} of the Hugging Face hub)", place), drawn_from(seed):
        network = timm.create_model(model, pretrained=seed is None, num_classes=0)
    on = choose_device(device)
    network.eval().to(on)
    config = resolve_model_data_config(network)
    transform = create_transform(**config)
    preprocessing = f"1: {model}, {sorted(config.items())}"
    return Network(
        weights_digest(network), preprocessing, lambda data: transform(picture(data)), image_encoder(network, on)
    )
