// What the whole page uses: the report, numbers as words, elements, the kernel that is selected.
const R = JSON.parse(document.getElementById("report").textContent);

function element(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    made.append(child instanceof Node ? child : document.createTextNode(child));
  }
  return made;
}
const h = (tag, attributes, ...children) => element(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) =>
  element(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const put = (id, ...children) => document.getElementById(id).append(...children.flat(Infinity).filter(Boolean));

// Three digits, and no more than are there.
function digits(value) {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.max(0, Math.min(3, 2 - size)));
}
function scaled(value, units, step) {
  let at = 0;
  while (value >= step && at + 1 < units.length) { value /= step; at += 1; }
  return (at === 0 && Number.isInteger(value) ? String(value) : digits(value)) + " " + units[at];
}
const none = "–";
const known = value => value !== null && value !== undefined;
const bytes = value => known(value) ? scaled(value, ["B", "KiB", "MiB", "GiB", "TiB"], 1024) : none;
const count = value => known(value) ? value.toLocaleString("en-GB") : none;
const many = value => known(value) ? scaled(value, ["", "k", "M", "G", "T"], 1000).trim() : none;
function ms(value) {
  if (!known(value)) return none;
  if (value >= 1000) return digits(value / 1000) + " s";
  if (value >= 1 || value === 0) return digits(value) + " ms";
  return value >= 1e-3 ? digits(value * 1e3) + " µs" : digits(value * 1e6) + " ns";
}
const percent = value => known(value) && isFinite(value) ? digits(100 * value) + " %" : none;
const times = sizes => sizes.length ? sizes.join(" × ") : "1";
const shorter = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;

// A number on the page, with its name in the report and its exact value.
const figure = (name, value, text) => h("span", { "data-figure": name, "data-value": known(value) ? value : "", title: known(value) ? String(value) : null }, text);

// The best that is known of a kernel's time.
const timeOf = kernel => kernel.measured_ms ?? kernel.predicted_ms ?? kernel.floor_ms ?? 0;
const timeIs = R.measured ? "measured" : "predicted";
const allTime = R.kernels.reduce((sum, kernel) => sum + timeOf(kernel), 0);
const bytesOf = kernel => kernel.read_bytes + kernel.written_bytes;

// One colour for each memory, the shared one grey; what computes has its own.
const memories = [R.device.shared, ...R.device.memories.map(m => m.name).filter(name => name !== R.device.shared)];
const colour = name => {
  const at = memories.indexOf(name);
  return at < 0 ? "var(--compute)" : `var(--m${at % 7})`;
};
const swatch = name => h("span", { class: "swatch", style: `background:${colour(name)}` });
const isMemory = name => memories.includes(name);

// The kernel that all drawings and tables show as selected.
const listeners = [];
let selected = null;
function select(kernel, from) {
  selected = kernel;
  for (const listener of listeners) listener(kernel, from);
}

const shown = kernel => kernel.computes.map(one => `@${one.instruction}`).join(", ") || "code";
const firstTile = kernel => {
  const last = kernel.computes[kernel.computes.length - 1];
  return last && last.tiles.length ? last.tiles[0] : null;
};

// What passes said, each with its pass.
function remarkList(numbers) {
  const kind = text => /stays|refus|dropped|cannot|not above|stands apart|is done whole|is not split/.test(text) ? "refusal" : /rank [1-9]/.test(text) ? "" : "choice";
  return h("ul", { class: "remarks" }, numbers.map(number => {
    const remark = R.remarks[number];
    return h("li", { class: kind(remark.message) }, remark.message, h("span", { class: "pass" }, remark.pass, remark.times > 1 ? `, ${count(remark.times)} times` : ""));
  }));
}

// A table whose columns sort: `columns` have a name, a value to sort by, and what to show.
function sortable(caption, columns, rows, decorate) {
  const body = h("tbody");
  let order = null, falls = false;
  const heads = columns.map((column, number) => h("th", { scope: "col", class: column.n ? "n" : null },
    h("button", { type: "button", title: column.title, onclick: () => sort(number) }, column.name)));
  function fill() {
    const sorted = [...rows];
    if (order !== null) {
      const key = columns[order].key;
      const by = (a, b) => { const [x, y] = [key(a) ?? -Infinity, key(b) ?? -Infinity]; return x < y ? -1 : x > y ? 1 : 0; };
      sorted.sort((a, b) => falls ? by(b, a) : by(a, b));
    }
    body.replaceChildren(...sorted.map(row => {
      const cells = columns.map(column => h("td", { class: column.n ? "n" : column.what ? "what" : column.keep ? "keep" : null }, column.show(row)));
      return decorate(h("tr", { class: "row" }, cells), row);
    }));
  }
  function sort(number) {
    falls = order === number ? !falls : Boolean(columns[number].n);
    order = number;
    heads.forEach((head, other) => other === number
      ? head.setAttribute("aria-sort", falls ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    fill();
  }
  fill();
  return h("table", {}, h("caption", { class: "skip" }, caption), h("thead", {}, h("tr", {}, heads)), body);
}
