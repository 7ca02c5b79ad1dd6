"""Images by any CLIP of open_clip: `open_clip:ViT-B-32/laion2b_s34b_b79k`, architecture and weights."""

from __future__ import annotations

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

_ELSEWHERE = ("hf-hub:", "local-dir:")  # prefixes of networks that are not in open_clip's own list


def load(model: str, seed: int | None, device: str | None) -> Network:
    """The image half of the model; with a seed (then without /WEIGHTS), it has random weights."""
    with needing("open_clip", "image", "embedding images"):
        import open_clip

    if model.startswith(_ELSEWHERE):
        architecture, weights, hub = model, None, model.partition(":")[2]
    else:
        architecture, _, tag = model.partition("/")
        if architecture not in open_clip.list_models():
            raise InvalidInput(
                f"open_clip has no network {architecture!r}; open_clip.list_models() in Python lists all"
            )
        tags = open_clip.list_pretrained_tags_by_model(architecture)
        if seed is None and tag not in tags:
            raise InvalidInput(
                f"open_clip:{architecture}/WEIGHTS takes one of the weights {', '.join(tags)}; got {tag!r}"
            )
        weights, hub = tag, open_clip.get_pretrained_cfg(architecture, tag).get("hf_hub", "").strip("/")
    place = f"the folder that `hf download {hub} --local-dir FOLDER` makes, given as open_clip:local-dir:FOLDER"
    with fetching(f"open_clip:{model} (model {hub} of the Hugging Face hub)", place), drawn_from(seed):
        network, _, transform = open_clip.create_model_and_transforms(
            architecture, pretrained=weights if seed is None else None, load_weights=seed is None
        )
    on = choose_device(device)
    network.eval().to(on)
    preprocessing = f"1: {architecture}, {transform!r}"
    return Network(
        weights_digest(network),
        preprocessing,
        lambda data: transform(picture(data)),
        image_encoder(network.encode_image, on),
    )
