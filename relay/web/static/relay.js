// Keeps an open page fresh. The page is complete without this file: the server renders everything, and this only
// fetches the same page again and swaps the fragments marked `data-live`. It builds no HTML from data.
"use strict";

(() => {
  const REFRESH_MS = 700; // at most one fetch in this time, however many events come
  const AGES_MS = 30000;
  const CLOCK_MS = 5000; // elapsed time and a worker's progress change without an event
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
  let growing = false;

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
      if (next && grid?.section === now && grid.renew(next)) continue;
      // Copy buttons are ours: compare and swap without them.
      for (const button of now.querySelectorAll("button[data-ours]")) button.remove();
      if (next) swap(now, document.adoptNode(next));
      addCopyButtons(document.getElementById(now.id));
    }
    document.title = title;
    if (grid && !grid.section.isConnected) {
      grid.stop();
      grid = null;
    }
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

  // The grid of commits grows where it is read. What that takes is fetched when somebody scrolls in it, or comes back.
  async function growGrid(section, kept) {
    if (grid || growing) return;
    growing = true;
    try {
      const { Grid } = await import("./grid.js");
      if (section.isConnected && section.querySelector("table")) grid = new Grid(section, { updateAges, connected });
      if (kept) await grid?.restore(kept);
    } catch {
      connected(false); // the links between windows are still there
    } finally {
      growing = false;
    }
  }

  function scrolled({ target }) {
    const section = target.closest?.("[data-grid]");
    if (section) growGrid(section);
  }

  function keepPlace() {
    if (grid) history.replaceState({ grid: grid.place }, "");
  }

  // j and k walk over runs and tests; Enter is the browser's own on links and summaries. One key alone is also hit by
  // chance, or by a voice that is heard as keys: who does not want them turns them off, for this browser.
  const KEYS = "relay-keys";
  let keysOff = false;

  function showKeys() {
    const note = document.getElementById("keys");
    const button = note?.querySelector("button");
    if (!button) return;
    button.textContent = keysOff ? button.dataset.on : button.dataset.off;
    note.hidden = false;
  }

  function turnKeys() {
    keysOff = !keysOff;
    try {
      if (keysOff) localStorage.setItem(KEYS, "off");
      else localStorage.removeItem(KEYS);
    } catch {
      // A browser that keeps nothing: off for this page.
    }
    showKeys();
  }

  function recallKeys() {
    try {
      keysOff = localStorage.getItem(KEYS) === "off";
    } catch {
      // As above.
    }
    document.querySelector("#keys button")?.addEventListener("click", turnKeys);
    showKeys();
  }

  function walk(event) {
    if (keysOff) return;
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
  recallKeys();
  updateAges();
  setInterval(() => updateAges(), AGES_MS);
  document.addEventListener("keydown", walk);
  document.addEventListener("scroll", scrolled, { capture: true, passive: true });
  window.addEventListener("pagehide", keepPlace);
  const gridSection = document.querySelector("[data-grid]");
  if (gridSection && history.state?.grid) growGrid(gridSection, history.state.grid);
  if (main.dataset.events) {
    announce();
    document.addEventListener("visibilitychange", watched);
    if (!document.hidden) listen();
  }
  if (main.dataset.poll) setInterval(() => document.hidden || soon(), Number(main.dataset.poll) * 1000);
})();
