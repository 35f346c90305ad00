// The page in Chromium: what a user does, by mouse and by keyboard. With --pictures it takes the pictures of docs/explore.md.
// usage: node tests/explore/browser.mjs RONDO CHROMIUM [--pictures] [NAME...]
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const { chromium } = await import(join(ROOT, "web/node_modules/playwright-core/index.mjs"));
const [rondo, executable, ...rest] = process.argv.slice(2);
const pictures = rest.includes("--pictures"), only = rest.filter((r) => !r.startsWith("--"));
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const MODELS = join(ROOT, "models"), HALF = join(MODELS, "broken/one_third_rule_half.rondo");
const running = new Set(); // servers
const tests = [], test = (name, f) => tests.push([name, f]);
const expect = (condition, what) => { if (!condition) throw new Error(typeof what === "string" ? what : JSON.stringify(what)); };

async function serve(...args) {
  const child = spawn(rondo, ["explore", ...args, "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => { child.stdout.once("data", (d) => resolve(String(d).trim())); child.once("exit", () => reject(new Error("rondo explore did not start"))); });
  const server = { url, stop: () => new Promise((r) => { running.delete(server); child.once("exit", r); child.kill("SIGINT"); }) };
  running.add(server);
  return server;
}

async function open(scheme, width, height) {
  const folder = mkdtempSync(join(tmpdir(), "rondo-chromium-"));
  const context = await chromium.launchPersistentContext(folder, { executablePath: executable, args: FLAGS, headless: true, colorScheme: scheme, viewport: { width, height }, acceptDownloads: true });
  return { context, close: async () => { await context.close(); rmSync(folder, { recursive: true, force: true }); } };
}

/** A page of the model; fails if the page complains, or asks another host. */
async function explore(browser, server, hash = "") {
  const page = await browser.context.newPage();
  page.complaints = [];
  page.on("console", (m) => m.type() === "error" && !/status of (404|409|422)/.test(m.text()) && page.complaints.push(m.text()));
  page.on("pageerror", (e) => page.complaints.push(e.message));
  page.on("request", (r) => !r.url().startsWith(server.url) && !/^(data|blob):/.test(r.url()) && page.complaints.push(`asks ${r.url()}`));
  await page.goto(server.url + hash);
  await page.waitForSelector("[data-ready=yes]");
  return page;
}
const settled = (page) => page.waitForFunction(() => document.querySelector(".canvas svg"));
const depth = (page) => page.locator(".tree li.now .number").innerText();
const violated = (page) => page.waitForSelector(".top .tag.bad");
async function at(page, k) { await page.waitForFunction((n) => document.querySelector(".tree li.now .number")?.textContent === String(n), k); }
async function start(page, text) { await page.selectOption("[aria-label='initial state']", { label: text }); await page.waitForFunction((t) => document.querySelector(".tree li.now")?.textContent.includes(t), text); await page.waitForSelector(".cell"); }
/** Makes the grid say who hears whom: a string for each process. */
async function hear(page, rows) {
  for (const [p, row] of rows.entries())
    for (const [q, on] of [...row].entries()) {
      const cell = page.locator(`[data-cell="${p},${q}"]`);
      if ((await cell.getAttribute("aria-pressed")) !== String(on === "1")) {
        await cell.click();
        await page.waitForFunction(([c, v]) => document.querySelector(`[data-cell="${c}"]`)?.getAttribute("aria-pressed") === v, [`${p},${q}`, String(on === "1")]);
      }
    }
}
async function takeRound(page) { const k = Number(await depth(page)); await page.click("text=Take this round"); await at(page, k + 1); }
const choose = async (page, pattern) => { const k = Number(await depth(page)); await page.locator(".take-choice", { hasText: pattern }).first().click(); await at(page, k + 1); };

test("find the violation of the half rule by hand", async (b) => {
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
  await start(page, "P(1) x = 1; P(2) x = 2; P(3) x = 2");
  await hear(page, ["110", "110", "111"]); // x = 1, 1, 2, and P(3) decides 2
  await takeRound(page);
  expect((await page.locator("td.changed").count()) >= 2, "the table marks what changed");
  await hear(page, ["111", "111", "101"]); // P(1) and P(2) decide 1
  await takeRound(page);
  await violated(page);
  expect(/agreement/.test(await page.locator(".top .tag.bad").innerText()), "agreement is violated");
  await settled(page);
  expect((await page.locator(".canvas path.lost").count()) > 0, "the diagram shows losses");
  return [s, page];
});

test("outcomes lead to a round, and to the violation", async (b) => {
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
  await start(page, "P(1) x = 1; P(2) x = 2; P(3) x = 3");
  await page.waitForSelector(".chip");
  const chip = page.locator(".outcome-row").nth(0).locator(".chip", { hasText: "x = 2" });
  await chip.click();
  await page.waitForSelector(".chip.picked");
  await page.waitForFunction(() => document.querySelector("td.after")?.textContent.includes("x = 2"));
  await takeRound(page);
  return [s, page];
});

test("follow ahead to a violation, and back", async (b) => {
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
  await start(page, "P(1) x = 1; P(2) x = 2; P(3) x = 3");
  await page.locator(".from-here button.ahead.bad", { hasText: "agreement fails" }).click({ timeout: 60000 });
  await violated(page);
  expect((await page.locator("td.witness").count()) >= 2, "witnesses are marked");
  expect((await page.locator(".tree li.bad").count()) >= 1, "the history marks it");
  const k = Number(await depth(page));
  for (let i = k; i > 0; i--) { await page.keyboard.press("ArrowLeft"); await at(page, i - 1); }
  for (let i = 0; i < k; i++) { await page.keyboard.press("ArrowRight"); await at(page, i + 1); }
  await violated(page);
  return [s, page];
});

test("crash a process in the middle of a broadcast", async (b) => {
  const s = await serve(join(MODELS, "floodset.rondo"), "-D", "n=3", "-D", "f=1", "-D", "k=2"), page = await explore(b, s);
  await page.waitForSelector(".cell");
  const crash = page.locator("[aria-label='P(1) crashes in this round']");
  await crash.click();
  await page.waitForFunction(() => document.querySelector("[aria-label='P(1) crashes in this round']")?.checked);
  await page.locator('[data-cell="1,0"]').click();
  await page.waitForFunction(() => document.querySelector('[data-cell="1,0"]')?.getAttribute("aria-pressed") === "false");
  await takeRound(page);
  await page.waitForSelector("td.status:has-text('crashed')");
  await settled(page);
  return [s, page];
});

test("forbidden cells say which clause", async (b) => {
  const s = await serve(join(MODELS, "floodset.rondo"), "-D", "n=3", "-D", "f=1", "-D", "k=2"), page = await explore(b, s);
  await page.waitForSelector(".cell.forbidden");
  expect(/Forbidden: .+/.test(await page.locator(".cell.forbidden").first().getAttribute("title")), "a reason");
  await page.locator(".cell.forbidden").first().click();
  await page.waitForSelector(".take .warning");
  expect(await page.locator(".take .primary").isDisabled(), "it cannot be taken");
  return [s, page];
});

test("deliver Paxos messages out of order, and take it back", async (b) => {
  const s = await serve(join(MODELS, "paxos.rondo")), page = await explore(b, s);
  await choose(page, "'ask'");
  await choose(page, "'ask'");
  await page.locator(".message", { hasText: "Leader(2) → Acceptor(1)" }).first().click();
  await choose(page, "prepare(b: 2) from Leader(2)");
  await page.waitForFunction(() => document.querySelector(".state-panel")?.textContent.includes("2"));
  expect((await page.locator(".take-choice", { hasText: "prepare(b: 1) from Leader(1)" }).allInnerTexts()).length === 2, "the older ballot is refused by Acceptor(1)");
  await page.keyboard.press("Backspace");
  await at(page, 2);
  await choose(page, "prepare(b: 1) from Leader(1)");
  expect((await page.locator(".tree li").count()) === 5, "both branches are kept");
  return [s, page];
});

test("compare two branches", async (b) => {
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
  await start(page, "P(1) x = 1; P(2) x = 2; P(3) x = 3");
  await hear(page, ["110", "011", "111"]);
  await takeRound(page);
  await page.keyboard.press("ArrowLeft");
  await at(page, 0);
  await page.waitForSelector(".cell");
  await takeRound(page);
  const first = page.locator(".tree li[role=treeitem]", { hasText: "P(1) misses P(3); P(2) misses P(1)" }).first();
  await first.hover();
  await first.locator("text=compare").click();
  await page.waitForSelector(".compare td.differs");
  expect(/part after/.test(await page.locator(".compare").innerText()), "where they part");
  return [s, page];
});

test("an address leads to the same state", async (b) => {
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
  await start(page, "P(1) x = 1; P(2) x = 2; P(3) x = 3");
  await hear(page, ["110", "011", "111"]);
  await takeRound(page);
  await page.waitForFunction(() => /path=\d+\.r/.test(location.hash));
  const hash = new URL(page.url()).hash, table = await page.locator(".states").innerText();
  const other = await explore(b, s, hash);
  await at(other, 1);
  expect((await other.locator(".states").innerText()) === table, "the same state");
  await other.close();
  return [s, page];
});

test("keyboard only", async (b) => {
  const s = await serve(join(MODELS, "paxos.rondo"), "-D", "acceptors=2"), page = await explore(b, s);
  await page.waitForSelector(".take-choice");
  await page.keyboard.press("1");
  await at(page, 1);
  await page.keyboard.press("2");
  await at(page, 2);
  await page.keyboard.press("ArrowLeft");
  await at(page, 1);
  await page.keyboard.press("Alt+2");
  await page.waitForSelector(".map-graph, .layers", { timeout: 30000 });
  await page.keyboard.press("Alt+1");
  await page.keyboard.press("?");
  await page.waitForSelector("[role=dialog]");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector("[role=dialog]"));
  const seen = new Set(); // Tab reaches every part of the page, and changes nothing
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(() => document.activeElement?.closest("section, header.top")?.getAttribute("aria-label") ?? "top"));
  }
  for (const part of ["top", "model", "diagram", "state", "the adversary's desk", "history"]) expect(seen.has(part), `Tab does not reach ${part}: ${[...seen]}`);
  expect((await page.locator(".tag:has-text('edited')").count()) === 0, "the model is as it was");
  await page.close();
  const h = await serve(HALF, "-D", "n=3"), grid = await explore(b, h);
  await grid.focus('[data-cell="0,0"]');
  await grid.keyboard.press("ArrowRight");
  await grid.keyboard.press("Space");
  await grid.waitForFunction(() => document.querySelector('[data-cell="0,1"]')?.getAttribute("aria-pressed") === "false");
  await grid.keyboard.press("Enter");
  await at(grid, 1);
  await s.stop();
  return [h, grid];
});

