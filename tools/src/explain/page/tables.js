// Summary, joining, kernels, patterns, machine, remarks: what is read rather than looked at.
function drawLead() {
  const S = R.summary, waits = new Map();
  for (const kernel of R.kernels) waits.set(kernel.bound, (waits.get(kernel.bound) || 0) + timeOf(kernel));
  const [most, time] = [...waits].sort((a, b) => b[1] - a[1])[0] || [];
  const share = allTime > 0 && most ? `; ${percent(time / allTime)} of their ${timeIs} time is in kernels that wait for @${most}` : "";
  put("lead", h("b", {}, `${count(S.kernels)} kernels`), ` pass ${bytes(S.argument_bytes)} through @${R.device.shared} in `,
    h("b", {}, ms(S.measured_ms ?? S.predicted_ms)), ` (${R.measured ? "measured" : "predicted"})${share}.`);
}

function drawSummary() {
  const S = R.summary;
  const tile = (name, value, below) => h("div", {}, h("dt", {}, name), h("dd", {}, value, h("small", {}, below)));
  put("summary-tiles",
    tile("Kernels", figure("summary.kernels", S.kernels, count(S.kernels)),
      [figure("summary.distinct_kernels", S.distinct_kernels, count(S.distinct_kernels)), " different ones"]),
    tile("Ranges of rTasks", figure("summary.ranges", S.ranges, count(S.ranges)),
      ["on ", figure("summary.units", S.units, count(S.units)), ` virtual units`]),
    tile(`Through @${R.device.shared}`, figure("summary.argument_bytes", S.argument_bytes, bytes(S.argument_bytes)), "arguments of all kernels"),
    tile("Operations", figure("summary.operations", S.operations, many(S.operations)), "a multiply-add is two"),
    tile("Arena", figure("summary.arena_bytes", S.arena_bytes, bytes(S.arena_bytes)),
      [figure("summary.live_bytes", S.live_bytes, bytes(S.live_bytes)), " of use at once"]),
    tile("Constants", figure("summary.constant_bytes", S.constant_bytes, bytes(S.constant_bytes)),
      [figure("summary.constants", S.constants, count(S.constants)), " kernels ran for them beforehand"]),
    tile("Predicted time", figure("summary.predicted_ms", S.predicted_ms, ms(S.predicted_ms)),
      ["at least ", figure("summary.floor_ms", S.floor_ms, ms(S.floor_ms))]),
    tile("Measured time", figure("summary.measured_ms", S.measured_ms, ms(S.measured_ms)),
      R.measured ? `median of ${R.measured.runs} on ${R.measured.threads} threads` : "not run: --run measures"));
}

// Kernels in their order, each as wide as its time.
function drawStrip() {
  if (!allTime) return;
  const cut = allTime / 400;
  const parts = R.kernels.map((kernel, number) => {
    const time = timeOf(kernel);
    const label = `${kernel.op}, ${ms(time)}, ${percent(time / allTime)}`;
    return h("button", { type: "button", tabindex: time > cut * 8 ? null : -1, title: label, "aria-label": label,
      style: `flex:${1000 * time / allTime} 1 0;background:${colour(kernel.bound)}`, onclick: () => select(number, "strip") },
      time > allTime / 24 ? h("span", {}, kernel.op) : "");
  });
  listeners.push(kernel => parts.forEach((part, number) => part.classList.toggle("on", number === kernel)));
  put("strip", h("h4", {}, `Where the ${timeIs} time goes, in the order of running`), h("div", { class: "strip" }, parts), boundLegend());
}

function boundLegend() {
  const names = [...new Set(R.kernels.map(kernel => kernel.bound).filter(Boolean))];
  names.sort((a, b) => memories.indexOf(a) - memories.indexOf(b));
  return h("div", { class: "legend" }, h("span", {}, "waits for"),
    names.map(name => h("span", {}, swatch(name), `@${name}`, isMemory(name) ? "" : " (computes)")));
}

