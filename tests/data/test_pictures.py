"""Every kind of image becomes the upright RGB picture that a person would see; what is none is refused."""

import io

import numpy as np
import pytest
from PIL import Image, ImageCms

from ordinate.data.media import HEAD, media_type
from ordinate.data.pictures import WebVersion, picture, web_version
from ordinate.errors import InvalidInput, MissingExtra

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
    with pytest.raises(InvalidInput, match="no numbers"):
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


@pytest.mark.parametrize(
    ("mode", "none", "grey"),
    [("RGBA", (0, 0, 0, 0), (10, 10, 10, 255)), ("LA", (0, 0), (10, 255)), ("PA", (0, 0), (1, 255))],
)
def test_what_is_transparent_lies_on_white(mode, none, grey):
    clear = Image.new(mode, (4, 4), none)
    if mode == "PA":
        clear.putpalette([0, 0, 0, 10, 10, 10])
    clear.putpixel((1, 2), grey)
    shown = pixels(saved(clear, "TIFF" if mode == "PA" else "PNG"))
    assert (shown[0, 0] == 255).all()
    assert (shown[2, 1] == 10).all()


def test_the_first_picture_of_several():
    frames = [Image.new("L", (4, 4), value) for value in (40, 200)]
    assert (pixels(saved(frames[0], "GIF", save_all=True, append_images=frames[1:])) == 40).all()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is no image"),
        (b"not an image", "it is no image"),
        (saved(Image.fromarray(RAMP))[:-30], "cut short or damaged"),
        (saved(Image.effect_noise((64, 64), 50), "JPEG")[:900], "cut short or damaged"),
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


class TestWebVersions:
    def version(self, image: Image.Image, kind: str, **options: object) -> tuple[WebVersion, np.ndarray]:
        made = web_version(saved(image, kind, **options))
        assert made is not None
        assert media_type(made.data[:HEAD]) == {".jpg": "image/jpeg", ".png": "image/png"}[made.suffix]
        return made, np.asarray(Image.open(io.BytesIO(made.data)))

    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
    def test_what_browsers_show_needs_none(self, kind):
        assert web_version(saved(Image.fromarray(RAMP), kind)) is None

    def test_an_animation_that_browsers_play_stays(self):
        frames = [Image.new("L", (4, 4), value) for value in (40, 200)]
        assert web_version(saved(frames[0], "GIF", save_all=True, append_images=frames[1:])) is None

    def test_a_photograph_becomes_a_jpeg_close_to_it(self):
        photo = Image.merge("RGB", [Image.fromarray(RAMP), Image.fromarray(RAMP.T.copy()), Image.fromarray(RAMP)])
        made, shown = self.version(photo, "TIFF")
        assert (made.suffix, made.windowed, made.frames_left_out) == (".jpg", False, 0)
        assert np.abs(shown.astype(int) - np.asarray(photo)).max() <= 12

    def test_its_colours_keep_their_profile(self):
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        made, _ = self.version(Image.new("RGB", (8, 8), "red"), "TIFF", icc_profile=profile)
        assert Image.open(io.BytesIO(made.data)).info["icc_profile"] == profile

    @pytest.mark.parametrize("kind", ["PNG", "TIFF"])
    def test_greys_of_twelve_bits_fill_the_range(self, kind):
        made, shown = self.version(Image.fromarray(RAMP.astype(np.uint16) * 10 + 100), kind)
        assert (made.suffix, made.windowed) == (".png", True)
        assert (shown.shape, shown.min(), shown.max()) == ((8, 8), 0, 255)

    def test_a_marker_does_not_decide_how_dark_the_rest_is(self):
        deep = np.tile(np.arange(1000, 2000, dtype=np.uint16), (100, 1))
        deep[:5, :40] = 65535
        _, shown = self.version(Image.fromarray(deep), "PNG")
        assert [int(shown[50, column]) for column in (20, 500, 980)] == pytest.approx([2, 127, 253], abs=3)
        assert shown[0, 0] == 255

    def test_two_values_stay_two(self):
        deep = np.full((100, 100), 700, dtype=np.uint16)
        deep[0, 0] = 900
        _, shown = self.version(Image.fromarray(deep), "PNG")
        assert (shown[0, 0], shown[1, 1]) == (255, 0)

    def test_cmyk(self):
        made, shown = self.version(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG")
        assert (made.suffix, made.windowed) == (".jpg", False)
        assert shown[:, :, 0].min() > 240

    def test_greys_and_transparent_pictures_lose_nothing(self):
        assert (self.version(Image.fromarray(RAMP), "TIFF")[1] == RAMP[:, :, None]).all()
        made, shown = self.version(Image.new("RGBA", (4, 4), (0, 0, 0, 0)), "TIFF")
        assert (made.suffix, shown.min()) == (".png", 255)

    def test_the_first_page_of_several(self):
        pages = [Image.new("L", (4, 4), value) for value in (40, 200, 90)]
        made, shown = self.version(pages[0], "TIFF", save_all=True, append_images=pages[1:])
        assert (made.frames_left_out, shown.max()) == (2, 40)

    def test_heic(self):
        """With the package that reads it a picture; without it, the command that installs it."""
        try:
            import pillow_heif
        except ModuleNotFoundError:
            with pytest.raises(MissingExtra, match="python -m pip install pillow-heif"):
                web_version(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(60))
            return
        pillow_heif.register_heif_opener()
        made, shown = self.version(Image.new("RGB", (64, 64), (200, 30, 30)), "HEIF")
        assert made.suffix == ".jpg"
        assert np.abs(shown.astype(int) - (200, 30, 30)).max() < 12
