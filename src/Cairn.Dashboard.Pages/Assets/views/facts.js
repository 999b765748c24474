// A card of named figures that change.
import { el, setText } from '../dom.js';

/** Returns a card with this title for pairs of id and label. `set(id, text)` changes one figure. */
export function facts(title, pairs) {
  const values = new Map(pairs.map(([id]) => [id, el('dd', {}, '–')]));
  const list = el('dl', { class: 'facts' }, pairs.map(([id, label]) => el('div', {}, el('dt', {}, label), values.get(id))));
  return {
    element: el('section', { class: 'card', 'aria-label': title }, el('h2', {}, title), list),
    set: (id, text) => setText(values.get(id), text),
  };
}
