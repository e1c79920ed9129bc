// The line in which a learner writes: grows with the text, keeps its draft, sends with Enter where there is a keyboard.

import { ofTab } from "./store.js";

const DRAFT = "draft:line";

export class Composer {
  constructor(send) {
    this.line = document.getElementById("line");
    this.form = document.getElementById("composer");
    this.keyboard = matchMedia("(pointer: fine)");
    this.line.value = ofTab.get(DRAFT) ?? "";
    this.line.enterKeyHint = this.keyboard.matches ? "send" : "enter";
    this.#grow();
    this.line.addEventListener("input", () => this.#changed());
    this.line.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || !this.keyboard.matches) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.line.value;
      if (!text.trim()) return;
      send(text);
      this.line.value = "";
      this.#changed();
      this.line.focus({ preventScroll: true });
    });
    addEventListener("resize", () => this.#grow());
  }

  #changed() {
    ofTab.set(DRAFT, this.line.value);
    this.#grow();
  }

  #grow() {
    this.line.style.height = "auto";
    this.line.style.height = `${this.line.scrollHeight + 2}px`;
  }
}
