// The keys that are asked for most, while this is looked at.
import { el, table } from '../dom.js';
import { get } from '../api.js';
import { asking } from './asking.js';
import { count, percent } from '../format.js';

export function hot(root) {
  const note = el('p', { class: 'hint' }, 'One in eight keys that requests name is counted while this view is open, and not otherwise.');
  const room = el('div', { class: 'card flush' });
  root.append(note, room);
  return asking(root, () => get('view/hot'), answer => {
    const most = Math.max(1, ...answer.keys.map(key => key.requests - key.error));
    const all = answer.keys.reduce((sum, key) => sum + key.requests, 0);
    room.replaceChildren(table('Top keys', [
      { label: 'Key', class: 'key', cell: key => el('a', { href: `#keys?${key.id}` }, el('code', {}, key.key)) },
      { label: 'Requests seen', isNumber: true, cell: key => count(key.requests) },
      { label: 'Share', isNumber: true, cell: key => percent(key.requests / all) },
      {
        label: 'Compared', class: 'wide',
        cell: key => el('svg', { class: 'range', viewBox: '0 0 100 12', preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' },
          el('rect', { class: 'tone-moss', x: 0, y: 2, width: (key.requests - key.error) / most * 100, height: 8 })),
      },
    ], answer.keys, 'Watching… Nothing has been asked for yet.'));
  }, 1000);
}