test("errors while typing", async (b) => {
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
  await takeRound(page);
  await page.keyboard.press("e");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\nsafety wrong: forall p in P: p.nothing == 1");
  await page.waitForSelector(".diagnostics .error");
  expect(/nothing/.test(await page.locator(".diagnostics").innerText()), "the error names it");
  for (let i = 0; i < "nothing == 1".length; i++) await page.keyboard.press("Backspace");
  await page.keyboard.type("x >= 1");
  await page.waitForSelector(".properties li:has-text('wrong')");
  expect((await depth(page)) === "1", "the path is kept");
  return [s, page];
});

test("an edit that numbers the choices anew keeps the path", async (b) => {
  const s = await serve(join(MODELS, "peterson.rondo"), "--env", "lazy"), page = await explore(b, s, "#env=lazy&path=0.1.0.1");
  await at(page, 3);
  const before = await page.locator(".states").innerText(), steps = () => page.locator(".tree").innerText();
  const labels = await steps();
  await page.evaluate(() => document.querySelector(".editor").shadowRoot.querySelector(".cm-content").focus());
  const source = readFileSync(join(MODELS, "peterson.rondo"), "utf8").split("\n"), at1 = source.findIndex((l) => l.includes("step rest"));
  await page.keyboard.press("Control+Home");
  for (let i = 0; i < at1; i++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Home");
  await page.keyboard.type("  start { }\n"); // every process has a choice before its others
  await page.waitForSelector(".top .warning, .diagnostics .error");
  expect((await depth(page)) !== "3" || (await page.locator(".diagnostics .error").count()) > 0, "nobody can rest before it has started");
  for (let i = 0; i < "  start { }\n".length; i++) await page.keyboard.press("Backspace");
  await at(page, 3); // what was cut off is there again
  expect((await steps()) === labels && (await page.locator(".states").innerText()) === before, "the same run");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\nprocess Other[1] { step first {} }");
  await page.waitForFunction(() => document.querySelector(".states")?.textContent.includes("Other"));
  await at(page, 3);
  expect((await steps()) === labels, "the steps mean the same");
  return [s, page];
});

test("an address has the view, what is watched, and the other run", async (b) => {
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
  await takeRound(page);
  await page.keyboard.press("ArrowLeft");
  await hear(page, ["110", "111", "111"]);
  await takeRound(page);
  await page.fill("[aria-label='new watch expression']", "count(p in P: p.x == 1)");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".watch td");
  await page.locator(".tree .node", { hasText: "all hear all" }).focus();
  await page.keyboard.press("c");
  await page.waitForSelector(".compare .picture svg");
  await page.waitForFunction(() => location.hash.includes("other=") && location.hash.includes("watch="));
  const other = await explore(b, s, new URL(page.url()).hash);
  await other.waitForSelector(".compare .picture svg");
  await other.waitForSelector(".watch td");
  expect((await other.locator(".compare .steps").allInnerTexts()).join() === (await page.locator(".compare .steps").allInnerTexts()).join(), "the same comparison");
  await other.close();
  return [s, page];
});

