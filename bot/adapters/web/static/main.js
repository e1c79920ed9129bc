// The page's beginning: joins the connection, the conversation, the line and the code box.

import { Composer } from "./composer.js";
import { Editor } from "./editor.js";
import { Link, freshId } from "./link.js";
import { Log } from "./log.js";
import { Mine } from "./mine.js";

const cap = Number(document.body.dataset.cap);
const state = document.getElementById("state");
const waiting = document.getElementById("waiting");
const mine = new Mine(() => log.placeMine());
const log = new Log(mine);
const events = new Map(); // of this page: to be sent again when a learner asks for it
let tag = "";
let dots = 0;

const link = new Link(cap, {
  state(name) {
    state.dataset.state = name;
  },
  welcome(name) {
    if (name !== tag) {
      tag = name;
      mine.open(tag);
      log.clear();
    }
    return log.change;
  },
  replies(frame) {
    wait(false);
    log.apply(frame);
  },
  earlier(frame) {
    log.earlier(frame);
  },
  acked(id) {
    events.delete(id);
    mine.mark(id, "");
    if (!link.outbox.length) wait(false);
  },
  refused(id, html) {
    events.delete(id);
    mine.mark(id, "");
    wait(false);
    log.refused(html);
  },
  forgotten() {
    mine.forget();
  },
  failed(id) {
    mine.mark(id, "failed");
    wait(false);
  },
});

function send(event, entry) {
  const id = freshId();
  log.acted();
  show(id, entry);
  events.set(id, event);
  link.send(event, id);
  wait(true);
}

function show(id, entry) {
  mine.add({ id, after: log.lastNumber(), ...entry });
  if (entry.kind !== "press") mine.mark(id, "sending");
  log.placeMine();
  if (entry.kind !== "press") log.toEnd();
}

function wait(is) {
  clearTimeout(dots);
  if (!is) waiting.hidden = true;
  else dots = setTimeout(() => (waiting.hidden = false), 400);
}

function press(button) {
  const number = Number(button.closest("article")?.dataset.number ?? -1);
  send({ kind: "press", payload: button.dataset.press }, { kind: "press", after: number, payload: button.dataset.press });
}

async function upload(file) {
  const id = freshId();
  log.acted();
  show(id, { kind: "file", text: `${file.name} (${size(file.size)})` });
  wait(true);
  // In base64 four characters carry three bytes; what cannot pass is not even read.
  if ((file.size * 4) / 3 + 1000 > cap) return link.tooLarge(id);
  const event = { kind: "file", name: (file.name || "file").slice(0, 200), data: await base64(file) };
  events.set(id, event);
  link.send(event, id);
}

function base64(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => failed(reader.error);
    if (file.size) reader.readAsDataURL(file);
    else done("");
  });
}

function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1 << 20 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

async function copy(button) {
  const text = button.closest(".code").querySelector("pre").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area); // an address without TLS has no clipboard of its own
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus({ preventScroll: true });
  }
  button.classList.add("copied");
  setTimeout(() => button.classList.remove("copied"), 2000);
}

function tool(button) {
  const name = button.dataset.tool;
  if (name === "copy") copy(button);
  if (name === "edit") editor.load(button.closest(".code").querySelector("pre").textContent);
  if (name === "again") {
    const id = button.closest(".mine").id.slice(1);
    if (!events.has(id)) return;
    mine.mark(id, "sending");
    link.send(events.get(id), id);
  }
}

const whole = (text) => (text.toWellFormed ? text.toWellFormed() : text);
const editor = new Editor((source, measure) => {
  send({ kind: "code", source: whole(source), measure }, { kind: "code", name: "code.py", text: source });
}, upload);
new Composer((text) => send({ kind: "text", text: whole(text) }, { kind: "text", text }));

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-press], [data-tool]");
  if (button?.dataset.press) press(button);
  else if (button) tool(button);
});
document.getElementById("earlier").addEventListener("click", () => link.earlier(log.firstNumber()));
document.getElementById("rejoin").addEventListener("click", () => link.connect());
link.connect();
