// What the learner said, kept in this browser: the server's log holds only replies. Shared by the tabs of a browser.

import { ofBrowser, safely } from "./store.js";

const MOST = 300;
const SHOWN = 20_000;

export class Mine {
  constructor(changed) {
    this.key = "";
    this.entries = [];
    this.states = new Map();
    addEventListener("storage", ({ key }) => {
      if (key !== this.key) return;
      this.#load();
      changed();
    });
  }

  // A tag names the learner's chat; another one means that this browser is somebody else now.
  open(tag) {
    this.key = `mine:${tag}`;
    for (const key of ofBrowser.keys()) {
      if (key.startsWith("mine:") && key !== this.key) ofBrowser.remove(key);
    }
    this.#load();
  }

  // The learner had everything deleted: this browser keeps nothing of it either.
  forget() {
    this.entries = [];
    ofBrowser.remove(this.key);
  }

  add(entry) {
    const text = entry.text ?? "";
    const kept = text.length > SHOWN ? { ...entry, text: `${text.slice(0, SHOWN)}\n…` } : entry;
    this.entries = [...this.entries, kept].slice(-MOST);
    this.#save();
  }

  // The state of an event on its way; none means that it arrived.
  state(id) {
    return this.states.get(id) ?? "";
  }

  mark(id, state) {
    if (state) this.states.set(id, state);
    else this.states.delete(id);
    const element = document.getElementById(`m${id}`);
    if (element) element.dataset.state = state;
  }

  #load() {
    this.entries = safely(() => JSON.parse(ofBrowser.get(this.key) ?? "[]")) ?? [];
  }

  #save() {
    let kept = this.entries;
    while (kept.length && !ofBrowser.set(this.key, JSON.stringify(kept))) {
      kept = kept.slice(Math.ceil(kept.length / 2)); // full: the older half goes
    }
  }
}

export function bubble(entry, state) {
  const element = document.getElementById(`mine-${entry.kind}`).content.firstElementChild.cloneNode(true);
  element.id = `m${entry.id}`;
  element.dataset.state = state;
  element.append(document.getElementById("mine-state").content.cloneNode(true));
  if (entry.kind === "text") element.querySelector("p").textContent = entry.text;
  if (entry.kind === "file") element.querySelector("bdi").textContent = entry.text;
  if (entry.kind === "code") {
    const name = document.createElement("bdi");
    name.dir = "ltr";
    name.textContent = entry.name;
    element.querySelector(".title").append(name);
    element.querySelector("code").textContent = entry.text;
  }
  return element;
}