test("seven processes that may hear anybody: safe from here on", async (b) => {
  const s = await serve(join(MODELS, "one_third_rule.rondo"), "-D", "n=7", "-D", "k=2"), page = await explore(b, s);
  await page.locator(".from-here .ahead.good", { hasText: "safe from here on" }).waitFor({ timeout: 60000 });
  await page.locator(".from-here button.ahead.good", { hasText: "decision is reachable" }).click();
  await page.waitForSelector(".properties li.good:has-text('decision')");
  await page.locator(".canvas").evaluate((e) => (e.scrollLeft = 200));
  await page.waitForFunction(() => { const e = document.querySelector(".canvas"), names = e?.querySelector(".pinned"); return e.scrollLeft <= 4 || (names && getComputedStyle(names).visibility === "visible"); });
  return [s, page];
});

test("the map tells what is reached from what is violated, and the end from a deadlock", async (b) => {
  const s = await serve(join(MODELS, "herlihy.rondo"), "-D", "n=2"), page = await explore(b, s, "#D=n=2&view=map");
  await page.waitForSelector(".map-graph .covered");
  expect((await page.locator(".map-graph .shown").count()) === 0, "no property is violated");
  expect((await page.locator(".map-graph .final").count()) > 0, "runs end");
  await page.waitForSelector(".from-here .ahead:has-text('can end in')");
  expect((await page.locator(".from-here .ahead", { hasText: "stuck" }).count()) === 0, "nobody is stuck");
  const chooses = page.locator(".take-choice").first();
  await chooses.click();
  await at(page, 1);
  await page.locator(".map-graph .reached").first().focus();
  await page.keyboard.press("Enter");
  await at(page, 0);
  return [s, page];
});

