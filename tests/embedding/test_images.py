"""Every kind of image becomes the upright RGB picture that a person would see; what is none is refused."""

import io

import numpy as np
import pytest
from PIL import Image

from ordinate.embedding.images import picture
from ordinate.errors import InvalidInput

RAMP = np.arange(64, dtype=np.uint8).reshape(8, 8) * 4


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def pixels(data: bytes) -> np.ndarray:
    image = picture(data)
    assert image.mode == "RGB"
    return np.asarray(image)


def test_grey_becomes_three_equal_channels():
    shown = pixels(saved(Image.fromarray(RAMP)))
    assert (shown == RAMP[:, :, None]).all()


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bits_run_from_the_darkest_pixel_to_the_brightest(kind):
    deep = Image.fromarray(RAMP.astype(np.uint16) * 10 + 100)  # 12 bits of 16, as X-rays often are
    assert deep.mode == "I;16"
    expected = np.rint((RAMP - RAMP.min()) * (255 / (int(RAMP.max()) - RAMP.min())))
    assert (pixels(saved(deep, kind)) == expected[:, :, None]).all()


def test_floating_point_pixels_likewise_and_a_flat_image_is_black():
    assert pixels(saved(Image.fromarray(RAMP.astype(np.float32) / 7), "TIFF")).max() == 255
    assert pixels(saved(Image.fromarray(np.full((4, 4), 300, np.uint16)))).max() == 0
    with pytest.raises(InvalidInput, match="not finite numbers"):
        picture(saved(Image.fromarray(np.full((4, 4), np.nan, np.float32)), "TIFF"))


def test_cmyk_is_what_a_viewer_shows():
    red = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    shown = pixels(saved(red, "JPEG", quality=95))
    assert shown[:, :, 0].min() > 240
    assert shown[:, :, 1:].max() < 15


def test_a_photograph_taken_sideways_stands_upright():
    sideways = Image.fromarray(RAMP[:4])
    exif = Image.Exif()
    exif[0x0112] = 6  # rotate by 90 degrees clockwise to show it
    shown = pixels(saved(sideways, "PNG", exif=exif))
    assert (shown[:, :, 0] == np.rot90(RAMP[:4], -1)).all()


@pytest.mark.parametrize("mode", ["RGBA", "LA", "PA"])
def test_what_is_transparent_lies_on_white(mode):
    clear = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    clear.putpixel((1, 2), (10, 10, 10, 255))
    shown = pixels(saved(clear.convert(mode), "TIFF" if mode == "PA" else "PNG"))
    assert (shown[0, 0] == 255).all()
    assert (shown[2, 1] == 10).all()


def test_the_first_picture_of_several():
    frames = [Image.new("L", (4, 4), value) for value in (40, 200)]
    assert (pixels(saved(frames[0], "GIF", save_all=True, append_images=frames[1:])) == 40).all()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not an image"),
        (b"not an image", "not an image"),
        (saved(Image.fromarray(RAMP))[:-30], "truncated or damaged"),
        (saved(Image.effect_noise((64, 64), 50), "JPEG")[:900], "truncated or damaged"),
        (b"\0" * 128 + b"DICM" + b"\0" * 100, "DICOM file.* export it as PNG"),
    ],
)
def test_what_is_no_whole_image_is_refused(data, message):
    with pytest.raises(InvalidInput, match=message):
        picture(data)


def test_an_image_that_would_fill_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 40)
    for side in (8, 100):  # a warning of the library, and an error
        with pytest.raises(InvalidInput, match="too large"):
            picture(saved(Image.new("L", (side, side))))
