// The conversation on the page: puts the server's fragments in place, keeps focus, follows only who reads the end.
// Law: fragments come from this server alone; whatever a learner wrote is put in as text, never as HTML.

import { bubble } from "./mine.js";

const NEAR = 90; // pixels from the end that still count as the end
const SPOKEN = 400;
const BY_HAND_MS = 1500; // a scroll this soon after a hand moved is the learner's, not ours

export class Log {
  constructor(mine) {
    this.mine = mine;
    this.change = 0;
    this.more = false;
    this.follows = true;
    this.byHand = 0;
    this.anchor = null; // the first reply since the learner acted: its beginning stays in sight
    this.scroll = document.getElementById("scroll");
    this.list = document.getElementById("log");
    this.pill = document.getElementById("pill");
    this.before = document.getElementById("earlier");
    this.spoken = document.getElementById("spoken");
    this.tools = document.getElementById("code-tools");
    this.scroll.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    for (const name of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      this.scroll.addEventListener(name, () => (this.byHand = Date.now()), { passive: true });
    }
    this.pill.addEventListener("click", () => {
      this.toEnd();
      document.getElementById("line").focus({ preventScroll: true });
    });
    new ResizeObserver(() => this.follows && !this.anchor && this.#toBottom()).observe(this.scroll);
  }

  clear() {
    this.list.replaceChildren();
    this.change = 0;
    this.more = false;
    this.anchor = null;
  }

  apply({ items, change, more }) {
    const first = this.change === 0;
    let added = null;
    for (const item of items) {
      const article = this.#place(item);
      if (!article) continue;
      if (!first) this.#speak(article);
      added = article;
      if (!this.anchor && this.follows && !first) this.anchor = article;
    }
    this.change = Math.max(this.change, change);
    if (more !== undefined) this.#hasMore(more);
    this.placeMine();
    if (first) this.#toBottom();
    else if (added) this.#follow(added);
  }

  earlier({ items, more }) {
    const height = this.scroll.scrollHeight;
    for (const item of items) this.#place(item, true);
    this.#hasMore(more);
    this.placeMine();
    this.scroll.scrollTop += this.scroll.scrollHeight - height;
    this.before.hidden || this.before.focus({ preventScroll: true });
  }

  firstNumber() {
    return Number(this.list.querySelector("article")?.dataset.number ?? 0);
  }

  lastNumber() {
    return Number([...this.list.querySelectorAll("article")].at(-1)?.dataset.number ?? 0);
  }

  // Own bubbles stand before the first reply that came after them; those of replies not loaded wait for them.
  placeMine() {
    const first = this.firstNumber();
    const articles = [...this.list.querySelectorAll("article")];
    for (const entry of this.mine.entries) {
      if (entry.kind === "press") {
        this.#press(document.getElementById(`r${entry.after}`), entry.payload);
      } else if (!document.getElementById(`m${entry.id}`) && !(this.more && entry.after < first)) {
        const next = articles.find((article) => Number(article.dataset.number) > entry.after);
        const element = bubble(entry, this.mine.state(entry.id));
        this.#enhance(element);
        this.list.insertBefore(element, next ?? null);
      }
    }
  }

  acted() {
    this.follows = true;
    this.byHand = 0;
    this.anchor = null;
  }

  toEnd() {
    this.acted();
    this.#toBottom();
  }

  refused(html) {
    const note = document.getElementById("mine-refused").content.firstElementChild.cloneNode(true);
    note.innerHTML = html;
    this.list.append(note);
    this.#follow(note);
  }

  #place({ number, change, html }, old = false) {
    const template = document.createElement("template");
    template.innerHTML = html;
    const article = template.content.firstElementChild;
    this.#enhance(article);
    const here = document.getElementById(`r${number}`);
    if (here) {
      if (Number(here.dataset.change) >= change) return null;
      this.#replace(here, article);
      return article;
    }
    if (!old && this.more && number < this.firstNumber()) return null;
    const articles = [...this.list.querySelectorAll("article")];
    const next = articles.find((one) => Number(one.dataset.number) > number);
    this.list.insertBefore(article, next ?? null);
    return article;
  }

  #replace(here, article) {
    const active = here.contains(document.activeElement) ? document.activeElement : null;
    const press = active?.dataset.press;
    here.replaceWith(article);
    if (this.anchor === here) this.anchor = article;
    if (!active) return;
    const same = [...article.querySelectorAll("[data-press]")].find((button) => button.dataset.press === press);
    (same ?? article).focus({ preventScroll: true });
  }

  #enhance(element) {
    for (const caption of element.querySelectorAll(".code > figcaption")) {
      const tools = this.tools.content.cloneNode(true);
      const language = caption.parentElement.dataset.language;
      if (language !== "python") tools.querySelector('[data-tool="edit"]').remove();
      caption.append(tools);
    }
  }

  #press(article, payload) {
    for (const button of article?.querySelectorAll("[data-press]") ?? []) {
      if (button.dataset.press === payload) button.classList.add("pressed");
    }
  }

  // A run's ticking is not read aloud; its result is.
  #speak(article) {
    if (article.querySelector(".steps .now")) return;
    const prose = [...article.querySelectorAll("h2, p, li, caption")].filter((one) => !one.closest(".choices, pre"));
    this.spoken.textContent = prose.map((one) => one.textContent).join(" ").slice(0, SPOKEN);
  }

  #hasMore(more) {
    this.more = more;
    this.before.hidden = !more;
  }

  #atEnd() {
    return this.scroll.scrollHeight - this.scroll.scrollTop - this.scroll.clientHeight < NEAR;
  }

  #scrolled() {
    if (this.#atEnd()) {
      this.pill.hidden = true;
      this.follows = true;
    } else if (Date.now() - this.byHand < BY_HAND_MS) {
      this.follows = false;
      this.anchor = null;
    }
  }

  #follow(added) {
    if (this.follows) {
      const end = this.scroll.scrollHeight - this.scroll.clientHeight;
      const start = this.anchor?.isConnected ? this.#top(this.anchor) - 14 : end;
      this.#to(Math.max(this.scroll.scrollTop, Math.min(end, start)));
    }
    const below = this.#top(added) > this.scroll.scrollTop + this.scroll.clientHeight;
    if (below) this.pill.hidden = false;
  }

  #top(element) {
    return element.getBoundingClientRect().top - this.scroll.getBoundingClientRect().top + this.scroll.scrollTop;
  }

  #toBottom() {
    this.#to(this.scroll.scrollHeight);
    this.pill.hidden = true;
  }

  #to(top) {
    this.scroll.scrollTop = top;
  }
}