test("check from the page, and open the counterexample", async (b) => {
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
  await page.click("role=tab[name=Verdicts]");
  await page.click(".verdict-view .primary");
  await page.waitForSelector(".verdicts tr.violated");
  await page.locator(".verdicts tr.violated button").first().click();
  await violated(page);
  await page.keyboard.press("ArrowLeft");
  await page.waitForSelector(".cell");
  await hear(page, ["111", "111", "111"]);
  return [s, page];
});

test("the map, a projection, a watch expression", async (b) => {
  const s = await serve(HALF, "-D", "n=3", "-D", "k=2"), page = await explore(b, s);
  await page.click("role=tab[name=Map]");
  await page.waitForSelector(".map-graph .here", { timeout: 60000 });
  await page.fill("[aria-label=projection]", "count(p in P: p.decided != none)");
  await page.click("text=Draw");
  await page.waitForFunction(() => document.querySelectorAll(".map-graph .state").length <= 4, null, { timeout: 60000 });
  await page.fill("[aria-label='new watch expression']", "count(p in P: p.x == 1)");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".watch td");
  return [s, page];
});

test("exports", async (b) => {
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
  await takeRound(page);
  for (const [format, sign] of [["svg", "<svg"], ["png", "PNG"], ["trace", "rondo-trace/1"], ["itf", "#meta"], ["html", "<html"]]) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.selectOption("[aria-label=export]", format)]);
    expect(readFileSync(await file.path(), "latin1").includes(sign), format);
  }
  return [s, page];
});

