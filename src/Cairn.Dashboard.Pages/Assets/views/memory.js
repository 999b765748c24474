// The use of memory by segment, by age and by remaining lifetime, and a key space analysis on request.
import { el, card, table, announce } from '../dom.js';
import { bars } from '../charts.js';
import { get, post } from '../api.js';
import { asking } from './asking.js';
import { bytes, count, exact, percent, plural } from '../format.js';

const kinds = {
  s: ['New entries', 'slate', 'the small log: what was written lately'],
  m: ['Proven entries', 'moss', 'the main log: what came back'],
  t: ['Grouped by time to live', 'ochre', 'whole segments that expire at once'],
  k: ['Kept', 'rust', 'collections whose entries are never evicted'],
  l: ['Long values', 'stone', 'values that take several segments'],
  r: ['In reserve', 'sand', 'ready for the next write, or about to be freed'],
  f: ['Free', 'free', 'not taken yet'],
};
const mostCells = 2048;

// Draws a small square for each segment. A fuller segment is darker. In a large store, a square stands for several segments.
function segmentMap(memory) {
  const together = Math.ceil(memory.map.length / mostCells);
  const cells = [];
  for (let i = 0; i < memory.map.length; i += together) {
    const fills = memory.fill.slice(i, i + together);
    cells.push({ letter: memory.map[i], fill: fills.reduce((sum, fill) => sum + fill, 0) / fills.length });
  }
  const columns = Math.max(8, Math.round(Math.sqrt(cells.length * 1.8)));
  const rows = Math.ceil(cells.length / columns);
  return el('svg', { class: 'map', viewBox: `0 0 ${columns * 10} ${rows * 10}`, role: 'img', 'aria-label': `Segments of the file; the table beside tells how many are used for what.` },
    cells.map((cell, i) => el('g', {},
      el('rect', { class: `cell tone-${kinds[cell.letter][1]}`, x: i % columns * 10 + 0.75, y: Math.floor(i / columns) * 10 + 0.75, width: 8.5, height: 8.5, rx: 1.5, 'fill-opacity': cell.letter === 'f' ? 0.45 : 0.2 }),
      el('rect', { class: `cell tone-${kinds[cell.letter][1]}`, x: i % columns * 10 + 0.75, y: Math.floor(i / columns) * 10 + 0.75 + 8.5 * (1 - cell.fill / 100), width: 8.5, height: 8.5 * cell.fill / 100, rx: 1.5 }))));
}

function lifeLabel(life) {
  const names = { 60: 'within a minute', 3600: 'within an hour', 86400: 'within a day', 604800: 'within a week' };
  return life.withinSeconds === undefined ? 'never' : life.withinSeconds === null ? 'later' : names[life.withinSeconds];
}

