/* Steps through a run: lights the step in the diagram, the text and the source, and shows the state after it. Position k is
   the state after k steps. All text is set as text, never as HTML. */
"use strict";
(function () {
  const view = JSON.parse(document.getElementById("rondo-view").textContent);
  const trace = JSON.parse(document.getElementById("rondo-trace").textContent);
  const last = view.steps.length;
  const byId = (id) => document.getElementById(id);
  const hooked = Array.from(document.querySelectorAll("#diagram [data-step]"), (element) => ({
    element,
    steps: element.dataset.step.split(" ").map(Number),
  }));
  const parts = Array.from(document.querySelectorAll(".part[data-first]"), (element) => ({
    element,
    first: Number(element.dataset.first),
    last: Number(element.dataset.last),
  }));
  let position = -1;

  /* --- states --- */

  function copy(state) {
    return {
      globals: new Map(state.globals),
      locals: state.locals.map((local) => ({ status: local.status, values: new Map(local.values) })),
    };
  }

  const start = {
    globals: new Map(view.start.globals),
    locals: view.start.locals.map((local) => ({ status: local.status, values: new Map(local.values) })),
  };

  function apply(state, step) {
    for (const [process, name, text] of step.changes)
      (process === null ? state.globals : state.locals[process].values).set(name, text);
    for (const [process, status] of step.statuses)
      state.locals[process].status = status;
  }

  function stateAt(k) {
    const state = copy(start);
    for (let i = 0; i < k; i++)
      apply(state, view.steps[i]);
    return state;
  }

  /* --- tables --- */

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined)
      made.textContent = text;
    if (className)
      made.className = className;
    return made;
  }

  function cell(now, before) {
    const made = element("td", now);
    if (now !== undefined && before !== undefined && before !== now) {
      made.className = "changed";
      made.title = "was " + before;
    }
    return made;
  }

  function headRow(names) {
    const head = element("thead"), row = element("tr");
    for (const name of names) {
      const th = element("th", name);
      th.scope = "col";
      row.append(th);
    }
    head.append(row);
    return head;
  }

  function bodyRow(name, cells) {
    const row = element("tr"), th = element("th", name);
    th.scope = "row";
    row.append(th, ...cells);
    return row;
  }

  function roleTable(role, members, now, before) {
    const names = [];
    for (const p of members)
      for (const name of now.locals[p].values.keys())
        if (!names.includes(name))
          names.push(name);
    const hasStatus = members.some((p) => now.locals[p].status.length > 0);
    const table = element("table"), body = element("tbody");
    const short = (p) => view.processes[p].name.startsWith(role) ? view.processes[p].name.slice(role.length) || role : view.processes[p].name;
    table.append(headRow([role, ...members.map(short)]));
    if (hasStatus)
      body.append(bodyRow("status", members.map((p) => cell(now.locals[p].status.join(", "), before.locals[p].status.join(", ")))));
    for (const name of names)
      body.append(bodyRow(name, members.map((p) => cell(now.locals[p].values.get(name), before.locals[p].values.get(name)))));
    table.append(body);
    return table;
  }

  function globalTable(now, before) {
    const table = element("table"), body = element("tbody");
    for (const [name, text] of now.globals)
      body.append(bodyRow(name, [cell(text, before.globals.get(name))]));
    table.append(body);
    return table;
  }

  function showState(k) {
    const now = stateAt(k), before = k > 0 ? stateAt(k - 1) : now;
    const tables = [];
    if (now.globals.size > 0)
      tables.push(globalTable(now, before));
    for (const role of new Set(view.processes.map((process) => process.role))) {
      const members = [];
      view.processes.forEach((process, p) => process.role === role && members.push(p));
      tables.push(roleTable(role, members, now, before));
    }
    byId("tables").replaceChildren(...tables);
  }

  /* --- the step --- */

  function showDiagram(k) {
    let band = null;
    for (const { element: shape, steps } of hooked) {
      const lit = k > 0 && steps.includes(k);
      shape.classList.toggle("lit", lit);
      shape.classList.toggle("future", steps.every((step) => step > k));
      if (lit && shape.tagName === "rect" && /band|strip/.test(shape.getAttribute("class")))
        band = shape;
    }
    const frame = byId("diagram");
    if (!band) {
      frame.scrollLeft = k === 0 ? 0 : frame.scrollLeft;
      return;
    }
    const left = band.x.baseVal.value, right = left + band.width.baseVal.value;
    if (left < frame.scrollLeft || right > frame.scrollLeft + frame.clientWidth)
      frame.scrollLeft = Math.max(0, left - frame.clientWidth / 3);
  }

  function showText(k) {
    for (const part of parts)
      part.element.classList.toggle("lit", part.first <= k && k <= part.last);
    byId("run").classList.toggle("one", !byId("all").checked);
  }

  /* What was sent and changed at each line, as the explorer shows it: equal values of several processes together. */
  function valuesAt(k) {
    const entry = k > 0 && !("order" in trace) ? (trace.steps || trace.rounds)[k - 1] : null, lines = new Map();
    const add = (line, text, who) => {
      const here = lines.get(line) || new Map();
      lines.set(line, here.set(text, [...(here.get(text) || []), ...(who ? [who] : [])]));
    };
    for (const sent of (entry && entry.sent) || [])
      add(sent.line, sent.text, sent.from);
    for (const change of (entry && entry.changes) || [])
      add(change.line, change.text, change.process);
    const group = (who) => (who.length > 3 ? who.length + " processes" : who.join(", "));
    return new Map([...lines].map(([line, here]) => [line, [...here].map(([text, who]) => (who.length ? group(who) + ": " + text : text)).join(" \u00b7 ")]));
  }

  function showSource(k) {
    const lines = k > 0 ? view.steps[k - 1].lines : [], source = byId("source"), values = valuesAt(k);
    for (const lit of source.querySelectorAll(".lit"))
      lit.classList.remove("lit");
    for (const old of source.querySelectorAll(".values"))
      old.remove();
    let first = null;
    for (const line of [...lines].sort((a, b) => a - b)) {
      const item = byId("line-" + line);
      if (!item)
        continue;
      item.classList.add("lit");
      if (values.get(line))
        item.append(element("span", values.get(line), "values"));
      first = first || item;
    }
    if (first)
      source.scrollTop = first.offsetTop - source.offsetTop - Math.min(source.clientHeight, window.innerHeight / 2) / 3;
  }

  function describe(k) {
    if (k === 0)
      return "start, 0 of " + last;
    const step = view.steps[k - 1];
    let text = step.title + " (" + k + " of " + last + ")";
    if (view.loop !== null && k > view.loop)
      text += ", in the loop";
    return text;
  }

  function go(k) {
    k = Math.min(Math.max(k, 0), last);
    if (k === position)
      return;
    position = k;
    byId("position").value = String(k);
    byId("position").setAttribute("aria-valuetext", describe(k));
    byId("where").textContent = describe(k);
    byId("first").disabled = byId("previous").disabled = k === 0;
    byId("last").disabled = k === last;
    byId("next").disabled = k === last && !loops;
    showDiagram(k);
    showText(k);
    showSource(k);
    showState(k);
    history.replaceState(null, "", "#" + k);
  }

  /* The end of a lasso is the state in which its loop begins. */
  const loops = view.loop !== null && view.loop < last;
  const next = () => go(position === last && loops ? view.loop + 1 : position + 1);
  const previous = () => go(position - 1);

  /* --- names of the lines: a copy that stays at the left edge --- */

  function pinNames() {
    const svg = document.querySelector("#diagram svg");
    const names = svg ? Array.from(svg.querySelectorAll("text[text-anchor=end]:not([data-step])")) : [];
    if (!names.length)
      return;
    const make = (name) => document.createElementNS("http://www.w3.org/2000/svg", name), group = make("g"), paper = make("rect");
    const right = Math.max(...names.map((name) => Number(name.getAttribute("x")))) + 6;
    for (const [key, value] of Object.entries({ class: "paper", x: 0, y: 0, width: right, height: svg.viewBox.baseVal.height }))
      paper.setAttribute(key, String(value));
    group.setAttribute("class", "pinned");
    group.setAttribute("aria-hidden", "true");
    group.append(paper, ...names.map((name) => name.cloneNode(true)));
    svg.append(group);
    const frame = byId("diagram");
    frame.onscroll = () => {
      group.setAttribute("transform", "translate(" + frame.scrollLeft + " 0)");
      group.classList.toggle("moved", frame.scrollLeft > 4);
    };
  }

  /* --- controls --- */

  byId("first").onclick = () => go(0);
  byId("previous").onclick = previous;
  byId("next").onclick = next;
  byId("last").onclick = () => go(last);
  byId("position").max = String(last);
  byId("position").oninput = (event) => go(Number(event.target.value));
  byId("all").onchange = () => showText(position);
  byId("diagram").onclick = (event) => {
    const shape = event.target.closest("[data-step]");
    if (shape)
      go(Math.max(...shape.dataset.step.split(" ").map(Number)));
  };
  document.addEventListener("keydown", (event) => {
    const moves = { ArrowRight: next, ArrowLeft: previous, Home: () => go(0), End: () => go(last) };
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !moves[event.key] || event.target.id === "position")
      return;
    event.preventDefault();
    moves[event.key]();
  });
  window.addEventListener("hashchange", () => go(asked()));

  function asked() {
    return /^#\d{1,9}$/.test(location.hash) ? Number(location.hash.slice(1)) : last;
  }

  for (const id of ["controls", "state", "all-label"])
    byId(id).hidden = false;
  pinNames();
  go(asked());
})();