test("a run that goes on for ever", async (b) => {
  const s = await serve(join(MODELS, "peterson.rondo"), "--env", "lazy"), page = await explore(b, s, "#env=lazy&path=0.1.0.1.1.1");
  await at(page, 5);
  await settled(page);
  expect((await page.locator(".canvas .loop").count()) === 0, "it ends");
  await page.click("text=repeat for ever");
  await page.waitForSelector(".canvas .loop");
  await page.waitForSelector(".properties li.bad:has-text('progress')");
  expect(/P\(1\)/.test(await page.locator(".properties li.bad:has-text('progress') .why").innerText()), "who waits for ever");
  await page.keyboard.press("ArrowRight"); // the first step of the loop again
  await at(page, 4);
  await page.waitForFunction(() => location.hash.includes("loop=3"));
  const hash = new URL(page.url()).hash;
  const other = await explore(b, s, hash);
  await other.waitForSelector(".canvas .loop");
  await other.close();
  await page.click("role=tab[name=Verdicts]");
  await page.click(".verdict-view .primary");
  await page.locator(".verdicts tr.violated", { hasText: "progress" }).locator("button").click();
  await page.waitForFunction(() => document.querySelector(".loop-note")?.textContent.includes("for ever"));
  await page.click("text=let it end here");
  await page.waitForFunction(() => !document.querySelector(".canvas .loop"));
  return [s, page];
});

test("quorums by clicking messages; what was lost, duplicated, forged", async (b) => {
  const s = await serve(join(MODELS, "paxos.rondo"), "-D", "leaders=1"), page = await explore(b, s);
  for (const action of ["'ask'", "Acceptor(1)", "Acceptor(2)", "Acceptor(3)"]) {
    if (action === "'ask'") await choose(page, action);
    else { const k = Number(await depth(page)); await page.locator("section", { hasText: action }).locator(".take-choice", { hasText: "prepare" }).first().click(); await at(page, k + 1); }
  }
  const all = await page.locator(".take-choice", { hasText: "'propose'" }).count();
  expect(all === 3, `${all} quorums of 3 acceptors`);
  for (const a of [1, 3]) await page.locator(".message", { hasText: `Acceptor(${a}) → Leader(1)` }).first().click();
  await page.waitForFunction(() => document.querySelectorAll(".take-choice").length === 1);
  await choose(page, "'propose'");
  expect(/Acceptor\(1\).*Acceptor\(3\)/.test(await page.locator(".last").innerText()), "that quorum");
  return [s, page];
});

