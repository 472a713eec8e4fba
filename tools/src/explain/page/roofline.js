// Kernels against what the machine can do: operations a second over operations per byte.
function drawRoofline() {
  const { ceilings, slopes, elem } = R.roofline;
  const inside = R.kernels.map((kernel, number) => ({ kernel, number })).filter(({ kernel }) => kernel.operations > 0 && kernel.intensity > 0 && timeOf(kernel) > 0);
  const moving = R.kernels.length - R.kernels.filter(kernel => kernel.operations > 0).length;
  if (!inside.length || !slopes.length || !ceilings.length) {
    put("roofline-body", h("p", { class: "note" }, "The machine file does not say how fast its memories and instructions are, or no kernel computes."));
    return;
  }
  const rate = (kernel, time) => kernel.operations / (time * 1e6);
  const W = 1200, H = 500, left = 66, right = 22, head = 22, foot = 46;
  const top = Math.max(...ceilings.map(one => one.goperations_per_second));
  const rates = inside.flatMap(({ kernel }) => [kernel.predicted_ms, kernel.measured_ms].filter(time => time > 0).map(time => rate(kernel, time)));
  const power = (list, round) => 10 ** round(Math.log10(list));
  const [x0, x1] = [power(Math.min(.1, ...inside.map(({ kernel }) => kernel.intensity)), Math.floor), power(Math.max(100, ...inside.map(({ kernel }) => kernel.intensity)), Math.ceil)];
  const [y0, y1] = [power(Math.min(top / 100, ...rates), Math.floor), Math.max(top, ...rates) * 1.6];
  const at = (low, high, from, to) => value => from + (to - from) * (Math.log10(value) - Math.log10(low)) / (Math.log10(high) - Math.log10(low));
  const x = at(x0, x1, left, W - right), y = at(y0, y1, H - foot, head);
  const decades = (low, high) => { const list = []; for (let value = low; value <= high * 1.0001; value *= 10) list.push(value); return list; };
  const short = value => value >= 1 ? many(value) : String(+value.toPrecision(1));
  const grid = [
    decades(x0, x1).map(value => [s("line", { class: "axis", x1: x(value), x2: x(value), y1: head, y2: H - foot }), s("text", { class: "soft", x: x(value), y: H - foot + 17, "font-size": 11, "text-anchor": "middle" }, short(value))]),
    decades(y0, y1).map(value => [s("line", { class: "axis", x1: left, x2: W - right, y1: y(value), y2: y(value) }), s("text", { class: "soft", x: left - 8, y: y(value) + 4, "font-size": 11, "text-anchor": "end" }, short(value))]),
  ];
  const clip = "roofline-clip";
  const tilt = -Math.atan2(y(y0) - y(y0 * 10), x(x0 * 10) - x(x0)) * 180 / Math.PI;
  const roofs = slopes.map(slope => {
    const ridge = top / slope.gbytes_per_second, start = Math.max(x0, y0 / slope.gbytes_per_second);
    const label = start * 1.15;
    return [s("line", { "clip-path": `url(#${clip})`, class: "roof", style: `stroke:${colour(slope.memory)}`, x1: x(start), y1: y(start * slope.gbytes_per_second), x2: x(ridge), y2: y(top) }),
      s("text", { x: x(label), y: y(label * slope.gbytes_per_second) - 6, "font-size": 11, style: `fill:${colour(slope.memory)}`, transform: `rotate(${tilt} ${x(label)} ${y(label * slope.gbytes_per_second) - 6})` }, `@${slope.memory} ${digits(slope.gbytes_per_second)} GB/s`)];
  });
  const fastest = Math.max(...slopes.map(slope => slope.gbytes_per_second));
  const levels = new Map();
  for (const one of ceilings) {
    const name = `@${one.name}${one.units === R.device.count ? "" : ` on one @${R.device.unit}`}`;
    levels.set(one.goperations_per_second, [...(levels.get(one.goperations_per_second) || []), name]);
  }
  const tops = [...levels].map(([value]) => s("line", { class: value === top ? "roof" : "roof thin", x1: x(Math.max(x0, value / fastest)), x2: W - right, y1: y(value), y2: y(value) }));
  const names = [...levels].map(([value, names]) => s("text", { class: "soft halo", x: W - right, y: y(value) - 6, "font-size": 11, "text-anchor": "end" }, `${names.join(", ")}: ${many(value * 1e9)} operations a second`));
  const most = Math.max(...inside.map(({ kernel }) => timeOf(kernel)));
  const size = kernel => 3 + 11 * Math.sqrt(timeOf(kernel) / most);
  const point = ({ kernel, number }, time, hollow) => s("circle", { class: hollow ? "point hollow" : "point", cx: x(kernel.intensity), cy: y(rate(kernel, time)), r: hollow ? Math.max(3, size(kernel) * .7) : size(kernel),
    fill: colour(kernel.bound), "fill-opacity": .75, style: hollow ? `stroke:${colour(kernel.bound)}` : null, onclick: () => select(number, "roofline") },
    s("title", {}, `${kernel.op}: ${digits(kernel.intensity)} operations per byte, ${many(rate(kernel, time) * 1e9)} a second ${hollow ? "predicted" : timeIs}, ${ms(time)}; least time ${ms(kernel.floor_ms)}`));
  const drawn = [...inside].sort((a, b) => timeOf(b.kernel) - timeOf(a.kernel));
  const hollow = R.measured ? drawn.filter(({ kernel }) => kernel.predicted_ms > 0).map(one => point(one, one.kernel.predicted_ms, true)) : [];
  const solid = drawn.map(one => ({ number: one.number, circle: point(one, timeOf(one.kernel), false) }));
  listeners.push(kernel => solid.forEach(one => one.circle.classList.toggle("on", one.number === kernel)));
  put("roofline-body",
    h("p", { class: "note" }, R.measured ? "Filled points are measured, hollow ones predicted" : "Points are predicted times: nothing was run",
      `. Their area is the share of time. Ceilings are those of ${elem} on all units, by the machine file; bytes are those of arguments, so a kernel whose arguments lie in a cache may stand above the line of @${R.device.shared}.`,
      moving ? ` ${count(moving)} kernels only move or fill and have no place here.` : ""),
    boundLegend(),
    h("div", { class: "card pad scroll" }, s("svg", { viewBox: `0 0 ${W} ${H}`, width: "100%", style: "min-width:44rem;display:block", role: "img",
      "aria-label": `Roofline with ${count(inside.length)} kernels, ${timeIs}; the same figures stand in the table of kernels` },
      s("defs", {}, s("clipPath", { id: clip }, s("rect", { x: left, y: head, width: W - left - right, height: H - head - foot }))),
      grid, roofs, tops, hollow, solid.map(one => one.circle), names,
      s("text", { class: "soft", x: W - right, y: H - 10, "font-size": 11, "text-anchor": "end" }, "operations per byte of the arguments"),
      s("text", { class: "soft", x: 14, y: head + 4, "font-size": 11, transform: `rotate(-90 14 ${head + 4})`, "text-anchor": "end" }, "10⁹ operations a second"))));
}
