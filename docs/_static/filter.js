// A box above the first filtered table: rows that do not hold all of its words are hidden, and so are headings left with none.
document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll(".filtered")];
  if (!tables.length) return;
  const rows = tables.flatMap((table) => [...table.querySelectorAll("tbody tr")]);
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const label = document.createElement("label");
  const box = document.createElement("input");
  const count = document.createElement("output");
  box.type = "search";
  box.placeholder = "FGL 3.3-55, inertia, newton_euler, E-K13 ...";
  label.className = "filter";
  label.append("Filter: ", box, count);
  (tables[0].closest("section") || tables[0]).before(label);
  const show = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
      shown += !row.hidden;
    });
    tables.forEach((table) => {
      const empty = !table.querySelector("tbody tr:not([hidden])");
      (table.closest("section") || table).hidden = empty;
    });
    count.textContent = ` ${shown} of ${rows.length}`;
  };
  box.addEventListener("input", show);
  show();
});
