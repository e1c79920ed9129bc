// The code box: line numbers, Tab and indentation, a draft that survives a reload, files by button or drop.

import { ofTab } from "./store.js";

const DRAFT = "draft:code";
const OPEN = "box-open";
const NUMBERED = 20_000;

export class Editor {
  // `send(source, measure)` and `upload(file)` are called with what the learner sends.
  constructor(send, upload) {
    this.box = document.getElementById("box");
    this.code = document.getElementById("code");
    this.lines = document.getElementById("lines");
    this.toggle = document.getElementById("box-open");
    this.file = document.getElementById("file");
    this.send = send;
    this.upload = upload;
    this.leaving = false;
    this.code.value = ofTab.get(DRAFT) ?? "";
    this.#number();
    if (ofTab.get(OPEN) === "1") this.show(false);

    this.toggle.addEventListener("click", () => (this.box.hidden ? this.show() : this.hide()));
    on("box-close", () => this.hide());
    on("box-clear", () => this.load(""));
    on("box-run", () => this.#submit(false));
    on("box-time", () => this.#submit(true));
    on("box-upload", () => this.file.click());
    this.file.addEventListener("change", () => {
      for (const file of this.file.files) this.upload(file);
      this.file.value = "";
    });
    this.code.addEventListener("input", () => this.#changed());
    this.code.addEventListener("scroll", () => (this.lines.scrollTop = this.code.scrollTop));
    this.code.addEventListener("keydown", (event) => this.#key(event));
    this.code.addEventListener("blur", () => (this.leaving = false));
    this.#watchDrops();
  }

  show(focus = true) {
    this.box.hidden = false;
    this.toggle.setAttribute("aria-expanded", "true");
    ofTab.set(OPEN, "1");
    if (focus) this.code.focus();
  }

  hide() {
    this.box.hidden = true;
    this.toggle.setAttribute("aria-expanded", "false");
    ofTab.remove(OPEN);
    this.toggle.focus({ preventScroll: true });
  }

  load(source) {
    this.code.value = source;
    this.#changed();
    this.show();
    this.code.setSelectionRange(0, 0);
    this.code.scrollTop = 0;
  }

  #submit(measure) {
    if (!this.code.value.trim()) return this.code.focus();
    this.send(this.code.value, measure);
    if (matchMedia("(max-width: 30rem)").matches) this.hide();
  }

  #changed() {
    this.#number();
    ofTab.set(DRAFT, this.code.value);
  }

  #number() {
    const count = Math.min(this.code.value.split("\n").length, NUMBERED);
    if (count === this.counted) return;
    this.counted = count;
    this.lines.textContent = Array.from({ length: count }, (_, i) => i + 1).join("\n");
    this.lines.scrollTop = this.code.scrollTop;
  }

  #key(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#submit(event.shiftKey);
    } else if (event.key === "Escape") {
      this.leaving = true; // the next Tab moves on, so that the box is no trap for the keyboard
      return;
    } else if (event.key === "Tab" && !this.leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      this.#indent(event.shiftKey);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      const line = this.#line();
      const deeper = /:\s*(#.*)?$/.test(line.before) ? 4 : 0;
      this.#insert(`\n${/^ */.exec(line.before)[0]}${" ".repeat(deeper)}`);
    }
    this.leaving = false;
  }

  #line() {
    const { value, selectionStart } = this.code;
    const start = value.lastIndexOf("\n", selectionStart - 1) + 1;
    return { start, before: value.slice(start, selectionStart) };
  }

  #indent(back) {
    const { value, selectionStart, selectionEnd } = this.code;
    if (selectionStart === selectionEnd && !back) {
      return this.#insert(" ".repeat(4 - (this.#line().before.length % 4)));
    }
    const { start } = this.#line();
    const end = selectionEnd > selectionStart && value[selectionEnd - 1] === "\n" ? selectionEnd - 1 : selectionEnd;
    const block = value.slice(start, end);
    const moved = back ? block.replace(/^ {1,4}/gm, "") : block.replace(/^(?=.)/gm, "    ");
    this.code.setSelectionRange(start, end);
    this.#insert(moved);
    if (selectionStart !== selectionEnd) this.code.setSelectionRange(start, start + moved.length);
  }

  // `insertText` is the only insertion that the browser can undo.
  #insert(text) {
    if (text && document.execCommand("insertText", false, text)) return;
    this.code.setRangeText(text, this.code.selectionStart, this.code.selectionEnd, "end");
    this.#changed();
  }

  #watchDrops() {
    const veil = document.getElementById("drop");
    const carries = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragover", (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      veil.hidden = false;
    });
    addEventListener("dragleave", (event) => event.relatedTarget === null && (veil.hidden = true));
    addEventListener("drop", (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      veil.hidden = true;
      for (const file of event.dataTransfer.files) this.upload(file);
    });
  }
}

function on(id, work) {
  document.getElementById(id).addEventListener("click", work);
}
