// The page in Chromium: what a user does, by mouse and by keyboard. With --pictures it takes the pictures of docs/explore.md.
// usage: node tests/explore/browser.mjs RONDO CHROMIUM [--pictures] [NAME...]
import { spawn } from "node:child_process";
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
  await start(page, "P(1) x = 1; P(2) x = 2; P(3) x = 3");
  await hear(page, ["110", "011", "111"]); // x = 1, 2, 1
  await takeRound(page);
  await hear(page, ["101", "010", "011"]); // P(1) decides 1; P(3) takes 1 of 1, 2
  await takeRound(page);
  const marks = await page.locator("td.changed").count();
  expect(marks > 0, "the table marks what changed");
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
  const first = page.locator(".tree li[role=treeitem]", { hasText: "P(1) hears P(1), P(2)" }).first();
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
  await page.waitForFunction(() => location.hash.includes("path="));
  await page.waitForTimeout(100);
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
  await page.click("text=draw");
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

test("a long run stays quick", async (b) => {
  const steps = Array.from({ length: 2000 }, () => "r7_7_7").join(".");
  const s = await serve(HALF, "-D", "n=3"), page = await explore(b, s, `#D=n=3&path=5.${steps}`);
  await at(page, 2000);
  await settled(page);
  const began = Date.now();
  await page.keyboard.press("ArrowLeft");
  await at(page, 1999);
  expect(Date.now() - began < 5000, `${Date.now() - began} ms for a step back`);
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
    await shot(page, "verdicts");
    await page.click("role=tab[name=Map]");
    await page.fill("[aria-label=projection]", "{p.decided for p in P}");
    await page.click("text=draw");
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
