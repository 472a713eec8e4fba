// The tile-graph: layers from what is read first to what is given last, in a scrolled view with a map.
const NODE = { width: 244, height: 66, gap: 26, layer: 46, dummy: 16, port: 30 };

// Layers, an order within each, and a place for every node; long edges get places of their own.
function layout() {
  const items = R.graph.nodes.map((node, number) => ({ kind: "node", number, width: NODE.width, layer: 0 }));
  const links = [], inputs = new Map();
  R.graph.edges.forEach((edge, number) => {
    let from = edge.from, to = edge.to;
    if (from === null) {
      if (!inputs.has(edge.port)) inputs.set(edge.port, items.push({ kind: "port", name: edge.port, edge, width: 150, layer: 0, input: true }) - 1);
      from = inputs.get(edge.port);
    }
    if (to === null) to = items.push({ kind: "port", name: edge.port, edge, width: 150, layer: 0 }) - 1;
    links.push({ from, to, edge, number, through: [] });
  });
  // Nodes stand in an order in which they can run, so one round finds the longest ways.
  const outs = items.map(() => []);
  links.forEach(link => outs[link.from].push(link));
  const begins = items.map((item, at) => at).sort((a, b) => (items[b].input ? 1 : 0) - (items[a].input ? 1 : 0) || a - b);
  for (const at of begins) for (const link of outs[at]) items[link.to].layer = Math.max(items[link.to].layer, items[at].layer + 1);
  for (const at of begins) if (items[at].input || !links.some(link => link.to === at)) {
    const next = outs[at].map(link => items[link.to].layer);
    if (next.length) items[at].layer = Math.max(0, Math.min(...next) - 1);
  }
  // One chain of places for each source, as far as its farthest reader.
  let room = 6000;
  const ways = [];
  items.slice().forEach((item, at) => {
    const far = Math.max(item.layer, ...outs[at].map(link => items[link.to].layer));
    let last = at;
    const chain = new Map();
    for (let layer = item.layer + 1; layer < far && room > 0; layer += 1, room -= 1) {
      const place = items.push({ kind: "dummy", width: NODE.dummy, layer }) - 1;
      ways.push([last, place]);
      chain.set(layer, place);
      last = place;
    }
    for (const link of outs[at]) {
      for (let layer = item.layer + 1; layer < items[link.to].layer; layer += 1) if (chain.has(layer)) link.through.push(chain.get(layer));
      ways.push([link.through[link.through.length - 1] ?? at, link.to]);
    }
  });
  const layers = [];
  items.forEach((item, at) => (layers[item.layer] ||= []).push(at));
  const up = items.map(() => []), down = items.map(() => []);
  ways.forEach(([from, to]) => { down[from].push(to); up[to].push(from); });
  arrange(items, layers, up, down);
  return { items, links, layers };
}

// Sweeps that put every item near those it is tied to, without overlaps.
function arrange(items, layers, up, down) {
  layers.forEach(layer => layer.forEach((at, place) => { items[at].x = (place - (layer.length - 1) / 2) * 300; }));
  const mean = (list, fallback) => list.length ? list.reduce((sum, other) => sum + items[other].x, 0) / list.length : fallback;
  // Kernels are drawn to the middle a little, so that long chains of them do not wander off.
  const wish = (at, list) => (items[at].kind === "node" ? .94 : 1) * mean(list, items[at].x);
  for (let round = 0; round < 24; round += 1) {
    const falls = round % 2 === 0;
    for (const layer of falls ? layers : [...layers].reverse()) {
      for (const at of layer) items[at].wish = wish(at, falls ? up[at] : down[at]);
      if (round < 12) layer.sort((a, b) => items[a].wish - items[b].wish);
      spread(items, layer);
    }
  }
  for (const layer of layers) {
    for (const at of layer) items[at].wish = wish(at, [...up[at], ...down[at]]);
    spread(items, layer);
  }
  const left = Math.min(...items.map(item => item.x - item.width / 2));
  items.forEach(item => {
    item.x += 24 - left;
    item.y = 24 + item.layer * (NODE.height + NODE.layer);
  });
}