function drawJoining() {
  if (!R.joinings.length) {
    put("joining-body", h("p", { class: "note" }, "The model was given as a tile-graph: its kernels are joined as they are, and there is nothing to hold beside it."));
    return;
  }
  const metrics = [
    ["Kernels", "kernels", count], [`Bytes through @${R.device.shared}`, "argument_bytes", bytes],
    ["Tensors between kernels", "intermediate_bytes", bytes], ["Arena", "arena_bytes", bytes], ["Patterns", "patterns", count], ["Patterns that joining made", "joined_patterns", count],
    ["Least time", "floor_ms", ms], ["Predicted time", "predicted_ms", ms],
    ...(R.measured ? [["Measured time", "measured_ms", ms]] : []),
  ];
  const first = R.joinings[0];
  const cell = (joining, name, text) => {
    const value = joining[name], most = Math.max(...R.joinings.map(one => one[name] || 0));
    const change = joining !== first && first[name] && known(value) ? value / first[name] - 1 : 0;
    const told = Math.abs(change) >= 5e-4 ? ` ${change > 0 ? "+" : "−"}${digits(100 * Math.abs(change))} %` : "";
    return h("td", {}, h("span", { class: "num" }, figure(`joining.${joining.name}.${name}`, value, text(value))), h("span", { class: "soft num" }, told),
      h("span", { class: joining.shown ? "bar" : "bar soft", style: `width:${most && known(value) ? Math.max(.5, 100 * value / most) : 0}%` }));
  };
  const heads = R.joinings.map(joining => h("th", { scope: "col", class: joining.shown ? "shown" : null }, h("b", {}, joining.name),
    joining.shown ? [" ", h("span", { class: "tag" }, "shown on this page")] : null, h("div", { class: "soft what" }, joining.what),
    joining.options.map(option => h("div", { class: "mono soft what" }, option))));
  const rows = metrics.map(([title, name, text]) => h("tr", {}, h("th", { scope: "row" }, title), R.joinings.map(joining => cell(joining, name, text))));
  put("joining-body",
    h("p", { class: "note" }, "The same model compiled three times. Changes are against none. ",
      R.joins_fully ? null : "This build has no pass that joins more than elementwise kernels, so full is base."),
    h("div", { class: "card scroll" }, h("table", { class: "joining" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), heads)), h("tbody", {}, rows))));
}

// Everything about one kernel.
function details(number) {
  const kernel = R.kernels[number];
  const fact = (name, value) => known(value) && value !== none ? [h("dt", {}, name), h("dd", {}, value)] : [];
  const units = [...new Set(kernel.ranges.map(range => range.unit))];
  const tiles = compute => [h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, `@${compute.instruction}`),
    compute.axes.map((axis, at) => h("th", { scope: "col", class: "n", title: axis.reduces ? "folded" : "parallel" }, `${axis.reduces ? "r" : "p"}${at}`)))),
    h("tbody", {}, h("tr", {}, h("th", { scope: "row", class: "soft" }, "extent"), compute.axes.map(axis => h("td", { class: "n" }, count(axis.extent)))),
      compute.tiles.map(tile => h("tr", {}, h("th", { scope: "row" }, swatch(tile.memory), `@${tile.memory}`), tile.sizes.map(size => h("td", { class: "n" }, count(size))))))),
    compute.because ? h("div", { class: "soft" }, compute.because) : null];
  return [
    h("dl", { class: "facts" },
      fact("kernel", h("code", {}, `@${kernel.kernel}`)),
      fact("leads to", [h("a", { href: `#tiles-${number}` }, "tiles"), ", ", kernel.computes.map(one => [h("a", { href: `#instruction-${one.instruction}` }, `@${one.instruction}`), ", "]),
        h("a", { href: `#tasks-${number}` }, "tasks"), kernel.listing === null ? null : [", ", h("a", { href: `#code-${kernel.kernel}` }, `${count(R.listings[kernel.listing].lines)} lines of code`)]]),
      fact("rTasks", `${count(kernel.tasks)} in ${count(kernel.ranges.length)} range${kernel.ranges.length === 1 ? "" : "s"} on unit${units.length === 1 ? "" : "s"} ${units.slice(0, 8).join(", ")}${units.length > 8 ? " …" : ""}`),
      fact("operations", count(kernel.operations)),
      fact("reads, writes", `${bytes(kernel.read_bytes)}, ${bytes(kernel.written_bytes)}`),
      fact("per byte", known(kernel.intensity) ? `${digits(kernel.intensity)} operations` : null),
      fact("waits for", kernel.bound ? [swatch(kernel.bound), `@${kernel.bound}`] : null),
      fact("least time", ms(kernel.floor_ms)), fact("predicted", ms(kernel.predicted_ms)), fact("measured", ms(kernel.measured_ms))),
    kernel.predicted ? [h("h4", {}, "Chosen"), h("div", {}, kernel.predicted.what, h("span", { class: "soft" }, ` · ${count(Math.round(kernel.predicted.cycles))} cycles`)),
      kernel.predicted.second ? h("div", { class: "soft" }, `next ${kernel.predicted.second} · ${count(Math.round(kernel.predicted.second_cycles))} cycles`) : null] : null,
    kernel.computes.length ? [h("h4", {}, "rTiles"), h("div", { class: "scroll" }, kernel.computes.map(tiles))] : null,
    kernel.remarks.length ? [h("h4", {}, "What passes said"), remarkList(kernel.remarks)] : null,
  ];
}

