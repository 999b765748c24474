// Searches for keys, shows values, and removes entries.
//
// The shown value always belongs to a key of the list. It is closed when a search no longer shows its key, so that "Delete" never acts on a
// key that the page does not list.
import { el, announce, setText } from '../dom.js';
import { post } from '../api.js';
import { preview } from './preview.js';
import { bytes, exact, moment, percent, plural, span } from '../format.js';

const pageSize = 100;

const keyOf = (id, collection) => JSON.stringify([collection, id]);

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
  const detail = el('section', { class: 'card detail', 'aria-label': 'Value', tabindex: '-1' });
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
  let looks = 0;
  let dialog = null;
  let isOver = false;
  let chosen = null; // The key, with its collection, whose value is shown or requested.
  let position = 0;
  let found = 0;
  let searched = collection.value; // The collection of the list. The fields above may have changed since the search.
  let match = ''; // The pattern of the list.

  // The server limits the time of each request. The search continues until the page is full or there are no more keys.
  async function search(isNew) {
    clearTimeout(typing);
    const mine = ++turn;
    match = isNew ? input.value : match;
    if (isNew) {
      position = 0;
      found = 0;
    }
    const wanted = found + pageSize;
    const name = isNew ? collection.value : searched;
    if (name !== searched) {
      close(); // In another collection, the same key is another entry.
    }
    searched = name;
    let isFirst = isNew;
    more.hidden = true;
    try {
      while (true) {
        const answer = await post('keys', { collection: name, match, position: String(position), count: wanted - found });
        if (mine !== turn) {
          return;
        }
        if (isFirst) {
          body.replaceChildren();
          isFirst = false;
        }
        body.append(...answer.keys.map(entry => row(entry, name)));
        found += answer.keys.length;
        mark();
        detail.toggleAttribute('inert', chosen !== null && !isListed());
        position = answer.position;
        const text = answer.isComplete
          ? found === 0 ? (match ? 'No key matches.' : 'There are no keys.') : `${plural(found, 'key')}.`
          : `${plural(found, 'key')} so far, ${percent(answer.searched)} searched.`;
        setText(state, text);
        if (answer.isComplete || found >= wanted) {
          more.hidden = answer.isComplete;
          announce(text);
          if (!isListed()) {
            close();
          }
          return;
        }
      }
    } catch (failure) {
      if (mine === turn) {
        setText(state, failure.message);
      }
    }
  }

  function row(entry, name) {
    const button = el('button', { type: 'button', class: 'key-button', onclick: () => open(entry.id, name, true) }, el('code', {}, entry.key || '(empty)'));
    return el('tr', { 'data-key': keyOf(entry.id, name) },
      el('th', { scope: 'row', class: 'key' }, button),
      el('td', { class: 'number', 'data-label': 'Value' }, entry.type === 'hash' ? `hash, ${bytes(entry.valueBytes)}` : bytes(entry.valueBytes)),
      el('td', { class: 'number', 'data-label': 'Expires' }, entry.expiresMs ? `in ${span(entry.expiresMs - Date.now())}` : 'never'));
  }

  const isListed = () => [...body.children].some(line => line.dataset.key === chosen);

  function mark() {
    for (const line of body.children) {
      const isThis = line.dataset.key === chosen;
      line.classList.toggle('chosen', isThis);
      line.querySelector('button')?.setAttribute('aria-current', String(isThis));
    }
  }

  function close(text = 'Choose a key to look at its value.') {
    looks++;
    chosen = null;
    dialog?.close();
    detail.removeAttribute('inert');
    detail.replaceChildren(el('p', { class: 'hint' }, text));
  }

  // Shows the value of a key of the list. If a link opens a key, the list contains only that key.
  async function open(id, name, isChosen, isLink = false) {
    const mine = ++looks;
    if (chosen !== keyOf(id, name)) {
      detail.replaceChildren(el('p', { class: 'hint' }, 'Reading…')); // Otherwise the value of the previous key would stay visible.
    }
    chosen = keyOf(id, name);
    mark();
    try {
      const entry = await post('value', { collection: name, id });
      if (mine !== looks) {
        return;
      }
      if (isLink) {
        body.replaceChildren(row(entry, name));
        setText(state, 'The key of the link. Search to list others.');
        mark();
      }
      draw(entry, name);
      if (isChosen) {
        detail.focus({ preventScroll: matchMedia('(min-width: 1000px)').matches });
      }
    } catch (failure) {
      if (mine === looks) {
        detail.replaceChildren(el('h2', {}, 'Value'), el('p', { class: 'error', role: 'alert' }, failure.status === 404 ? 'This key is not there any more.' : failure.message));
      }
    }
  }

  function draw(entry, name) {
    const facts = [
      ['Value', `${plural(entry.valueBytes, 'byte')}${entry.shownBytes !== undefined && entry.shownBytes < entry.valueBytes ? `, the first ${exact(entry.shownBytes)} shown` : ''}`],
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
        el('button', { type: 'button', class: 'plain', onclick: () => open(entry.id, name, false) }, 'Look again'),
        who.mayChange ? el('button', { type: 'button', class: 'danger', onclick: () => confirmDelete(entry, name) }, 'Delete…') : null));
  }

  function hashTable(entry) {
    return el('table', { class: 'fields' }, el('caption', { class: 'hint' }, `${plural(entry.fieldCount, 'field')}${entry.fields.length < entry.fieldCount ? `, the first ${exact(entry.fields.length)} shown` : ''}`),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Field'), el('th', { scope: 'col' }, 'Value'))),
      el('tbody', {}, entry.fields.map(field => el('tr', {}, el('th', { scope: 'row' }, el('code', {}, field.field)), el('td', {}, el('code', {}, field.value))))));
  }

  function confirmDelete(entry, name) {
    const error = el('p', { class: 'error', role: 'alert' });
    const cancel = el('button', { type: 'button', class: 'plain', autofocus: true, onclick: () => question.close() }, 'Keep it');
    const confirm = el('button', { type: 'button', class: 'danger', onclick: remove }, 'Delete');
    const question = el('dialog', { 'aria-labelledby': 'confirm-title', onclose: () => question.remove() },
      el('h2', { id: 'confirm-title' }, 'Delete this key?'),
      el('p', {}, el('code', { class: 'confirm-key' }, entry.key)),
      el('p', { class: 'hint' }, `Its value of ${bytes(entry.valueBytes)} is gone for every process, and cannot be brought back.`),
      error, el('div', { class: 'actions' }, cancel, confirm));
    async function remove() {
      confirm.disabled = true;
      try {
        await post('delete', { collection: name, id: entry.id, version: entry.version });
        question.close();
        removed(entry, name);
      } catch (failure) {
        setText(error, failure.message);
        confirm.disabled = false;
      }
    }
    dialog = question;
    document.body.append(dialog);
    dialog.showModal();
    cancel.focus();
  }

  function removed(entry, name) {
    const line = [...body.children].find(candidate => candidate.dataset.key === keyOf(entry.id, name));
    const next = line?.nextElementSibling ?? line?.previousElementSibling;
    line?.remove();
    found = Math.max(0, found - 1);
    announce(`Deleted ${entry.key}.`);
    if (isOver) {
      return;
    }
    if (chosen === keyOf(entry.id, name)) {
      close('Deleted. Choose a key to look at its value.');
    }
    (next?.querySelector('button') ?? input).focus();
  }

  const [, query] = location.hash.split('?');
  if (query) {
    const [id, name] = query.split('&');
    collection.value = decodeURIComponent(name ?? '');
    searched = collection.value;
    open(id, searched, false, true);
  } else {
    close();
    search(true);
  }
  return {
    leave() {
      isOver = true;
      clearTimeout(typing);
      turn++;
      close();
    },
  };
}