// Places as near to the wishes as an order and distances allow: blocks that would overlap move together.
function spread(items, layer) {
  const blocks = [];
  let before = 0;
  layer.forEach((at, place) => {
    if (place) before += (items[layer[place - 1]].width + items[at].width) / 2 + NODE.gap;
    items[at].before = before;
    blocks.push({ sum: items[at].wish - before, size: 1 });
    while (blocks.length > 1 && blocks[blocks.length - 2].sum / blocks[blocks.length - 2].size > blocks[blocks.length - 1].sum / blocks[blocks.length - 1].size) {
      const last = blocks.pop();
      blocks[blocks.length - 1].sum += last.sum;
      blocks[blocks.length - 1].size += last.size;
    }
  });
  let place = 0;
  for (const block of blocks) for (let n = 0; n < block.size; n += 1, place += 1) items[layer[place]].x = block.sum / block.size + items[layer[place]].before;
}

// What a group keeps near a unit, above its uppermost node.
function kept(group, items) {
  const first = items[group.nodes[0]];
  const told = group.layers.map(own => `${bytes(own.bytes)} in @${own.memory}, ${bytes(own.unmoved_bytes)} less through @${R.device.shared}`);
  return s("text", { class: "soft", x: first.x - NODE.width / 2, y: first.y - 14, "font-size": 10.5, style: "paint-order:stroke;stroke:var(--surface);stroke-width:4px" }, told.join("; "));
}

function drawLayers() {
  const rows = R.graph.layers.map(own => h("tr", {}, h("th", { scope: "row" }, swatch(own.memory), `@${own.memory}`),
    h("td", { class: "n" }, figure(`layers.${own.memory}.tensors`, own.tensors, count(own.tensors))),
    h("td", { class: "n" }, figure(`layers.${own.memory}.bytes`, own.bytes, bytes(own.bytes))),
    h("td", { class: "n" }, figure(`layers.${own.memory}.unmoved_bytes`, own.unmoved_bytes, bytes(own.unmoved_bytes)))));
  const heads = ["memory", "tensors", "bytes", `would pass @${R.device.shared} without it`];
  return h("div", { class: "card scroll" }, h("table", { class: "layers" }, h("thead", {}, h("tr", {}, heads.map(head => h("th", { scope: "col" }, head)))), h("tbody", {}, rows)));
}