function drawKernels() {
  const number = new Map(R.kernels.map((kernel, at) => [kernel, at]));
  const time = name => ({ n: true, name: { floor_ms: "Least", predicted_ms: "Predicted", measured_ms: "Measured" }[name],
    key: kernel => kernel[name], show: kernel => figure(`kernel.${number.get(kernel)}.${name}`, kernel[name], ms(kernel[name])) });
  const columns = [
    { name: "#", n: true, key: kernel => number.get(kernel), show: kernel => h("a", { href: `#kernel-${number.get(kernel)}`, title: "tiles, tasks and code in plain text" }, number.get(kernel)) },
    { name: "Operators", what: true, key: kernel => kernel.op, show: kernel => [
      h("button", { type: "button", "aria-expanded": "false" }, kernel.op), h("div", { class: "mono" }, `@${kernel.kernel}`)] },
    { name: "By", key: shown, show: kernel => [shown(kernel), h("div", { class: "mono" }, firstTile(kernel) ? `${times(firstTile(kernel).sizes)} in @${firstTile(kernel).memory}` : "")] },
    { name: "rTasks", n: true, key: kernel => kernel.tasks, show: kernel => count(kernel.tasks) },
    { name: "Ranges", n: true, key: kernel => kernel.ranges.length, show: kernel => count(kernel.ranges.length) },
    { name: "Operations", n: true, key: kernel => kernel.operations, show: kernel => figure(`kernel.${number.get(kernel)}.operations`, kernel.operations, many(kernel.operations)) },
    { name: "Bytes", n: true, key: bytesOf, show: kernel => figure(`kernel.${number.get(kernel)}.bytes`, bytesOf(kernel), bytes(bytesOf(kernel))) },
    { name: "Per byte", n: true, title: "scalar operations per byte of the arguments", key: kernel => kernel.intensity, show: kernel => known(kernel.intensity) ? digits(kernel.intensity) : none },
    time("floor_ms"), time("predicted_ms"), ...(R.measured ? [time("measured_ms")] : []),
    { name: "Share", n: true, title: `of the ${timeIs} time of all kernels`, key: timeOf, show: kernel => [percent(timeOf(kernel) / allTime),
      h("span", { class: "bar", style: `width:${100 * timeOf(kernel) / Math.max(...R.kernels.map(timeOf))}%;background:${colour(kernel.bound)}` })] },
    { name: "Waits for", keep: true, key: kernel => kernel.bound, show: kernel => kernel.bound ? [swatch(kernel.bound), `@${kernel.bound}`] : none },
  ];
  const rows = new Map();
  let wanted = "";
  function toggle(row, kernel) {
    const open = row.nextElementSibling?.classList.contains("more");
    if (open) row.nextElementSibling.remove();
    else row.after(h("tr", { class: "more" }, h("td", { colspan: columns.length }, details(number.get(kernel)))));
    row.querySelector("td.what button").setAttribute("aria-expanded", String(!open));
  }
  const table = sortable("Kernels in the order of running", columns, R.kernels, (row, kernel) => {
    rows.set(number.get(kernel), row);
    row.classList.toggle("on", number.get(kernel) === selected);
    row.hidden = !matches(kernel);
    row.querySelector("td.what button").addEventListener("click", () => { toggle(row, kernel); select(number.get(kernel), "table"); });
    return row;
  });
  function matches(kernel) {
    return !wanted || [kernel.op, kernel.kernel, shown(kernel), kernel.bound || ""].join(" ").toLowerCase().includes(wanted);
  }
  const told = h("span", { class: "soft", "aria-live": "polite" }, `${count(R.kernels.length)} kernels`);
  const search = h("input", { type: "search", placeholder: "operator, kernel, instruction", "aria-label": "Find kernels", oninput: event => {
    wanted = event.target.value.trim().toLowerCase();
    let left = 0;
    R.kernels.forEach((kernel, at) => {
      const row = rows.get(at);
      row.hidden = !matches(kernel);
      if (row.nextElementSibling?.classList.contains("more")) row.nextElementSibling.hidden = row.hidden;
      left += row.hidden ? 0 : 1;
    });
    told.textContent = `${count(left)} of ${count(R.kernels.length)} kernels`;
  } });
  const scroll = h("div", { class: "card sticky", tabindex: "0", role: "region", "aria-label": "Kernels" }, table);
  listeners.push((kernel, from) => {
    rows.forEach((row, at) => row.classList.toggle("on", at === kernel));
    const row = rows.get(kernel);
    if (row && from !== "table") scroll.scrollTop = row.offsetTop - scroll.clientHeight / 3;
  });
  put("kernels-body", h("p", { class: "note" }, "In the order of running; a heading sorts, a name shows tiles, the runner-up and what passes said. Bytes are those of the arguments, each once."),
    h("div", { class: "tools" }, search, told), scroll);
}

