// Units as rows, ranges of rTasks as boxes from start to end: as predicted, and as one run took.
function drawTimeline() {
  const all = R.kernels.flatMap((kernel, number) => kernel.ranges.map(range => ({ kernel, number, range })));
  const told = ["predicted_ms", "measured_ms"].filter(key => all.some(one => one.range[key]));
  if (!told.length) { put("timeline-body", h("p", { class: "note" }, "The machine file gives its units no clock: there is no time to draw.")); return; }
  put("timeline-body", h("p", { class: "note" }, "A row is a unit, a box the rTasks of one kernel that it does one after the other. Gaps are waits. Both drawings have the same scale."));
  const last = Math.max(...all.flatMap(one => told.map(key => one.range[key] ? one.range[key][1] : 0)));
  for (const key of told) put("timeline-body", oneTimeline(all.filter(one => one.range[key]), key, last));
}

function oneTimeline(all, key, last) {
  const ROWS = 48;
  const used = [...new Set(all.map(one => one.range.unit))].sort((a, b) => a - b);
  const units = used.slice(0, ROWS);
  const W = 1200, row = 20, left = 74, right = 14, head = 8, foot = 34, H = head + row * units.length + foot;
  const x = ms => left + (W - left - right) * ms / (last || 1);
  const tints = [1, 2, 5, 3, 4, 6];
  const shown = all.filter(one => one.range.unit <= units[units.length - 1]);
  const boxes = shown.map(({ kernel, number, range }) => {
    const [from, to] = range[key];
    const width = Math.max(.6, x(to) - x(from)), y = head + row * units.indexOf(range.unit) + 2;
    const label = `${kernel.op}: @${kernel.kernel}, rTasks ${range.begin} to ${range.end}, ${ms(from)} to ${ms(to)}`;
    const fits = width > 7.2 * kernel.op.length;
    return s("g", { onclick: () => select(number, "timeline") }, s("title", {}, label),
      s("rect", { class: "range", x: x(from), y, width, height: row - 4, fill: `var(--m${tints[number % 6]})`, "fill-opacity": .7, "data-kernel": number }),
      fits ? s("text", { x: x(from) + width / 2, y: y + 12, "font-size": 11, class: "halo", "text-anchor": "middle" }, kernel.op) : null);
  });
  const names = units.map((unit, at) => s("text", { class: "soft", x: left - 8, y: head + row * at + 14, "font-size": 11, "text-anchor": "end" }, unit < R.summary.units ? `unit ${unit}` : `cluster ${unit - R.summary.units}`));
  const ticks = [0, .25, .5, .75, 1].map(part => [s("line", { class: "axis", x1: x(last * part), x2: x(last * part), y1: head, y2: H - foot }),
    s("text", { class: "soft", x: x(last * part), y: H - foot + 16, "font-size": 11, "text-anchor": part === 1 ? "end" : "middle" }, ms(last * part))]);
  const picture = s("svg", { viewBox: `0 0 ${W} ${H}`, width: "100%", style: "min-width:44rem;display:block", role: "img", "aria-label": `${key === "predicted_ms" ? "Predicted" : "Measured"} schedule of ${count(all.length)} ranges on ${count(used.length)} units` }, ticks, boxes, names);
  listeners.push(kernel => {
    for (const box of picture.querySelectorAll("rect[data-kernel]")) box.setAttribute("stroke", box.dataset.kernel === String(kernel) ? "var(--accent)" : "none");
  });
  const end = Math.max(...all.map(one => one.range[key][1]));
  const busy = all.reduce((sum, one) => sum + one.range[key][1] - one.range[key][0], 0) / (end * used.length || 1);
  return h("div", {},
    h("div", { class: "legend" }, h("span", {}, `${key === "predicted_ms" ? "Predicted" : "Measured"}: ${ms(end)}, units busy ${Math.round(100 * busy)} % of it`,
      used.length > ROWS ? `, the first ${ROWS} of ${count(used.length)} units` : "")),
    h("div", { class: "card pad scroll" }, picture));
}
