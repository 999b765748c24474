// Looking for keys, looking at values, and removing them.
import { el, announce, setText } from '../dom.js';
import { post } from '../api.js';
import { preview } from './preview.js';
import { bytes, exact, moment, percent, span } from '../format.js';

const pageSize = 100;

function decodeBase64(text) {
  return Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
}

export function keys(root, context) {
  const { who } = context;
  const input = el('input', { id: 'match', type: 'search', placeholder: 'part of a key, or book:*', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none' });
  const collection = el('select', { id: 'collection' }, who.collections.map(name => el('option', { value: name }, name || 'the store\'s own')));
  const body = el('tbody');
  const state = el('p', { class: 'hint', id: 'found' });
  const more = el('button', { type: 'button', class: 'plain', hidden: true, onclick: () => search(false) }, 'More keys');
  const list = el('section', { class: 'card flush key-list', 'aria-label': 'Keys' },
    el('table', {}, el('caption', { class: 'unseen' }, 'Keys'),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Key'), el('th', { scope: 'col', class: 'number' }, 'Value'), el('th', { scope: 'col', class: 'number' }, 'Expires'))), body),
    el('div', { class: 'more' }, more));
  const detail = el('section', { class: 'card detail', 'aria-label': 'Value', tabindex: '-1' }, el('p', { class: 'hint' }, 'Choose a key to look at its value.'));
  root.append(
    el('form', { class: 'search', role: 'search', onsubmit: event => { event.preventDefault(); search(true); } },
      el('div', {}, el('label', { for: 'match' }, 'Search keys'), input),
      who.collections.length > 1 ? el('div', { class: 'narrow' }, el('label', { for: 'collection' }, 'Collection'), collection) : null,
      el('button', { type: 'submit', class: 'main' }, 'Search')),
    state, el('div', { class: 'keys-and-value' }, list, detail));
  collection.addEventListener('change', () => search(true));
  input.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => search(true), 300);
  });
  body.addEventListener('keydown', event => {
    const buttons = [...body.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at >= 0 && to !== undefined && buttons[to]) {
      buttons[to].focus();
      event.preventDefault();
    }
  });

  let typing = 0;
  let turn = 0;
  let position = 0;
  let found = 0;

  // The server searches for a moment at a time; this goes on until there is a page full, or nothing left.
  async function search(isNew) {
    clearTimeout(typing);
    const mine = ++turn;
    if (isNew) {
      position = 0;
      found = 0;
    }
    const wanted = found + pageSize;
    let isFirst = isNew;
    more.hidden = true;
    try {
      while (true) {
        const answer = await post('keys', { collection: collection.value, match: input.value, position: String(position), count: wanted - found });
        if (mine !== turn) {
          return;
        }
        if (isFirst) {
          body.replaceChildren();
          isFirst = false;
        }
        body.append(...answer.keys.map(row));
        found += answer.keys.length;
        position = answer.position;
        const text = answer.isComplete
          ? found === 0 ? (input.value ? 'No key matches.' : 'There are no keys.') : `${exact(found)} ${found === 1 ? 'key' : 'keys'}.`
          : `${exact(found)} keys so far, ${percent(answer.searched)} searched.`;
        setText(state, text);
        if (answer.isComplete || found >= wanted) {
          more.hidden = answer.isComplete;
          announce(text);
          return;
        }
      }
    } catch (failure) {
      if (mine === turn) {
        setText(state, failure.message);
      }
    }
  }

  function row(entry) {
    const button = el('button', { type: 'button', class: 'key-button', onclick: () => open(entry.id, true) }, el('code', {}, entry.key || '(empty)'));
    return el('tr', { 'data-id': entry.id },
      el('th', { scope: 'row', class: 'key' }, button),
      el('td', { class: 'number', 'data-label': 'Value' }, entry.type === 'hash' ? `hash, ${bytes(entry.valueBytes)}` : bytes(entry.valueBytes)),
      el('td', { class: 'number', 'data-label': 'Expires' }, entry.expiresMs ? `in ${span(entry.expiresMs - Date.now())}` : 'never'));
  }

  function mark(id) {
    for (const line of body.children) {
      const isThis = line.dataset.id === id;
      line.classList.toggle('chosen', isThis);
      line.querySelector('button')?.setAttribute('aria-current', String(isThis));
    }
  }

  async function open(id, isChosen) {
    mark(id);
    try {
      draw(await post('value', { collection: collection.value, id }));
      if (isChosen) {
        detail.focus({ preventScroll: matchMedia('(min-width: 1000px)').matches });
      }
    } catch (failure) {
      detail.replaceChildren(el('h2', {}, 'Value'), el('p', { class: 'error', role: 'alert' }, failure.status === 404 ? 'This key is not there any more.' : failure.message));
    }
  }

  function draw(entry) {
    const facts = [
      ['Value', `${exact(entry.valueBytes)} bytes${entry.shownBytes !== undefined && entry.shownBytes < entry.valueBytes ? `, the first ${exact(entry.shownBytes)} shown` : ''}`],
      ['Expires', entry.expiresMs ? `${moment(entry.expiresMs)} (in ${span(entry.expiresMs - Date.now())})` : 'never'],
      ...(entry.slidingMs ? [['Lives on when read, for', span(entry.slidingMs)]] : []),
      ...(entry.flags ? [['Flags', exact(entry.flags)]] : []),
      ['Version', entry.version],
    ];
    const content = entry.fields
      ? hashTable(entry)
      : preview(decodeBase64(entry.value), entry.shownBytes === entry.valueBytes);
    detail.replaceChildren(
      el('h2', { class: 'key-title' }, el('code', {}, entry.key)),
      el('dl', { class: 'facts small' }, facts.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value)))),
      content,
      el('div', { class: 'actions' },
        el('button', { type: 'button', class: 'plain', onclick: () => open(entry.id, false) }, 'Look again'),
        who.mayChange ? el('button', { type: 'button', class: 'danger', onclick: () => confirmDelete(entry) }, 'Delete…') : null));
  }

  function hashTable(entry) {
    return el('table', { class: 'fields' }, el('caption', { class: 'hint' }, `${exact(entry.fieldCount)} fields${entry.fields.length < entry.fieldCount ? `, the first ${exact(entry.fields.length)} shown` : ''}`),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Field'), el('th', { scope: 'col' }, 'Value'))),
      el('tbody', {}, entry.fields.map(field => el('tr', {}, el('th', { scope: 'row' }, el('code', {}, field.field)), el('td', {}, el('code', {}, field.value))))));
  }

  function confirmDelete(entry) {
    const error = el('p', { class: 'error', role: 'alert' });
    const cancel = el('button', { type: 'button', class: 'plain', autofocus: true, onclick: () => dialog.close() }, 'Keep it');
    const confirm = el('button', { type: 'button', class: 'danger', onclick: remove }, 'Delete');
    const dialog = el('dialog', { 'aria-labelledby': 'confirm-title', onclose: () => dialog.remove() },
      el('h2', { id: 'confirm-title' }, 'Delete this key?'),
      el('p', {}, el('code', { class: 'confirm-key' }, entry.key)),
      el('p', { class: 'hint' }, `Its value of ${bytes(entry.valueBytes)} is gone for every process, and cannot be brought back.`),
      error, el('div', { class: 'actions' }, cancel, confirm));
    async function remove() {
      confirm.disabled = true;
      try {
        await post('delete', { collection: collection.value, id: entry.id, version: entry.version });
        dialog.close();
        removed(entry);
      } catch (failure) {
        setText(error, failure.message);
        confirm.disabled = false;
      }
    }
    document.body.append(dialog);
    dialog.showModal();
    cancel.focus();
  }

  function removed(entry) {
    const line = [...body.children].find(candidate => candidate.dataset.id === entry.id);
    const next = line?.nextElementSibling ?? line?.previousElementSibling;
    line?.remove();
    found = Math.max(0, found - 1);
    detail.replaceChildren(el('p', { class: 'hint' }, 'Deleted. Choose a key to look at its value.'));
    announce(`Deleted ${entry.key}.`);
    (next?.querySelector('button') ?? input).focus();
  }

  const [, query] = location.hash.split('?');
  if (query) {
    const [id, name] = query.split('&');
    collection.value = decodeURIComponent(name ?? '');
    search(true).then(() => open(id, false));
  } else {
    search(true);
  }
  return {};
}