function drawPatterns() {
  if (!R.patterns.length) {
    put("patterns-body", h("p", { class: "note" }, "Patterns are counted where ways to join are held side by side."));
    return;
  }
  const nest = one => h("div", {}, h("code", {}, one.axes || "·"), " ",
    Object.entries(one.operations).map(([name, times]) => (times > 1 ? `${times} ` : "") + name.replace(/^(arith|math)\./, "")).join(", ") || h("span", { class: "soft" }, "moves"));
  const telling = pattern => {
    const computing = pattern.nests.filter(one => Object.keys(one.operations).length);
    return computing.length ? computing : pattern.nests.slice(-1);
  };
  const ways = R.joinings.map(one => one.name);
  const at = new Map(R.patterns.map((pattern, number) => [pattern, number]));
  const columns = [
    { name: "Loop nests", key: pattern => JSON.stringify(telling(pattern)), show: pattern => telling(pattern).map(nest) },
    { name: "As in", key: pattern => pattern.example, show: pattern => pattern.example },
    { name: "", key: pattern => Number(pattern.joined), show: pattern => pattern.joined ? h("span", { class: "tag" }, "joined") : "" },
    ...ways.map(way => ({ name: way, n: true, key: pattern => pattern.counts[way], show: pattern => figure(`pattern.${at.get(pattern)}.${way}`, pattern.counts[way], count(pattern.counts[way])) })),
  ];
  const joined = R.joinings.map(one => `${one.name} ${one.patterns}${one.joined_patterns ? `, of them ${one.joined_patterns} joined` : ""}`);
  put("patterns-body", h("p", { class: "note" }, "Kernels that compute the same but for extents: for each loop nest the kinds of its axes (p parallel, r folded) and the operations of its body. ",
    `Patterns: ${joined.join("; ")}. Joined are those that no kernel is of without joining.`),
    h("div", { class: "card sticky", tabindex: "0", role: "region", "aria-label": "Patterns" }, sortable("Patterns by the number of their kernels", columns, R.patterns, row => row)));
}

function drawMachine() {
  const D = R.device;
  put("machine-body", h("p", { class: "note" }, `@${D.name} (${D.arch}): ${count(D.count)} × @${D.unit}`, D.clock_mhz ? ` at ${count(D.clock_mhz)} MHz` : "", ". Facts of the machine file; bandwidth is that of all units."),
    h("div", { class: "card scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Memory"), h("th", { scope: "col" }, "Shared by"),
      h("th", { scope: "col", class: "n" }, "Holds"), h("th", { scope: "col", class: "n" }, "Moves"))),
    h("tbody", {}, D.memories.map(memory => h("tr", {}, h("th", { scope: "row" }, swatch(memory.name), `@${memory.name}`, memory.caches ? h("span", { class: "soft" }, ` caches @${memory.caches}`) : ""),
      h("td", {}, memory.name === D.shared ? "all units" : memory.scope), h("td", { class: "n" }, bytes(memory.capacity_bytes)),
      h("td", { class: "n" }, known(memory.gbytes_per_second) ? `${digits(memory.gbytes_per_second)} GB/s` : none)))))));
}

function drawRemarks() {
  const told = new Set([...R.kernels, ...R.graph.edges].flatMap(one => one.remarks));
  const passes = new Map();
  R.remarks.forEach((remark, number) => {
    if (!told.has(number)) passes.set(remark.pass, [...(passes.get(remark.pass) || []), number]);
  });
  put("remarks-body", h("p", { class: "note" }, `Of ${count(R.remarks.length)} remarks these are on constants, on kernels that went into others later, and on operators.`),
    [...passes].map(([pass, numbers]) => {
      const fold = h("details", {}, h("summary", {}, `${pass}: ${count(numbers.length)}`));
      fold.addEventListener("toggle", () => fold.childElementCount < 2 && fold.append(remarkList(numbers)), { once: true });
      return fold;
    }));
}
