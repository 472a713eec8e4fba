// Buffers as boxes: from the first kernel that touches one to the last, at its place in the arena.
function drawArena() {
  const made = R.arenas.filter(arena => arena.buffers.length);
  if (!made.length) { put("arena-body", h("p", { class: "note" }, "Nothing lies in an arena: kernels hand their results to the caller at once.")); return; }
  put("arena-body", h("p", { class: "note" }, "Across: kernels in the order of running. Upwards: bytes of the arena. A box is a buffer, from the first kernel that touches it to the last; the line is what is of use at that time."));
  for (const arena of made) put("arena-body", oneArena(arena));
}

function oneArena(arena) {
  const W = 1200, H = 380, left = 74, right = 14, head = 12, foot = 44;
  const runs = R.kernels.length;
  const x = run => left + (W - left - right) * run / runs;
  const y = at => H - foot - (H - head - foot) * at / (arena.bytes || 1);
  const tints = [1, 2, 5, 3, 4, 6];
  const boxes = arena.buffers.map((buffer, number) => {
    const [x0, x1, y0, y1] = [x(buffer.first), x(buffer.last + 1), y(buffer.offset + buffer.bytes), y(buffer.offset)];
    const label = `${buffer.tensor}, ${bytes(buffer.bytes)} at ${bytes(buffer.offset)}: from ${R.kernels[buffer.first].op} to ${R.kernels[buffer.last].op}`;
    const fits = x1 - x0 > 7.2 * buffer.tensor.length && y1 - y0 > 24;
    return s("g", { onclick: () => select(buffer.first, "arena") }, s("title", {}, label),
      s("rect", { class: "buffer", x: x0, y: y0, width: Math.max(1, x1 - x0), height: Math.max(1, y1 - y0), rx: Math.min(3, (x1 - x0) / 4), fill: `var(--m${tints[number % 6]})`, "fill-opacity": .62 }),
      fits ? s("text", { x: (x0 + x1) / 2, y: (y0 + y1) / 2 + 4, "font-size": 11, class: "halo", "text-anchor": "middle" }, buffer.tensor) : null);
  });
  const change = new Array(runs + 1).fill(0);
  for (const buffer of arena.buffers) { change[buffer.first] += buffer.bytes; change[buffer.last + 1] -= buffer.bytes; }
  let now = 0, line = "";
  for (let run = 0; run < runs; run += 1) {
    now += change[run];
    line += `${run ? "L" : "M"}${x(run)},${y(now)}L${x(run + 1)},${y(now)}`;
  }
  const ticks = [0, .25, .5, .75, 1].map(part => [s("line", { class: "axis", x1: left, x2: W - right, y1: y(arena.bytes * part), y2: y(arena.bytes * part) }),
    s("text", { class: "soft", x: left - 8, y: y(arena.bytes * part) + 4, "font-size": 11, "text-anchor": "end" }, bytes(Math.round(arena.bytes * part)))]);
  const step = Math.max(1, Math.ceil(runs / 12));
  const marks = Array.from({ length: Math.ceil(runs / step) }, (_, at) => s("text", { class: "soft", x: x(at * step), y: H - 27, "font-size": 11 }, at * step));
  const cursor = s("rect", { y: head, height: H - head - foot, fill: "var(--accent)", "fill-opacity": .18, width: 0 });
  listeners.push(kernel => {
    cursor.setAttribute("x", x(kernel));
    cursor.setAttribute("width", Math.max(2, x(kernel + 1) - x(kernel)));
  });
  const label = `Arena in @${arena.memory}: ${bytes(arena.bytes)}, at most ${bytes(arena.live_bytes)} of use at once, ${count(arena.buffers.length)} buffers`;
  const table = h("details", {}, h("summary", {}, "Buffers as a table"));
  const columns = [
    { name: "Tensor", key: one => one.tensor, show: one => h("code", {}, one.tensor) },
    { name: "At", n: true, key: one => one.offset, show: one => count(one.offset) },
    { name: "Bytes", n: true, key: one => one.bytes, show: one => count(one.bytes) },
    { name: "From", key: one => one.first, show: one => `${one.first} ${R.kernels[one.first].op}` },
    { name: "To", key: one => one.last, show: one => `${one.last} ${R.kernels[one.last].op}` },
  ];
  table.addEventListener("toggle", () => table.childElementCount < 2 && table.append(h("div", { class: "card sticky" }, sortable("Buffers", columns, arena.buffers, row => row))), { once: true });
  return h("div", {},
    h("div", { class: "legend" }, h("span", {}, `@${arena.memory}: `, figure(`arena.${arena.memory}.bytes`, arena.bytes, bytes(arena.bytes)), ", at most ",
      figure(`arena.${arena.memory}.live_bytes`, arena.live_bytes, bytes(arena.live_bytes)), " of use at once, ",
      figure(`arena.${arena.memory}.buffers`, arena.buffers.length, count(arena.buffers.length)), " buffers")),
    h("div", { class: "card pad scroll" }, s("svg", { viewBox: `0 0 ${W} ${H}`, width: "100%", style: "min-width:44rem;display:block", role: "img", "aria-label": label },
      ticks, boxes, cursor, s("path", { class: "live", d: line }), marks,
      s("text", { class: "soft", x: W - right, y: H - 9, "font-size": 11, "text-anchor": "end" }, "kernels in the order of running"))), table);
}
