// Search, the choice of colours, and the menu of small screens. Without this script every page can still be read.
'use strict';

const page = document.documentElement;
const root = page.dataset.root;
page.classList.add('scripted');

// --- Colours: those of the system until the reader chooses ---
const colours = document.getElementById('colours');
const isDark = () => page.dataset.colours ? page.dataset.colours === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;

function showColours(chosen) {
  if (chosen) {
    page.dataset.colours = chosen;
  }
  colours.textContent = isDark() ? 'Light' : 'Dark';
}

// A page opened as a file may be kept from storing anything.
const remembered = { get: () => { try { return localStorage.getItem('colours'); } catch { return null; } },
  set: value => { try { localStorage.setItem('colours', value); } catch { /* Forgotten, then. */ } } };
showColours(remembered.get());
colours.hidden = false;
colours.addEventListener('click', () => {
  const chosen = isDark() ? 'light' : 'dark';
  remembered.set(chosen);
  showColours(chosen);
});

// --- Menu ---
const menu = document.getElementById('menu');
const pages = document.getElementById('pages');
const isSmall = matchMedia('(max-width: 50rem)');
const showMenu = () => { menu.hidden = !isSmall.matches; };
isSmall.addEventListener('change', showMenu);
showMenu();
menu.addEventListener('click', () => menu.setAttribute('aria-expanded', String(pages.classList.toggle('open'))));

// --- Search: every word must occur; titles count most, then headings ---
const box = document.getElementById('search');
const found = document.getElementById('found');
let index;

function load() {
  index ??= new Promise(resolve => {
    const script = document.createElement('script');
    script.src = `${root}assets/pages.js`;
    script.onload = () => resolve(window.cairnPages);
    document.head.append(script);
  });
  return index;
}

function rank(entry, words) {
  const title = entry.title.toLowerCase();
  const headings = entry.sections.map(section => section[0].toLowerCase()).join('\n');
  const text = entry.text.toLowerCase();
  let score = 0;
  for (const word of words) {
    const inText = text.split(word).length - 1;
    if (!inText && !title.includes(word)) {
      return 0;
    }
    score += (title.includes(word) ? 50 : 0) + (headings.includes(word) ? 15 : 0) + Math.min(inText, 10);
  }
  // Why something is as it is matters less to most than how to use it.
  return entry.page.startsWith('docs/decisions/') ? score / 3 : score;
}

function excerpt(entry, word) {
  const span = document.createElement('span');
  const at = entry.text.toLowerCase().indexOf(word);
  const start = Math.max(0, at - 60);
  const mark = document.createElement('mark');
  mark.textContent = entry.text.slice(Math.max(0, at), Math.max(0, at) + (at < 0 ? 0 : word.length));
  span.append(start > 0 ? '…' : '', entry.text.slice(start, Math.max(0, at)), mark, entry.text.slice(Math.max(0, at) + mark.textContent.length, start + 160), '…');
  return span;
}

async function search() {
  const words = box.value.toLowerCase().split(/\s+/).filter(word => word.length > 1);
  const entries = words.length ? await load() : [];
  const best = entries.map(entry => [rank(entry, words), entry]).filter(pair => pair[0] > 0).sort((a, b) => b[0] - a[0]).slice(0, 12);
  found.replaceChildren(...best.map(([, entry]) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    const section = entry.sections.find(s => words.some(word => s[0].toLowerCase().includes(word)));
    link.href = root + entry.page + (section ? `#${section[1]}` : '');
    const title = document.createElement('strong');
    title.textContent = section ? `${entry.title}: ${section[0]}` : entry.title;
    link.append(title, excerpt(entry, words[0]));
    item.append(link);
    return item;
  }));
  if (words.length && !best.length) {
    const none = document.createElement('li');
    none.className = 'none';
    none.textContent = 'Nothing found.';
    found.append(none);
  }
  found.hidden = !words.length;
}

box.disabled = false;
box.addEventListener('input', search);
box.addEventListener('focus', load);
document.addEventListener('keydown', event => {
  if (event.key === 'Escape') {
    found.hidden = true;
  } else if (event.key === '/' && document.activeElement !== box) {
    event.preventDefault();
    box.focus();
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const links = [...found.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    if (!found.hidden && links.length && (at >= 0 || document.activeElement === box)) {
      event.preventDefault();
      (links[at + (event.key === 'ArrowDown' ? 1 : -1)] ?? box).focus();
    }
  }
});
document.addEventListener('click', event => { if (!event.target.closest('.search')) { found.hidden = true; } });