test("thirty processes", async (b) => {
  const s = await serve(join(MODELS, "floodset.rondo"), "-D", "n=30", "-D", "f=2", "-D", "k=2"), page = await explore(b, s);
  await page.waitForSelector(".grid.compact .cell");
  await page.waitForFunction(() => document.querySelectorAll(".cell.forbidden").length === 900, null, { timeout: 30000 }); // also what the first answer had no time for
  await takeRound(page);
  await page.waitForFunction(() => { const n = document.querySelectorAll(".canvas .life").length; return n > 0 && n <= 8; }, null, { timeout: 20000 }); // of thirty: equal processes share a line
  await page.locator(".outcome-row").nth(16).locator("button").click();
  await page.waitForSelector(".chip");
  const broken = await page.evaluate(() => [...document.querySelectorAll(".state td")].filter((e) => e.getClientRects()[0]?.height > 26).length);
  expect(broken === 0, `${broken} values are broken over lines`);
  return [s, page];
});

test("a table over a parameter, coverage, and what stays", async (b) => {
  const s = await serve(HALF, "-D", "n=3", "-D", "k=2"), page = await explore(b, s);
  await takeRound(page);
  await page.click("role=tab[name=Verdicts]");
  await page.fill("[aria-label=range]", "2..4");
  await page.locator("button", { hasText: /^Table$/ }).click();
  await page.waitForFunction(() => document.querySelectorAll(".matrix tbody tr").length === 3 && !document.querySelector(".matrix tbody").textContent.includes("…"));
  const signs = await page.locator(".matrix tbody tr td:nth-child(2) i").allInnerTexts();
  expect(signs.join("") === "✓✕✓", signs);
  await page.locator(".matrix button").first().click(); // a branch of the same history
  await violated(page);
  expect((await page.locator(".tree li.on-path").count()) === 3 && (await page.locator(".tree li").count()) >= 4, "the history has both");
  await page.keyboard.press("Alt+3");
  expect(await page.locator(".matrix").isVisible(), "the table is still there");
  await page.keyboard.press("Alt+2");
  await page.click("text=Coverage of lines");
  await page.waitForFunction(() => /lines run/.test(document.querySelector(".tools [role=status]")?.textContent ?? ""));
  return [s, page];
});

