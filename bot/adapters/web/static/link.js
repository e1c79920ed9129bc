// The connection: enters, says what the page has, sends events until each is acknowledged, and comes back by itself.
// Law: an event keeps its id for good, so sending it again is harmless; it leaves the outbox only when it is answered.

import { ofTab, safely } from "./store.js";

const OUTBOX = "outbox";
const KEPT = 1_000_000; // characters of the outbox that survive a reload
const TRIES = 8;
const QUIET_MS = 20_000;
const DEAD_MS = 45_000;
const MOVED = 4008;
const TOO_BIG = 1009;

export function freshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Link {
  // `hear` has: state(name), welcome(tag) -> change, replies(frame), earlier(frame), acked(id), refused(id, html), forgotten(), failed(id)
  constructor(cap, hear) {
    this.cap = cap;
    this.hear = hear;
    this.socket = null;
    this.open = false;
    this.tries = 0;
    this.timer = 0;
    this.heard = 0;
    this.outbox = load();
    setInterval(() => this.#beat(), 5000);
    addEventListener("online", () => this.#hurry());
    addEventListener("offline", () => this.#cut());
    addEventListener("pageshow", () => this.#hurry());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#hurry());
  }

  send(event, id = freshId()) {
    let text = JSON.stringify({ t: "send", id, event });
    if (new Blob([text]).size > this.cap) text = JSON.stringify({ t: "too_large", id });
    this.outbox.push({ id, text, tries: 0 });
    this.#keep();
    if (this.open) this.#post(this.outbox.at(-1));
    return id;
  }

  tooLarge(id) {
    this.outbox.push({ id, text: JSON.stringify({ t: "too_large", id }), tries: 0 });
    if (this.open) this.#post(this.outbox.at(-1));
  }

  earlier(before) {
    if (this.open) this.socket.send(JSON.stringify({ t: "earlier", before }));
  }

  pending(id) {
    return this.outbox.some((entry) => entry.id === id);
  }

  async connect() {
    clearTimeout(this.timer);
    this.#drop();
    this.hear.state(this.tries ? "lost" : "joining");
    this.entering = true;
    try {
      await enter();
    } catch {
      this.entering = false;
      return this.#later();
    }
    this.entering = false;
    const address = new URL("/socket", location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    this.socket = socket;
    this.heard = Date.now();
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    socket.onclose = ({ code }) => this.#closed(code);
  }

  #receive(frame) {
    this.heard = Date.now();
    switch (frame.t) {
      case "welcome":
        this.tries = 0;
        this.socket.send(JSON.stringify({ t: "hello", since: this.hear.welcome(frame.tag) }));
        this.open = true;
        this.hear.state("open");
        for (const entry of [...this.outbox]) this.#post(entry);
        break;
      case "replies":
        this.hear.replies(frame);
        break;
      case "earlier":
        this.hear.earlier(frame);
        break;
      case "ack":
        this.#forget(frame.id);
        this.hear.acked(frame.id);
        break;
      case "forgotten":
        this.hear.forgotten();
        break;
      case "refused":
        this.#forget(frame.id);
        this.hear.refused(frame.id, frame.html);
        break;
    }
  }

  #post(entry) {
    entry.tries += 1;
    if (entry.tries > TRIES) {
      this.#forget(entry.id);
      this.hear.failed(entry.id);
    } else {
      this.socket.send(entry.text);
    }
  }

  #closed(code) {
    this.#drop();
    if (code === MOVED) return this.hear.state("moved");
    if (code === TOO_BIG) this.#shrink();
    this.#later();
  }

  // The server's cap was lower than this page believed: what was refused unread must not be sent for ever.
  #shrink() {
    const largest = this.outbox.reduce((one, other) => (other.text.length > one.text.length ? other : one), { text: "" });
    if (largest.id) largest.text = JSON.stringify({ t: "too_large", id: largest.id });
  }

  #later() {
    this.tries += 1;
    this.hear.state("lost");
    const wait = Math.min(15_000, 400 * 2 ** Math.min(this.tries, 6)) * (0.5 + Math.random() / 2);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), wait);
  }

  #drop() {
    this.open = false;
    if (!this.socket) return;
    this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
    this.socket = null;
  }

  #beat() {
    if (!this.open) return;
    const silent = Date.now() - this.heard;
    if (silent > DEAD_MS) {
      this.#drop();
      this.#later();
    } else if (silent > QUIET_MS) {
      this.socket.send(JSON.stringify({ t: "ping" }));
    }
  }

  // The device says that its network is gone: said at once, and tried anew, for a server on this machine is still there.
  #cut() {
    if (!this.open) return;
    this.#drop();
    this.#later();
  }

  #hurry() {
    if (this.open) this.socket.send(JSON.stringify({ t: "ping" }));
    else if (this.tries && !this.entering && !this.socket) this.connect();
  }

  #forget(id) {
    this.outbox = this.outbox.filter((entry) => entry.id !== id);
    this.#keep();
  }

  #keep() {
    const text = JSON.stringify(this.outbox.map(({ id, text }) => ({ id, text })));
    if (text.length <= KEPT) ofTab.set(OUTBOX, text);
  }
}

function load() {
  const kept = safely(() => JSON.parse(ofTab.get(OUTBOX) ?? "[]")) ?? [];
  return kept.map((entry) => ({ ...entry, tries: 0 }));
}

// One tab at a time, so that two tabs of a new learner do not each become another learner.
async function enter() {
  const ask = async () => {
    const answer = await fetch("/enter", { method: "POST", signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(String(answer.status));
  };
  return navigator.locks ? navigator.locks.request("tasree-enter", ask) : ask();
}
