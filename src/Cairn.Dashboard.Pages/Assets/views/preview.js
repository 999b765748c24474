// Shows a value as text, as JSON or as bytes.
import { el } from '../dom.js';

const hexStep = 4096;
const longestJson = 200_000;

/** Replaces characters that are invisible, or that change the display of others, by visible ones. */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f]/g, letter => String.fromCharCode(0x2400 + letter.charCodeAt(0)))
    .replace(/\u007f/g, '\u2421')
    .replace(/[\u0080-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, letter => `\\u{${letter.charCodeAt(0).toString(16).toUpperCase()}}`);
}

function decode(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}

function parse(text) {
  if (text === null || !/^\s*[[{"\d-tfn]/.test(text)) {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function jsonView(value) {
  const text = JSON.stringify(value, null, 2);
  if (text.length > longestJson) {
    return el('pre', {}, visible(text));
  }
  const pre = el('pre', { class: 'json' });
  let from = 0;
  for (const match of text.matchAll(/("(?:\\.|[^"\\])*")(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g)) {
    pre.append(visible(text.slice(from, match.index)));
    const kind = match[2] !== undefined ? 'name' : match[1] !== undefined ? 'string' : /^[-\d]/.test(match[0]) ? 'digits' : 'word';
    pre.append(el('span', { class: kind }, visible(match[1] ?? match[0])), match[2] ?? '');
    from = match.index + match[0].length;
  }
  pre.append(visible(text.slice(from)));
  return pre;
}

function hexView(bytes) {
  const pre = el('pre', { class: 'hex' });
  const more = el('button', { type: 'button', class: 'plain', onclick: show }, 'Show more bytes');
  const wrapper = el('div', {}, pre, more);
  const width = matchMedia('(min-width: 1500px)').matches ? 16 : 8; // The number of bytes that fit on a line.
  let shown = 0;
  function show() {
    const end = Math.min(bytes.length, shown + hexStep);
    const lines = [];
    for (; shown < end; shown += width) {
      const row = [...bytes.subarray(shown, Math.min(shown + width, end))];
      const hex = row.map((value, i) => value.toString(16).padStart(2, '0') + (i === 7 && width > 8 ? ' ' : '')).join(' ').padEnd(3 * width);
      const text = row.map(value => value >= 0x20 && value < 0x7f ? String.fromCharCode(value) : '·').join('');
      lines.push(`${shown.toString(16).padStart(6, '0')}  ${hex}  ${text}`);
    }
    shown = end;
    pre.append(`${pre.textContent ? '\n' : ''}${lines.join('\n')}`);
    more.hidden = shown >= bytes.length;
  }
  show();
  return wrapper;
}

/** Returns tabs with the possible forms of a value. The most suitable one is selected. */
export function preview(bytes, isWhole) {
  const text = decode(bytes);
  const json = isWhole ? parse(text) : undefined;
  const forms = [
    ...(json !== undefined ? [['JSON', () => jsonView(json)]] : []),
    ...(text !== null ? [['Text', () => text === '' ? el('p', { class: 'hint' }, 'The value is empty.') : el('pre', {}, visible(text))]] : []),
    ['Hex', () => hexView(bytes)],
  ];
  const panel = el('div', { class: 'panel', role: 'tabpanel', tabindex: '0', id: 'value-panel' });
  const tabs = forms.map(([name, make], i) => el('button', {
    type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'value-panel', onclick: () => choose(i), 'data-form': name, onkeydown: event => move(event, i),
  }, name));
  function choose(index) {
    tabs.forEach((tab, i) => {
      tab.setAttribute('aria-selected', String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
    });
    panel.setAttribute('aria-labelledby', tabs[index].id);
    panel.replaceChildren(forms[index][1]());
  }
  function move(event, i) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step !== undefined) {
      const next = (i + step + tabs.length) % tabs.length;
      choose(next);
      tabs[next].focus();
      event.preventDefault();
    }
  }
  choose(0);
  return el('div', { class: 'preview' }, el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Forms of the value' }, tabs), panel);
}