/** What a strict reader would say: text of too little contrast, controls without a name, a page wider than the window. */
const faults = () => {
  const found = [];
  const all = [];
  const collect = (root) => { for (const e of root.querySelectorAll("*")) { all.push(e); if (e.shadowRoot) collect(e.shadowRoot); } };
  collect(document);
  const parent = (e) => e.parentElement ?? e.getRootNode().host ?? null;
  const colour = (text) => {
    const n = (text.match(/[\d.e-]+%?/g) ?? []).map((x) => parseFloat(x));
    return text.startsWith("color(") ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
  };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const behind = (e) => { const layers = []; for (; e; e = parent(e)) layers.push(colour(getComputedStyle(e).backgroundColor)); return layers.reverse().reduce((under, c) => over(c, under), [255, 255, 255, 1]); };
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  for (const e of all) {
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    if (!box.width || !box.height || style.visibility === "hidden" || e.closest("[aria-hidden=true], .later, :disabled, title, style, defs")) continue;
    const words = [...e.childNodes].filter((n) => n.nodeType === 3 && n.data.trim()).map((n) => n.data.trim()).join(" ");
    if (words && !["OPTION", "SCRIPT"].includes(e.tagName)) {
      let alpha = 1;
      for (let x = e; x; x = parent(x)) alpha *= Number(getComputedStyle(x).opacity);
      const under = behind(e), ink = colour(e instanceof SVGElement ? style.fill : style.color), seen = over([...ink.slice(0, 3), ink[3] * alpha], under);
      const [a, b] = [light(seen), light(under)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) found.push(`contrast ${ratio.toFixed(2)} of "${words.slice(0, 30)}" (${e.tagName} ${e.className.baseVal ?? e.className})`);
    }
    if (e.matches("button, input, select, [role=treeitem], [role=tab], svg[role=img]")) {
      const name = e.getAttribute("aria-label") ?? (e.labels?.[0]?.textContent || e.textContent || e.title);
      if (!name?.trim()) found.push(`no name: ${e.outerHTML.slice(0, 80)}`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const e of document.querySelectorAll(".panel > header, .top")) if (e.scrollWidth > e.clientWidth + 1) found.push(`cut off: ${e.textContent.slice(0, 60)}`);
  return [...new Set(found)].slice(0, 12);
};

test("legible, named, and inside the window, in light and dark", async (b) => {
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
  const found = [];
  const look = async (where, page) => {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      for (const wrong of await page.evaluate(faults)) found.push(`${where}, ${colorScheme}: ${wrong}`);
    }
  };
  await page.locator('[data-cell="0,2"]').click();
  await page.waitForSelector(".chip .dot");
  await look("grid", page);
  await page.locator(".from-here button.ahead.bad", { hasText: "agreement fails" }).click({ timeout: 60000 });
  await violated(page);
  await settled(page);
  await look("violation", page);
  await page.click("role=tab[name=Verdicts]");
  await page.click(".verdict-view .primary");
  await page.waitForSelector(".verdicts tr.violated button");
  await look("verdicts", page);
  await page.click("role=tab[name=Map]");
  await page.click(".map .mini >> text=decided");
  await page.waitForFunction(() => { const n = document.querySelectorAll(".map-graph .state").length; return n > 1 && n < 12; }, null, { timeout: 60000 });
  await look("map", page);
  await page.keyboard.press("Alt+1");
  await page.keyboard.press("?");
  await page.waitForSelector("[role=dialog]");
  await page.keyboard.press("e");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\nsafety wrong: nothing");
  await page.waitForSelector(".diagnostics .error");
  await look("an error", page);
  await page.close();
  await s.stop();
  const m = await serve(join(MODELS, "paxos.rondo")), steps = await explore(b, m);
  await choose(steps, "'ask'");
  await look("steps", steps);
  expect(!found.length, found.join("\n"));
  return [m, steps];
});

test("the page of --html needs no server", async (b) => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-html-")), file = join(folder, "run.html");
  spawnSync(rondo, ["check", HALF, "-D", "n=3", "--property", "agreement", "--html", file]);
  const page = await b.context.newPage();
  page.complaints = [];
  page.on("console", (m) => m.type() === "error" && page.complaints.push(m.text()));
  page.on("pageerror", (e) => page.complaints.push(e.message));
  page.on("request", (r) => !r.url().startsWith("file:") && page.complaints.push(`asks ${r.url()}`));
  await page.goto("file://" + file);
  await page.waitForSelector("#tables td.changed");
  expect(/2 of 2/.test(await page.locator("#where").innerText()), "it begins at the end");
  await page.keyboard.press("ArrowLeft");
  expect(/1 of 2/.test(await page.locator("#where").innerText()), "a step back");
  expect(/decided none -> 2/.test(await page.locator("#line-20.lit .values").innerText()), "the line that fired, with its values");
  expect((await page.locator("#diagram .future").count()) > 0, "what comes later is pale");
  const [source, diagram] = await Promise.all(["#model", "#diagram"].map((s) => page.locator(s).boundingBox()));
  expect(source.x + source.width <= diagram.x && source.y < diagram.y + diagram.height, "the source is beside the diagram");
  await page.keyboard.press("Home");
  expect((await page.locator("#source .lit").count()) === 0, "nothing has fired at the start");
  rmSync(folder, { recursive: true });
  return [{ stop: async () => undefined }, page];
});

test("a long run stays quick", async (b) => {
  const steps = Array.from({ length: 2000 }, () => "r7_7_7").join(".");
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s, `#D=n=3&path=5.${steps}`);
  await at(page, 2000);
  await settled(page);
  const began = Date.now();
  await page.keyboard.press("ArrowLeft");
  await at(page, 1999);
  expect(Date.now() - began < 15000, `${Date.now() - began} ms for a step back`);
  return [s, page];
});

