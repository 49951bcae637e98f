// Keeps an open page fresh. The page is complete without this file: the server renders everything, and this only
// fetches the same page again and swaps the fragments marked `data-live`. It builds no HTML from data.
"use strict";

(() => {
  const REFRESH_MS = 700; // at most one fetch in this time, however many events come
  const AGES_MS = 30000;
  const CLOCK_MS = 5000; // elapsed time and a worker's progress change without an event
  const NEAR = "1000px"; // lines are fetched, or taken out, this far from what is seen
  const LIVE = "[data-live][id]";
  const REFRESH = { accept: "text/html", "x-relay-refresh": "1" }; // many pages may ask: one answer does for all
  const main = document.querySelector("main");

  let due = null;
  let fetching = false;
  let again = false;
  let source = null;
  let clock = null;
  let last = ""; // the id of the last event, to go on from when the page is looked at again
  let opened = false;
  let grid = null;

  const keyed = (root) => root.querySelectorAll("details[data-key]");

  function rememberOpen(root) {
    return new Map([...keyed(root)].map((details) => [details.dataset.key, details.open]));
  }

  function swap(now, next) {
    if (now.isEqualNode(next)) return;
    const open = rememberOpen(now);
    const focused = now.contains(document.activeElement) ? focusPath(now) : null;
    now.replaceWith(next);
    for (const details of keyed(next)) {
      if (open.has(details.dataset.key)) details.open = open.get(details.dataset.key);
    }
    if (focused) next.querySelectorAll(focused.selector)[focused.index]?.focus({ preventScroll: true });
    addCopyButtons(next);
  }

  function focusPath(root) {
    const key = document.activeElement.closest("[data-key]")?.dataset.key;
    const selector = key ? `[data-key="${CSS.escape(key)}"] > summary` : document.activeElement.localName;
    return { selector, index: Math.max(0, [...root.querySelectorAll(selector)].indexOf(document.activeElement)) };
  }

  async function refresh() {
    if (fetching) {
      again = true;
      return;
    }
    fetching = true;
    try {
      const reply = await fetch(location.href, { cache: "no-store", headers: REFRESH });
      if (reply.ok) apply(new DOMParser().parseFromString(await reply.text(), "text/html"));
      connected(reply.ok);
    } catch {
      connected(false);
    } finally {
      fetching = false;
      if (again) {
        again = false;
        soon();
      }
    }
  }

  function apply(fresh) {
    const title = fresh.title; // the fragments leave `fresh` below
    for (const now of document.querySelectorAll(LIVE)) {
      const next = fresh.getElementById(now.id);
      if (next && "grid" in now.dataset && grid?.renew(next)) continue;
      // Copy buttons are ours: compare and swap without them.
      for (const button of now.querySelectorAll("button[data-ours]")) button.remove();
      if (next) swap(now, document.adoptNode(next));
      addCopyButtons(document.getElementById(now.id));
    }
    document.title = title;
    growGrid();
    announce();
    updateAges();
    if (!("stay" in main.dataset) && !document.querySelector("[data-unfinished]")) stopListening();
  }

  function soon() {
    due ??= setTimeout(() => {
      due = null;
      refresh();
    }, REFRESH_MS);
  }

  function connected(yes) {
    const note = document.getElementById("connection");
    if (note) note.hidden = yes;
  }

  // Screen readers hear of a new state or another tenth of the tests, not of every test.
  function announce() {
    const text = document.querySelector("[data-announcement]")?.dataset.announcement ?? "";
    const heard = document.getElementById("announce");
    if (heard && heard.textContent !== text) heard.textContent = text;
  }

  function heard(event) {
    last = event.lastEventId || last;
    soon();
  }

  // A page shows the state up to the event in its address, so nothing is missed before the stream is open.
  function listen() {
    const url = new URL(main.dataset.events, location.href);
    if (last) url.searchParams.set("after", last);
    source = new EventSource(url);
    clock ??= setInterval(() => {
      if (source && document.querySelector("[data-unfinished]")) soon();
    }, CLOCK_MS);
    source.onmessage = heard;
    source.addEventListener("resync", heard); // some events are lost: what the page shows is read anew either way
    source.onopen = () => {
      connected(true);
      if (opened) soon();
      opened = true;
    };
    source.onerror = () => {
      connected(false);
      soon();
    };
  }

  function stopListening() {
    pause();
    clearInterval(clock);
    main.removeAttribute("data-events");
  }

  function pause() {
    source?.close();
    source = null;
  }

  // A browser has few connections to one server: a page that nobody looks at gives its own back.
  function watched() {
    if (!main.dataset.events) return;
    if (document.hidden) pause();
    else if (!source) {
      listen();
      soon();
    }
  }

  function addCopyButtons(root) {
    if (!navigator.clipboard) return;
    for (const code of root.querySelectorAll("code[data-copy]")) {
      if (code.nextElementSibling?.matches("button[data-ours]")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.ours = "";
      button.className = "copy";
      button.textContent = "copy";
      button.setAttribute("aria-label", `Copy ${code.textContent}`);
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "copied";
      });
      code.after(button);
    }
  }

  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

  function updateAges(root = document) {
    for (const time of root.querySelectorAll("time[data-relative]")) {
      const seconds = (new Date(time.dateTime) - Date.now()) / 1000;
      const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS.at(-1);
      time.textContent = relative.format(Math.trunc(seconds / size), unit);
    }
  }

  // A grid whose older lines are appended as the reader comes near its end, from the pages behind the link to them.
  // Lines far from what is seen leave the document, so that a long grid is no burden. Columns of all windows are one set.
  class Grid {
    constructor(section) {
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
        connected(false);
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
      updateAges(body);
      this.watch(body);
      this.count(page);
    }

    // The newest window as it is now. False where there is nothing to keep, or where commits between are missing.
    renew(fresh) {
      const table = fresh.querySelector("table");
      const known = new Map(this.lines.map((line) => [line.dataset.commit, line]));
      const lines = table ? [...table.tBodies[0].rows] : [];
      if (this.windows.size < 2 || !lines.some((line) => known.has(line.dataset.commit))) return false;
      this.unite(fresh, lines);
      const [first] = this.windows.keys();
      const added = [];
      for (const line of lines) {
        updateAges(line);
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

  function growGrid() {
    const section = document.querySelector("[data-grid]");
    if (grid?.section.isConnected && grid.table.isConnected) return;
    grid?.near.disconnect();
    grid = section?.querySelector("table") ? new Grid(section) : null;
  }

  // j and k walk over runs and tests; Enter is the browser's own on links and summaries.
  function walk(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key !== "j" && event.key !== "k") return;
    const stops = [...document.querySelectorAll("a.headline, a.trunk-title, .test summary, details.group > summary")].filter(
      (stop) => stop.checkVisibility(),
    );
    const at = stops.indexOf(document.activeElement);
    const next = event.key === "j" ? at + 1 : Math.max(at, 1) - 1;
    stops[next]?.focus();
  }

  addCopyButtons(document);
  updateAges();
  growGrid();
  setInterval(() => updateAges(), AGES_MS);
  document.addEventListener("keydown", walk);
  if (main.dataset.events) {
    announce();
    document.addEventListener("visibilitychange", watched);
    if (!document.hidden) listen();
  }
  if (main.dataset.poll) setInterval(() => document.hidden || soon(), Number(main.dataset.poll) * 1000);
})();
