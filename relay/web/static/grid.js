// A grid whose older lines are appended as the reader comes near its end, from the pages behind the link to them.
// Lines far from what is seen leave the document, so that a long grid is no burden. Columns of all windows are one set.
// It builds no HTML from data: it moves what the server made.
"use strict";

const NEAR = "1000px"; // lines are fetched, or taken out, this far from what is seen

export class Grid {
  // `page` is what the page's own script does: it writes ages, and tells whether the server answers.
  constructor(section, page) {
    this.page = page;
    this.section = section;
    this.table = section.querySelector("table");
    this.link = section.querySelector("[data-older] a[rel=next]");
    this.windows = new Map(); // the lines of each body, also while they are out of the document
    this.near = new IntersectionObserver((seen) => seen.forEach((entry) => this.scrolled(entry)), {
      root: this.table.parentElement,
      rootMargin: NEAR,
    });
    this.watch(this.table.tBodies[0]);
    if (this.link) this.near.observe(this.link.closest("nav"));
  }

  stop() {
    this.near.disconnect();
  }

  // How much was read, and where, for who comes back.
  get place() {
    return { windows: this.windows.size, top: this.table.parentElement.scrollTop };
  }

  async restore({ windows, top }) {
    for (let had = 0; this.windows.size < windows && this.windows.size > had; ) {
      had = this.windows.size;
      await this.older();
    }
    this.table.parentElement.scrollTop = top;
  }

  watch(body) {
    this.windows.set(body, [...body.rows]);
    this.near.observe(body);
  }

  scrolled({ target, isIntersecting }) {
    if (!this.windows.has(target)) {
      if (isIntersecting) this.older();
    } else if (isIntersecting) {
      if (target.dataset.away) this.bring(target);
    } else if (!target.dataset.away && !target.contains(document.activeElement)) {
      const room = document.createElement("tr");
      room.append(document.createElement("td"));
      room.style.height = `${target.offsetHeight}px`;
      target.dataset.away = "1";
      target.replaceChildren(room);
    }
  }

  bring(body) {
    delete body.dataset.away;
    body.replaceChildren(...this.windows.get(body));
  }

  get lines() {
    return [...this.windows.values()].flat();
  }

  async older() {
    if (this.fetching || !this.link?.isConnected) return;
    this.fetching = true;
    try {
      const reply = await fetch(this.link.href, { cache: "no-store" });
      if (!reply.ok || !this.section.isConnected) return; // the link is still there
      const page = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector("[data-grid]");
      if (page.querySelector("table")) this.append(page);
      const next = page.querySelector("[data-older] a[rel=next]");
      if (next) this.link.href = next.href;
      else this.link.remove();
    } catch {
      this.page.connected(false);
    } finally {
      this.fetching = false;
    }
    const nav = this.link.closest("nav");
    if (!nav) return;
    this.near.unobserve(nav); // looked at anew: its window may not fill the screen
    this.near.observe(nav);
  }

  append(page) {
    const [body] = page.querySelector("table").tBodies;
    this.unite(page, [...body.rows]);
    this.table.append(document.adoptNode(body));
    this.page.updateAges(body);
    this.watch(body);
    this.count(page);
  }

  // The newest window as it is now. False where commits between it and what was read are missing.
  renew(fresh) {
    const table = fresh.querySelector("table");
    const known = new Map(this.lines.map((line) => [line.dataset.commit, line]));
    const lines = table ? [...table.tBodies[0].rows] : [];
    if (!lines.some((line) => known.has(line.dataset.commit))) return false;
    this.unite(fresh, lines);
    const [first] = this.windows.keys();
    const added = [];
    for (const line of lines) {
      this.page.updateAges(line);
      const shown = known.get(line.dataset.commit);
      if (!shown) added.push(line);
      else if (!shown.isEqualNode(line)) this.replace(shown, line);
    }
    this.windows.get(first).unshift(...added);
    if (added.length && !first.dataset.away) first.prepend(...added);
    this.count(fresh);
    return true;
  }

  replace(shown, line) {
    const held = [...shown.querySelectorAll("a")].indexOf(document.activeElement);
    for (const lines of this.windows.values()) {
      const at = lines.indexOf(shown);
      if (at >= 0) lines[at] = line;
    }
    shown.replaceWith(line);
    line.querySelectorAll("a")[held]?.focus({ preventScroll: true });
  }

  // Gives both grids the columns of either; the heads move into ours.
  unite(page, lines) {
    const other = page.querySelector("table");
    const heads = new Map();
    const [ours, theirs] = [this.table, other].map((table) => {
      const found = [...table.querySelectorAll("th[data-column]")];
      for (const head of found) if (!heads.has(head.dataset.column)) heads.set(head.dataset.column, head);
      return found.map((head) => head.dataset.column);
    });
    const all = [...heads.keys()].sort();
    spread(lines, theirs, all);
    if (all.length === ours.length) return;
    spread(this.lines, ours, all);
    const rows = [...this.table.tHead.rows];
    const first = rows[0].cells[0];
    const owners = [...this.table.tHead.querySelectorAll("[data-owner]"), ...other.tHead.querySelectorAll("[data-owner]")];
    const sorted = all.map((key) => heads.get(key));
    rows.at(-1).replaceChildren(...(rows.length > 1 ? sorted : [first, ...sorted]));
    if (rows.length > 1) rows[0].replaceChildren(first, ...spans(sorted, owners));
  }

  // How many cells show what, over all lines.
  count(page) {
    const legend = this.section.querySelector("[data-legend]");
    if (!legend) return;
    for (const item of page.querySelectorAll("[data-legend] [data-outcome]")) {
      if (![...legend.children].some((one) => one.dataset.outcome === item.dataset.outcome)) legend.append(item);
    }
    const counts = {};
    for (const line of this.lines) {
      for (const cell of line.querySelectorAll("[data-outcome]")) {
        counts[cell.dataset.outcome] = (counts[cell.dataset.outcome] ?? 0) + 1;
      }
    }
    for (const item of legend.children) {
      const count = (counts[item.dataset.outcome] ?? 0).toLocaleString("en").replaceAll(",", "\u202f");
      item.querySelector("[data-count]").textContent = count;
      item.hidden = !counts[item.dataset.outcome];
    }
  }
}

function spread(lines, from, to) {
  if (from.length === to.length) return;
  for (const line of lines) {
    const [head, ...cells] = line.cells;
    const of = new Map(from.map((key, place) => [key, cells[place]]));
    line.replaceChildren(head, ...to.map((key) => of.get(key) ?? document.createElement("td")));
  }
}

// The heads over several columns, each as wide as it has columns beside each other.
function spans(heads, owners) {
  const found = [];
  for (const head of heads) {
    if (found.at(-1)?.dataset.owner === head.dataset.of) found.at(-1).colSpan += 1;
    else {
      const owner = owners.find((one) => one.dataset.owner === head.dataset.of).cloneNode(true);
      owner.colSpan = 1;
      found.push(owner);
    }
    found.at(-1).scope = found.at(-1).colSpan > 1 ? "colgroup" : "col";
  }
  return found;
}