async function takePictures(browser) {
  const folder = process.env.RONDO_PICTURES ?? join(ROOT, "docs/pictures/explore");
  mkdirSync(folder, { recursive: true });
  for (const [scheme, width, height] of [["light", 1280, 800], ["dark", 1280, 800], ["light", 2560, 1440], ["dark", 2560, 1440]]) {
    const b = await open(scheme, width, height);
    const shot = (page, name) => (scheme === "light" && width === 1280 ? page.screenshot({ path: join(folder, `${name}.png`) }) : process.env.RONDO_PICTURES && page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`) }));
    let s = await serve(HALF, "-D", "n=3"), page = await explore(b, s);
    await start(page, "P(1) x = 1; P(2) x = 2; P(3) x = 3");
    await hear(page, ["110", "011", "111"]);
    await page.waitForSelector(".from-here .ahead.bad", { timeout: 60000 });
    await page.waitForTimeout(600);
    await shot(page, "grid");
    await page.locator(".from-here button.ahead.bad", { hasText: "agreement fails" }).click();
    await violated(page);
    await settled(page);
    await page.waitForTimeout(600);
    await shot(page, "violation");
    await page.click("role=tab[name=Verdicts]");
    await page.click(".verdict-view .primary");
    await page.waitForSelector(".verdicts tr.violated button");
    await page.fill("[aria-label=range]", "2..4");
    await page.locator("button", { hasText: /^Table$/ }).click();
    await page.waitForFunction(() => document.querySelectorAll(".matrix tbody tr").length === 3 && !document.querySelector(".matrix tbody").textContent.includes("…"));
    await shot(page, "verdicts");
    await page.click("role=tab[name=Map]");
    await page.fill("[aria-label=projection]", "{p.decided for p in P}");
    await page.click("text=Draw");
    await page.waitForFunction(() => { const n = document.querySelectorAll(".map-graph .state").length; return n > 1 && n < 12; }, null, { timeout: 60000 });
    await shot(page, "map");
    await page.close();
    await s.stop();
    s = await serve(join(MODELS, "paxos.rondo"));
    page = await explore(b, s);
    for (let i = 0; i < 6; i++) { await page.locator(".take-choice").nth(i % 2).click(); await at(page, i + 1); }
    await page.waitForFunction(() => document.querySelectorAll(".choice > .ahead:not(.waiting)").length > 1, null, { timeout: 60000 });
    await settled(page);
    await page.waitForTimeout(600);
    await shot(page, "paxos");
    await page.close();
    await s.stop();
    s = await serve(join(MODELS, "peterson.rondo"), "--env", "lazy");
    page = await explore(b, s, "#env=lazy&path=0.1.0.1.1.1&loop=3");
    await page.waitForSelector(".canvas .loop");
    await page.waitForFunction(() => document.querySelectorAll(".choice > .ahead:not(.waiting)").length > 1, null, { timeout: 60000 });
    await page.waitForTimeout(600);
    await shot(page, "loop");
    await s.stop();
    await b.close();
    if (!process.env.RONDO_PICTURES) break;
  }
}

let passed = 0, failed = 0;
const browser = await open("light", 1280, 800);
for (const [name, f] of tests) {
  if (only.length && !only.some((o) => name.includes(o))) continue;
  const began = Date.now();
  try {
    const [server, page] = await f(browser);
    expect(!page.complaints.length, page.complaints.join("\n"));
    await page.close();
    await server.stop();
    passed++;
    if (process.env.RONDO_TEST_VERBOSE) console.log(`explore, browser: ${name}: ${Date.now() - began} ms`);
  } catch (e) {
    failed++;
    console.log(`explore, browser: ${name}: ${e.message.slice(0, 1500)}`);
    for (const page of browser.context.pages().slice(1)) await page.close();
  }
  for (const server of [...running]) await server.stop();
}
await browser.close();
if (pictures && !failed) await takePictures();
console.log(`explore, browser: ${passed} of ${passed + failed} passed`);
process.exit(failed ? 1 : 0);
