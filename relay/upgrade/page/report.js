"use strict";
// Filters the findings. Without it the page shows all of them, and the form stays hidden.
(() => {
  const form = document.getElementById("filter");
  const words = document.getElementById("words");
  const change = document.getElementById("change");
  const shown = document.getElementById("shown");
  const rows = [...document.querySelectorAll(".finding")].map((row) => {
    const cause = row.closest("details.cause");
    const title = cause ? cause.querySelector("summary").textContent : "";
    return { row, cause, text: `${title} ${row.textContent}`.toLowerCase() };
  });
  const causes = [...new Set(rows.map((it) => it.cause).filter(Boolean))];
  let waiting = 0;

  function apply() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kind = change.value;
    const some = new Set();
    let count = 0;
    for (const { row, cause, text } of rows) {
      const fits = wanted.every((word) => text.includes(word)) && (!kind || row.dataset.change === kind);
      row.hidden = !fits;
      if (fits) {
        count += 1;
        some.add(cause);
      }
    }
    const narrowed = wanted.length > 0 || kind !== "";
    for (const cause of causes) {
      cause.hidden = !some.has(cause);
      if (narrowed && some.size <= 12) cause.open = some.has(cause);
    }
    shown.textContent = narrowed ? `${count} of ${rows.length} shown` : "";
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  });
  form.hidden = false;
})();