export function memory(root) {
  const room = el('div', { class: 'stack' });
  const surveyRoom = el('div', { class: 'stack', 'aria-live': 'off' });
  const button = el('button', { type: 'button', class: 'main', onclick: survey }, 'Look at every entry');
  root.append(room, el('section', { class: 'card', 'aria-label': 'Entries' }, el('h2', {}, 'Biggest keys and sizes'),
    el('p', { class: 'hint' }, 'Reads the whole index once. Requests go on meanwhile.'), button), surveyRoom);
  let shown = '';
  let isOver = false;

  async function survey() {
    button.disabled = true;
    button.textContent = 'Looking…';
    try {
      drawSurvey(await post('survey', {}, Infinity));
    } catch (failure) {
      surveyRoom.replaceChildren(el('p', { class: 'error', role: 'alert' }, failure.message));
    } finally {
      button.disabled = false;
      button.textContent = 'Look again';
    }
  }

  function drawSurvey(found) {
    if (isOver) {
      return;
    }
    const sizes = bars('Values by length', found.sizes.map(bin => ({
      label: bin.toBytes === 0 ? 'empty' : `${bytes(bin.fromBytes)} and more`,
      parts: [{ value: bin.entries, tone: 'moss' }],
      text: `${exact(bin.entries)} · ${bytes(bin.valueBytes)}`,
    })), { head: ['Length', 'Entries'] });
    surveyRoom.replaceChildren(
      card('Values by length', sizes),
      el('section', { class: 'card flush', 'aria-label': 'Biggest keys' }, el('h2', {}, 'Biggest keys'), table('Biggest keys', [
        { label: 'Key', class: 'key', cell: entry => el('a', { href: `#keys?${entry.id}${entry.collection ? `&${encodeURIComponent(entry.collection)}` : ''}` }, el('code', {}, entry.key)) },
        { label: 'Collection', cell: entry => entry.collection || '–' },
        { label: 'Value', isNumber: true, cell: entry => bytes(entry.valueBytes) },
      ], found.biggest, 'The store is empty.')));
    announce(`${plural(found.entries, 'entry', 'entries')} with ${bytes(found.valueBytes)}.`);
  }

  function draw(answer) {
    const text = JSON.stringify(answer);
    if (text === shown) {
      return;
    }
    shown = text;
    const logs = Object.keys(kinds).map(letter => answer.logs.find(log => log.letter === letter)).filter(Boolean);
    const all = answer.map.length * answer.bytesPerSegment;
    const legend = el('table', { class: 'legend-table' },
      el('caption', { class: 'unseen' }, 'What segments are used for'),
      el('thead', {}, el('tr', {}, ['Used for', 'Segments', 'Size', 'Live'].map((label, i) => el('th', { scope: 'col', class: i ? 'number' : null }, label)))),
      el('tbody', {}, logs.map(log => el('tr', {},
        el('th', { scope: 'row', class: `tone-${kinds[log.letter][1]}`, title: kinds[log.letter][2] }, el('span', { class: 'dot' }), kinds[log.letter][0]),
        el('td', { class: 'number' }, exact(log.segments)),
        el('td', { class: 'number' }, percent(log.bytes / all)),
        el('td', { class: 'number' }, log.letter === 'f' || log.letter === 'r' ? '–' : bytes(log.liveBytes))))));
    const ages = bars('Segments by age', answer.ages.map((age, i) => ({
      label: i === 0 ? 'oldest tenth' : i === answer.ages.length - 1 ? 'newest tenth' : `${i + 1}.`,
      parts: [{ value: age.liveBytes, tone: 'moss' }, { value: age.deadBytes, tone: 'sand' }],
      text: age.liveBytes + age.deadBytes === 0 ? '–' : `${bytes(age.liveBytes)} live${age.deadBytes ? `, ${bytes(age.deadBytes)} garbage` : ''}`,
    })), { head: ['Age', 'Bytes'] });
    // In a large store, only a part of the index is read, and the figures are extrapolated.
    const isWhole = answer.searched === 1;
    const number = isWhole ? exact : value => `about ${count(Math.round(value / answer.searched))}`;
    const lives = bars('Entries by when they expire', answer.lives.map(life => ({
      label: lifeLabel(life), parts: [{ value: life.entries, tone: 'ochre' }],
      text: life.entries === 0 ? '–' : `${number(life.entries)} · ${bytes(life.valueBytes / answer.searched)}`,
    })), { head: ['Expires', 'Entries and bytes of their values'] });
    const cards = [
      card('Segments', el('div', { class: 'map-and-legend' }, segmentMap(answer), el('div', {}, legend,
        el('p', { class: 'hint' }, `${plural(answer.map.length, 'segment')} of ${bytes(answer.bytesPerSegment)}; ${bytes(answer.liveBytes)} ${answer.liveBytes === 1 ? 'is' : 'are'} live.`)))),
      el('div', { class: 'grid-2' }, card('Sealed segments by age', ages), card('Entries by when they expire', lives,
        isWhole ? null : el('p', { class: 'hint' }, `Estimated from ${percent(answer.searched)} of the index.`))),
    ];
    if (answer.collections.length > 0) {
      cards.push(el('section', { class: 'card flush', 'aria-label': 'Collections' }, el('h2', {}, 'Collections'), table('Collections', [
        { label: 'Collection', cell: collection => el('code', {}, collection.name) },
        { label: 'Entries', isNumber: true, cell: collection => exact(collection.entries) },
        { label: 'Bytes', isNumber: true, cell: collection => bytes(collection.bytes) },
        { label: 'Limit', isNumber: true, cell: collection => collection.budgetBytes ? bytes(collection.budgetBytes) : '–' },
        { label: 'Evicted', cell: collection => collection.isKept ? 'never' : 'when needed' },
      ], answer.collections)));
    }
    room.replaceChildren(...cards);
  }

  const view = asking(root, () => get('memory'), draw, 3000);
  return {
    ...view,
    leave() {
      isOver = true;
      view.leave();
    },
  };
}
