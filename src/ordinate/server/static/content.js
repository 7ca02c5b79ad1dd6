// Items as elements: pictures, videos, sounds, texts, links. A pair is made, and its pictures decoded, before it shows.

import { make } from "./dom.js";

// {id, left, right: side, ready: settles when the pair can be painted at once}
export function makePair(query) {
  const pair = { id: query.id, left: makeSide(query.left, "left"), right: makeSide(query.right, "right") };
  pair.ready = Promise.allSettled([...pair.left.loading, ...pair.right.loading]);
  return pair;
}

// {element, picture: the box an image is zoomed in, player: the sound or video, text: the box that scrolls}
function makeSide(item, name) {
  const side = { element: make("div", { class: "item" }), loading: [], words: "", picture: null, player: null, text: null };
  if (item.image_url) addImage(side, item, name);
  if (item.video_url) addPlayer(side, make("video", { src: item.video_url, controls: true, playsinline: true, preload: "auto" }), name);
  if (item.audio_url) addPlayer(side, make("audio", { src: item.audio_url, controls: true, preload: "auto" }), name);
  if (item.text != null) addText(side, item.text, name);
  if (item.link) addLink(side, item.link);
  // An id may give the answer away ("good-17"), so it is shown only where nothing else is.
  if (!side.element.hasChildNodes()) addText(side, item.id, name);
  return side;
}

function addImage(side, item, name) {
  const image = make("img", { alt: item.text ?? `The ${name} picture`, decoding: "async", draggable: "false" });
  const box = make("div", { class: "picture" }, image);
  side.picture = { box, image };
  side.element.append(box);
  side.words = "a picture";
  side.loading.push(load(image, item.image_url, box));
}

async function load(image, address, box) {
  image.src = address;
  try {
    await image.decode();
    // Drawings without a size of their own, and tiny pictures, fill the box as well.
    box.classList.toggle("tiny", image.naturalWidth < 200 && image.naturalHeight < 200);
  } catch {
    const again = make("button", { type: "button" }, "Load it again");
    const failure = make("div", { class: "failure" }, make("p", {}, "This picture did not load."), again);
    image.hidden = true;
    box.append(failure);
    again.addEventListener("click", () => {
      failure.remove();
      image.hidden = false;
      const retried = new URL(address, location.href);
      retried.searchParams.set("again", Date.now());
      load(image, retried.href, box);
    });
  }
}

function addPlayer(side, player, name) {
  player.setAttribute("aria-label", `The ${name} ${player.localName === "video" ? "video" : "sound"}`);
  player.addEventListener("error", () => {
    if (!player.nextElementSibling?.classList.contains("failure"))
      player.after(make("p", { class: "failure" }, "This does not play here. You can skip the pair and say so."));
  });
  side.player = player;
  side.words = side.words || (player.localName === "video" ? "a video" : "a sound");
  side.element.append(player);
}

function addText(side, text, name) {
  const words = make("div", { class: "words", dir: "auto" });
  words.textContent = text;
  side.text = make("div", { class: "text", tabindex: "0", role: "group", "aria-label": `The ${name} text` }, words);
  side.words = side.words || (text.length > 300 ? `${text.slice(0, 300)} …` : text);
  side.element.append(side.text);
}

function addLink(side, address) {
  if (!/^https?:\/\//i.test(address)) return;
  const attributes = { href: address, target: "_blank", rel: "noopener noreferrer", class: "outside" };
  side.words = side.words || "a link";
  side.element.append(make("a", attributes, "Open it in a new tab"));
}
