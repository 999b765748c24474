// Large figures, each with a chart of its history.
import { el, setText } from '../dom.js';
import { sparkline } from '../charts.js';

/** Shows tiles { id, label, tone }. `set(id, value, note, history)` changes one. */
export class Tiles {
  #tiles = new Map();

  constructor(tiles) {
    this.element = el('dl', { class: 'tiles' }, tiles.map(tile => {
      const value = el('dd', { class: 'value' }, '–');
      const note = el('dd', { class: 'note' });
      const spark = el('div', { class: 'spark-room' });
      this.#tiles.set(tile.id, { ...tile, value, note, spark });
      return el('div', { class: `tile tone-${tile.tone}` }, el('dt', {}, tile.label), value, note, spark);
    }));
  }

  set(id, text, note = '', history = null, most = undefined) {
    const tile = this.#tiles.get(id);
    const [, number, unit] = /^([\d.,–-]+)\s*(.*)$/.exec(text) ?? [null, text, ''];
    if (tile.shown !== text) {
      tile.shown = text;
      tile.value.replaceChildren(number, ...(unit ? [' ', el('span', { class: 'unit' }, unit)] : []));
    }
    setText(tile.note, note);
    if (history) {
      tile.spark.replaceChildren(sparkline(history, tile.tone, most));
    }
  }
}