function drawGraph() {
  const nodes = R.graph.nodes;
  if (!nodes.length) { put("graph-body", h("p", { class: "note" }, "No kernel runs: all results are constants.")); return; }
  const { items, links, layers } = layout();
  const width = Math.max(...items.map(item => item.x + item.width / 2)) + 24;
  const height = 24 + layers.length * (NODE.height + NODE.layer);
  const most = Math.max(...R.kernels.map(timeOf)) || 1;
  const tall = item => item.kind === "port" ? NODE.port : NODE.height;

  const top = item => item.kind === "port" && !item.input ? item.y : item.kind === "port" ? item.y + NODE.height - NODE.port : item.y;
  const edges = links.map(link => {
    const [from, to] = [items[link.from], items[link.to]];
    const stops = [[from.x, top(from) + tall(from)], ...link.through.map(at => [items[at].x, items[at].y + NODE.height / 2]), [to.x, top(to)]];
    let path = `M${stops[0]}`;
    for (let n = 1; n < stops.length; n += 1) {
      const [[x, y], [a, b]] = [stops[n - 1], stops[n]];
      path += `C${x},${(y + b) / 2} ${a},${(y + b) / 2} ${a},${b}`;
    }
    const edge = link.edge;
    const label = `${edge.tensor}, ${bytes(edge.bytes)}, in @${edge.memory}`;
    const line = s("path", { class: "edge", d: path, stroke: colour(edge.memory), "stroke-width": Math.max(1.2, Math.min(5, Math.log2(edge.bytes + 1) / 5)) });
    const hit = s("path", { class: "hit", d: path, onclick: () => showEdge(edge) }, s("title", {}, label));
    const near = edge.memory !== R.device.shared ? s("text", { x: (stops[0][0] + stops[1][0]) / 2 + 6, y: (stops[0][1] + stops[1][1]) / 2, "font-size": 11, style: `fill:${colour(edge.memory)}` }, `@${edge.memory}`) : null;
    return { edge, line, hit, near };
  });

  const boxes = items.slice(0, nodes.length).map(item => {
    const node = nodes[item.number], kernel = R.kernels[node.runs_in];
    const last = node.computes[node.computes.length - 1], tile = last && last.tiles[0];
    const [x, y] = [item.x - NODE.width / 2, item.y];
    const share = kernel ? timeOf(kernel) / most : 0;
    const by = last ? `@${last.instruction}` : "code";
    const size = tile ? `[${tile.sizes.join(", ")}] in @${tile.memory}` : "";
    const label = `${node.op}: ${by}, rTile ${size}, ${kernel ? ms(timeOf(kernel)) + " " + timeIs : ""}`;
    return s("g", { class: "node", tabindex: "-1", role: "button", "aria-label": label, "data-node": item.number },
      s("title", {}, label),
      s("rect", { class: "box", x, y, width: NODE.width, height: NODE.height, rx: 8 }),
      s("rect", { x, y: y + 8, width: 4, height: NODE.height - 16, rx: 2, fill: colour(kernel && kernel.bound) }),
      s("text", { x: x + 14, y: y + 20, "font-size": 13, "font-weight": 620 }, shorter(node.op, 19)),
      s("text", { class: "soft num", x: x + NODE.width - 10, y: y + 20, "font-size": 11, "text-anchor": "end" }, kernel ? ms(timeOf(kernel)) : ""),
      s("text", { class: "mono", x: x + 14, y: y + 37, "font-size": 10.5 }, shorter(`${by}${node.computes.length > 1 ? ` and ${node.computes.length - 1} more` : ""}`, 36)),
      s("text", { class: "mono", x: x + 14, y: y + 51, "font-size": 10.5 }, shorter(node.inside.length ? node.inside.map(own => `${bytes(own.bytes)} in @${own.memory}`).join(", ") : size, 36)),
      s("rect", { class: "track", x: x + 14, y: y + 57, width: NODE.width - 24, height: 3, rx: 1.5 }),
      s("rect", { x: x + 14, y: y + 57, width: Math.max(1, (NODE.width - 24) * share), height: 3, rx: 1.5, fill: colour(kernel && kernel.bound) }));
  });
  const ports = items.filter(item => item.kind === "port").map(item => s("g", { class: "port" }, s("title", {}, item.edge.tensor),
    s("rect", { x: item.x - 75, y: top(item), width: 150, height: NODE.port, rx: 15 }),
    s("text", { x: item.x, y: top(item) + 19, "font-size": 12, "text-anchor": "middle" }, shorter(item.name || "", 20))));
  const members = new Map();
  nodes.forEach((node, number) => members.set(node.group, [...(members.get(node.group) || []), number]));
  // What is one kernel lies on one ground: its nodes, and the edges between them.
  const groups = [...members.values()].filter(list => list.length > 1).map(list => s("g", { class: "group" }, s("title", {}, "one kernel"),
    list.map(number => s("rect", { x: items[number].x - NODE.width / 2 - 10, y: items[number].y - 10, width: NODE.width + 20, height: NODE.height + 20, rx: 14 })),
    edges.filter(({ edge }) => list.includes(edge.from) && list.includes(edge.to)).map(({ line }) => s("path", { d: line.getAttribute("d") }))));

  const drawing = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `Tile-graph of ${count(nodes.length)} kernels` },
    groups, edges.map(one => one.line), edges.map(one => one.hit), edges.map(one => one.near), R.graph.groups.map(group => kept(group, items)), ports, boxes);
  const view = h("div", { class: "view", tabindex: "-1" }, drawing);
  const frame = s("rect", { fill: "var(--accent)", "fill-opacity": .14, stroke: "var(--accent)", "stroke-width": 1, x: .5, width: 40 });
  const mapHeight = 640, dots = boxes.map((box, number) => {
    const kernel = R.kernels[nodes[number].runs_in], share = kernel ? timeOf(kernel) / most : 0;
    const tick = Math.max(1, Math.min(9, NODE.height * mapHeight / height));
    return s("rect", { x: 6, y: items[number].y * mapHeight / height, width: 4 + 24 * Math.sqrt(share), height: tick, fill: colour(kernel && kernel.bound), opacity: .85 });
  });
  const map = h("div", { class: "map", "aria-hidden": "true", title: "The whole graph: bars are time" },
    s("svg", { viewBox: `0 0 41 ${mapHeight}`, preserveAspectRatio: "none" }, dots, frame));

  let zoom = 1;
  function follow() {
    frame.setAttribute("y", Math.max(.5, mapHeight * view.scrollTop / (height * zoom)));
    frame.setAttribute("height", Math.min(mapHeight - 1, mapHeight * view.clientHeight / (height * zoom)));
  }
  function scale(next, keep = true) {
    const [x, y] = [(view.scrollLeft + view.clientWidth / 2) / zoom, (view.scrollTop + view.clientHeight / 2) / zoom];
    zoom = Math.max(.1, Math.min(3, next));
    drawing.setAttribute("width", width * zoom);
    drawing.setAttribute("height", height * zoom);
    if (keep) view.scrollTo(x * zoom - view.clientWidth / 2, y * zoom - view.clientHeight / 2);
    follow();
  }
  view.addEventListener("scroll", follow, { passive: true });
  view.addEventListener("wheel", event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    scale(zoom * (event.deltaY < 0 ? 1.12 : 1 / 1.12));
  }, { passive: false });
  const jump = event => {
    const place = map.getBoundingClientRect();
    view.scrollTop = (event.clientY - place.top) / place.height * height * zoom - view.clientHeight / 2;
  };
  map.addEventListener("pointerdown", event => { map.setPointerCapture(event.pointerId); jump(event); });
  map.addEventListener("pointermove", event => event.buttons && jump(event));

  // One stop for the tabulator; arrows go along edges and layers.
  let current = 0;
  function focus(number, from) {
    boxes[current].setAttribute("tabindex", "-1");
    current = number;
    boxes[number].setAttribute("tabindex", "0");
    if (from === "graph") boxes[number].focus({ preventScroll: true });
    const item = items[number];
    const [x, y] = [item.x * zoom, (item.y + NODE.height / 2) * zoom];
    if (x < view.scrollLeft + 60 || x > view.scrollLeft + view.clientWidth - 60) view.scrollLeft = x - view.clientWidth / 2;
    if (y < view.scrollTop + 60 || y > view.scrollTop + view.clientHeight - 60) view.scrollTop = y - view.clientHeight / 2;
  }
  const beside = (number, step) => {
    const row = layers[items[number].layer].filter(at => at < nodes.length).sort((a, b) => items[a].x - items[b].x);
    return row[row.indexOf(number) + step];
  };
  const along = (number, forth) => {
    const found = R.graph.edges.find(edge => forth ? edge.from === number && edge.to !== null : edge.to === number && edge.from !== null);
    return found && (forth ? found.to : found.from);
  };
  boxes.forEach((box, number) => {
    box.addEventListener("click", () => choose(number));
    box.addEventListener("keydown", event => {
      const next = { ArrowDown: () => along(number, true), ArrowUp: () => along(number, false), ArrowRight: () => beside(number, 1), ArrowLeft: () => beside(number, -1),
        Home: () => 0, End: () => nodes.length - 1, Enter: () => number, " ": () => number }[event.key];
      if (!next) return;
      event.preventDefault();
      const to = next();
      if (to !== undefined && to !== null) choose(to);
    });
  });
  boxes[0].setAttribute("tabindex", "0");

  const side = h("aside", { class: "card side", "aria-live": "polite", "aria-label": "What is selected", tabindex: "0" });
  function choose(number) {
    show(number);
    focus(number, "graph");
    select(nodes[number].runs_in, "graph");
  }
  const line = (edge, other) => {
    const name = other === null ? edge.port : nodes[other].op;
    return h("li", {}, swatch(edge.memory), other === null ? h("b", {}, name) : h("button", { type: "button", onclick: () => choose(other) }, name),
      h("div", { class: "soft" }, `${edge.tensor} · ${bytes(edge.bytes)} in @${edge.memory}; through @${R.device.shared} ${bytes(edge.shared_bytes)} written and read`),
      edge.remarks.length ? remarkList(edge.remarks) : null);
  };
  function show(number) {
    const node = nodes[number];
    const into = R.graph.edges.filter(edge => edge.to === number), out = R.graph.edges.filter(edge => edge.from === number);
    const mates = members.get(node.group).filter(other => other !== number);
    side.replaceChildren(h("h3", {}, node.op), ...[
      mates.length ? h("p", { class: "soft" }, "One kernel with ", mates.map(other => nodes[other].op).join(", ")) : null,
      details(node.runs_in), h("h4", {}, "Reads"), h("ul", { class: "edges" }, into.map(edge => line(edge, edge.from))),
      h("h4", {}, "Read by"), h("ul", { class: "edges" }, out.map(edge => line(edge, edge.to)))].flat(Infinity).filter(Boolean));
    side.scrollTop = 0;
    boxes.forEach((box, other) => box.classList.toggle("on", other === number));
    edges.forEach(one => one.line.classList.toggle("on", one.edge.from === number || one.edge.to === number));
  }
  function showEdge(edge) {
    const end = (number, other) => number === null ? other : nodes[number].op;
    side.replaceChildren(...[h("h3", {}, `${end(edge.from, edge.port)} → ${end(edge.to, edge.port)}`),
      h("dl", { class: "facts" }, h("dt", {}, "tensor"), h("dd", {}, edge.tensor), h("dt", {}, "bytes"), h("dd", {}, bytes(edge.bytes)),
        h("dt", {}, "memory"), h("dd", {}, swatch(edge.memory), `@${edge.memory}`),
        h("dt", {}, `through @${R.device.shared}`), h("dd", {}, `${bytes(edge.shared_bytes)} written and read`)),
      edge.remarks.length ? [h("h4", {}, "What passes said"), remarkList(edge.remarks)] : h("p", { class: "soft" }, "No pass said why.")].flat(Infinity));
    edges.forEach(one => one.line.classList.toggle("on", one.edge === edge));
  }
  listeners.push((kernel, from) => {
    if (from === "graph") return;
    const number = nodes.findIndex(node => node.runs_in === kernel);
    if (number >= 0) { show(number); focus(number, from); }
  });

  const used = [...new Set(R.graph.edges.map(edge => edge.memory))].sort((a, b) => memories.indexOf(a) - memories.indexOf(b));
  const carried = used.map(name => {
    const own = R.graph.edges.filter(edge => edge.memory === name);
    return h("span", {}, swatch(name), `in @${name}: `, figure(`edges.${name}`, own.length, count(own.length)), ` edge${own.length === 1 ? "" : "s"}, ${bytes(own.reduce((sum, edge) => sum + edge.bytes, 0))}`);
  });
  put("graph-body",
    h("p", { class: "note" }, "Kernels with their instruction and the rTask's rTile; the bar is the share of time, the stripe what they wait for. Lines are tensors, in the colour of the memory that carries them. Arrow keys walk along edges."),
    h("div", { class: "tools" }, h("button", { type: "button", "aria-label": "Larger", onclick: () => scale(zoom * 1.25) }, "+"),
      h("button", { type: "button", "aria-label": "Smaller", onclick: () => scale(zoom / 1.25) }, "−"),
      h("button", { type: "button", onclick: () => scale(1) }, "1:1"),
      h("button", { type: "button", onclick: () => scale(Math.min(1, (view.clientWidth - 4) / width)) }, "Fit width"),
      h("span", { class: "legend" }, carried)),
    h("div", { class: "graph" }, h("div", { class: "card canvas" }, view, map), side),
    h("h3", { class: "below" }, "What is handed over in which memory"), drawLayers());
  const fit = (view.clientWidth - 4) / width;
  scale(fit < 1 ? Math.max(.7, fit) : 1, false);
  if (width * zoom > view.clientWidth) view.scrollLeft = items[0].x * zoom - view.clientWidth / 2;
  else drawing.style.margin = "0 auto", drawing.style.display = "block";
  map.hidden = height * zoom < 1.3 * view.clientHeight;
  if (map.hidden) view.style.right = 0;
  show(0);
}
