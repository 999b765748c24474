// The frame around the views: who is there, which view is shown, and asking again and again while the page is seen.
import { el, icon, setText, announce } from './dom.js';
import { post, session, ApiError } from './api.js';
import { Live } from './live.js';
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

let who = null;
let live = null;
let current = null;
let isAsking = false;

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

function show() {
  const name = wanted();
  current?.leave?.();
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
  main.replaceChildren(heading, root);
  current = viewFor(name)(root, {
    who,
    get live() { return live; },
    setChannel(channel) { live = new Live(channel); tick(); },
    go(hash) { location.hash = hash; },
  });
  current.update?.();
  tick();
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

// The latest figures, unless the last question is still open or nobody sees the page.
async function tick() {
  if (isAsking || live === null || document.hidden) {
    return;
  }
  isAsking = true;
  const asked = live;
  try {
    await asked.refresh();
    if (asked === live) {
      current?.update?.();
    }
    if (!problem.hidden) {
      problem.hidden = true;
      announce('Connected again.');
    }
  } catch (error) {
    fail(error);
  } finally {
    isAsking = false;
  }
}

function fail(error) {
  if (error instanceof ApiError && error.status === 401) {
    start();
    return;
  }
  if (problem.hidden) {
    setText(problem, `${error.message} Trying again…`);
    problem.hidden = false;
  }
}

async function start() {
  live = null;
  try {
    who = await session();
  } catch (error) {
    fail(error);
    setTimeout(start, 2000);
    return;
  }
  problem.hidden = true;
  if (who.isLoginNeeded && await enterByLink()) {
    who = await session();
  }
  if (who.isLoginNeeded) {
    current?.leave?.();
    current = null;
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
  live = new Live(who.channels[0] ?? '');
  frame();
  show();
}

// `cairn open` prints an address with a secret behind the #, which browsers send nowhere by themselves.
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
    // It holds for this page, then.
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
document.addEventListener('visibilitychange', tick);
setInterval(tick, intervalMs);
start();
