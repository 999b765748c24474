// The frame around the views: the user, the selected view, the range of its charts, and the periodic requests while the page is visible.
import { el, icon, setText, announce } from './dom.js';
import { onLost, post, session, ApiError } from './api.js';
import { clock, span } from './format.js';
import { Live, ranges } from './live.js';
import { pace } from './pace.js';
import { login } from './views/login.js';
import { overview, storeOverview } from './views/overview.js';
import { caches } from './views/caches.js';
import { commands } from './views/commands.js';
import { memory } from './views/memory.js';
import { keys } from './views/keys.js';
import { hot } from './views/hot.js';
import { slow } from './views/slow.js';
import { clients } from './views/clients.js';

const intervalMs = 1000;
const titles = {
  overview: 'Overview', commands: 'Commands', memory: 'Memory', keys: 'Keys', hot: 'Top keys', slow: 'Slow log', clients: 'Connections',
};
const views = { overview, commands, memory, keys, hot, slow, clients };

const main = document.getElementById('main');
const menu = document.getElementById('menu');
const problem = document.getElementById('problem');
const hasCharts = name => name === 'overview';
const isMoving = name => name !== 'keys';

let who = null;
let live = null; // The history of the last minutes, one sample a second, for the tiles.
let charted = null; // The history of the selected range, for the charts.
let range = ranges[0];
let chartedAt = 0;
let answeredAt = 0;
let pausedAt = 0;
let current = null;
let shownName = '';
let isAsking = false;

// --- The toolbar beside the heading ---

const state = el('p', { class: 'health', id: 'state' });
const each = el('span', { class: 'hint', id: 'each' });
const choice = el('div', { class: 'choice small', role: 'group', 'aria-label': 'Range of the charts' }, ranges.map(candidate =>
  el('button', { type: 'button', onclick: () => choose(candidate), 'data-range': candidate.name }, candidate.label)));
const pauseButton = el('button', { type: 'button', class: 'plain', 'aria-pressed': 'false', onclick: pause }, 'Pause');
const toolbar = el('div', { class: 'toolbar' }, state, each, choice, pauseButton);

function choose(wanted) {
  range = wanted;
  look(live.channel);
  showState();
  tick(true); // A paused page also loads the selected range. Its figures are then newer than the pause.
}

function pause() {
  pace.isPaused = !pace.isPaused;
  pausedAt = answeredAt;
  pauseButton.setAttribute('aria-pressed', String(pace.isPaused));
  showState();
  announce(pace.isPaused ? 'Paused.' : 'Live again.');
  tick();
  current?.refresh?.();
}

function look(channel) {
  live = live?.channel === channel ? live : new Live(channel);
  charted = range === ranges[0] ? live : charted?.channel === channel && charted.range === range ? charted : new Live(channel, range);
  chartedAt = 0;
}

function showState() {
  state.hidden = !live || (!isMoving(shownName) && !pace.lostAt); // A list of keys has no live state.
  state.className = `health ${pace.lostAt ? 'bad' : pace.isPaused ? 'still' : 'good'}`;
  setText(state, pace.lostAt
    ? `No answer since ${clock(answeredAt || pace.lostAt)}${answeredAt ? `: figures are ${span(Date.now() - answeredAt)} old` : ''}`
    : pace.isPaused ? `Paused at ${clock(pausedAt)}` : 'Live');
  main.classList.toggle('is-old', pace.lostAt !== 0);
  setText(each, `a point every ${range.each}`);
  for (const button of choice.children) {
    button.setAttribute('aria-pressed', String(button.dataset.range === range.name));
  }
}

// --- The views ---

function viewFor(name) {
  if (name === 'overview') {
    return who.kind === 'store' ? storeOverview : who.kind === 'caches' ? caches : overview;
  }
  return views[name];
}

function wanted() {
  const name = location.hash.slice(1).split('?')[0];
  return who.views.includes(name) ? name : who.views[0];
}

// Leaves the present view, and closes the dialogs that belong to it.
function leave() {
  current?.leave?.();
  current = null;
  for (const dialog of document.querySelectorAll('dialog')) {
    dialog.close();
    dialog.remove();
  }
}

function show() {
  const name = wanted();
  shownName = name;
  leave();
  document.title = `${titles[name]} · Cairn`;
  for (const link of menu.querySelectorAll('a')) {
    if (link.dataset.view === name) {
      link.setAttribute('aria-current', 'page');
    } else {
      link.removeAttribute('aria-current');
    }
  }
  const root = el('div', { class: `view view-${name}` });
  const heading = el('h1', { tabindex: '-1' }, titles[name]);
  each.hidden = choice.hidden = !hasCharts(name);
  pauseButton.hidden = !isMoving(name);
  main.replaceChildren(el('div', { class: 'head' }, heading, toolbar), root);
  showState();
  current = viewFor(name)(root, {
    who,
    get live() { return live; },
    get charted() { return charted; },
    setChannel(channel) {
      look(channel);
      show();
      main.querySelector('[data-name][aria-pressed="true"]')?.focus();
    },
    go(hash) { location.hash = hash; },
  });
  current.update?.();
  tick(live?.now === null);
  return heading;
}

