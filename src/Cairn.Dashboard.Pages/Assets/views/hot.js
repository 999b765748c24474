// The most frequent keys of requests, sampled while this view is open.
import { el, setText, table } from '../dom.js';
import { get } from '../api.js';
import { asking } from './asking.js';
import { percent, plural, span } from '../format.js';

export function hot(root) {
  const note = el('p', { class: 'hint' }, 'Keys are sampled while this view is open, and not otherwise.');
  const room = el('div', { class: 'card flush' });
  root.append(note, room);
  return asking(root, () => get('view/hot'), answer => {
    const least = `1/${Math.round(1 / answer.leastShare)}`;
    const bounds = key => `${percent(key.shareAtLeast)} to ${percent(key.shareAtMost)}`;
    if (answer.samples > 0) {
      setText(note, `${plural(answer.samples, 'sampled request')} in ${span(answer.watchedMs)}: one in eight, by its first key. A key is listed if it has `
        + `at least ${least} of all requests, with ${percent(answer.confidence)} confidence.`);
    }
    const most = Math.max(...answer.keys.map(key => key.shareAtMost));
    room.replaceChildren(table('Top keys', [
      { label: 'Key', class: 'key', cell: key => el('a', { href: `#keys?${key.id}` }, el('code', {}, key.key)) },
      { label: 'Share', isNumber: true, cell: key => percent(key.share) },
      { label: 'At least and at most', isNumber: true, cell: bounds },
      {
        label: 'Compared', class: 'wide',
        cell: key => el('svg', { class: 'range', viewBox: '0 0 100 12', preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' },
          el('rect', { class: 'tone-moss faint', x: 0, y: 4, width: key.shareAtMost / most * 100, height: 4 }),
          el('rect', { class: 'tone-moss', x: 0, y: 2, width: key.shareAtLeast / most * 100, height: 8 })),
      },
    ], answer.keys, answer.samples > 0 ? `No key stands out: none is known to have ${least} of the requests.` : 'Watching… Nothing has been asked for yet.'));
  }, 1000);
}