function frame() {
  menu.replaceChildren(el('ul', {}, who.views.map(name => el('li', {}, el('a', { href: `#${name}`, 'data-view': name }, icon(name), titles[name])))));
  setText(document.getElementById('subject'), who.title ?? '');
  document.getElementById('subject').title = who.title ?? '';
  const name = document.getElementById('who');
  name.hidden = !who.user;
  setText(name, who.user ?? '');
  document.getElementById('logout').hidden = !who.user;
  setText(document.getElementById('foot'), `Cairn ${who.version}${who.keyPrefix ? ` · keys that begin with ${who.keyPrefix}` : ''}${who.mayChange || who.kind === 'caches' ? '' : ' · read only'}`);
}

// --- Periodic requests ---

// Loads the latest figures, unless a request is in progress, the page is paused, or it is not visible.
async function tick(isOnce = false) {
  if (isAsking || live === null || document.hidden || (pace.isPaused && !isOnce)) {
    return;
  }
  isAsking = true;
  const [near, far] = [live, charted];
  try {
    await near.refresh();
    if (far !== near && Date.now() - chartedAt > Math.min(far.range.intervalMs / 2, 10_000)) {
      await far.refresh();
      chartedAt = Date.now();
    }
    answeredAt = Date.now();
    pausedAt = pace.isPaused ? answeredAt : pausedAt;
    if (pace.lostAt) {
      await meetAgain();
    }
    if (near === live && far === charted) {
      current?.update?.();
    }
  } catch (error) {
    fail(error);
  } finally {
    isAsking = false;
    showState();
  }
  if (live !== null && (near !== live || far !== charted)) {
    tick(isOnce); // The selection has changed meanwhile.
  }
}

// After an interruption, the server may be another one, with other users, another token, or other pages.
async function meetAgain() {
  const before = who;
  who = await session();
  if (who.isLoginNeeded) {
    start();
    return;
  }
  if (who.version !== before.version) {
    location.reload();
    return;
  }
  pace.lostAt = 0;
  problem.hidden = true;
  announce('Connected again.');
  if (JSON.stringify({ ...who, token: '' }) !== JSON.stringify({ ...before, token: '' })) {
    frame();
    show();
  } else {
    current?.refresh?.();
  }
}

function fail(error) {
  if (error instanceof ApiError && error.status === 401) {
    start();
  } else {
    lose(error);
  }
}

function lose(error) {
  if (pace.lostAt) {
    return;
  }
  pace.lostAt = Date.now();
  setText(problem, `${error.message} Trying again…`);
  problem.hidden = false;
  showState();
  current?.update?.();
}

async function start() {
  live = charted = null;
  try {
    who = await session();
  } catch (error) {
    lose(error);
    setTimeout(start, 2000);
    return;
  }
  pace.lostAt = 0;
  problem.hidden = true;
  if (who.isLoginNeeded && await enterByLink()) {
    who = await session();
  }
  showState();
  if (who.isLoginNeeded) {
    leave();
    menu.replaceChildren();
    document.title = 'Log in · Cairn';
    for (const id of ['who', 'logout']) {
      document.getElementById(id).hidden = true;
    }
    setText(document.getElementById('subject'), '');
    setText(document.getElementById('foot'), '');
    main.replaceChildren(login(start, who.kind));
    main.querySelector('input')?.focus();
    return;
  }
  answeredAt = 0;
  look(who.channels[0] ?? '');
  frame();
  show();
}

// `cairn open` prints an address with a secret after the #. Browsers do not send that part to a server.
async function enterByLink() {
  const secret = /^#open=([\w-]+)$/.exec(location.hash)?.[1];
  if (!secret) {
    return false;
  }
  history.replaceState(null, '', `${location.pathname}#overview`);
  try {
    await post('login', { user: '', password: secret });
    return true;
  } catch {
    return false;
  }
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

const themeButton = document.getElementById('theme');
themeButton.setAttribute('aria-pressed', String(isDark()));
themeButton.addEventListener('click', () => {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  themeButton.setAttribute('aria-pressed', String(theme === 'dark'));
  try {
    localStorage.setItem('cairn-theme', theme);
  } catch {
    // The theme is not saved, but applies to this page.
  }
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => themeButton.setAttribute('aria-pressed', String(isDark())));

document.getElementById('skip').addEventListener('click', event => {
  event.preventDefault();
  main.focus();
});
document.getElementById('logout').addEventListener('click', async () => {
  try {
    await post('logout');
  } finally {
    start();
  }
});
window.addEventListener('hashchange', () => {
  if (who && !who.isLoginNeeded) {
    show().focus();
  }
});
document.addEventListener('visibilitychange', () => tick());
setInterval(() => {
  showState(); // Updates the age of the figures.
  tick();
}, intervalMs);
onLost(lose);
start();
