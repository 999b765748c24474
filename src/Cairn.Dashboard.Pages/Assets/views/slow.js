// The slow requests.
import { el, table } from '../dom.js';
import { get } from '../api.js';
import { asking } from './asking.js';
import { clock, duration, exact, moment } from '../format.js';

export function slow(root) {
  const note = el('p', { class: 'hint' });
  const room = el('div', { class: 'card flush' });
  root.append(note, room);
  let shown = null;
  return asking(root, () => get('view/slow'), answer => {
    note.textContent = answer.thresholdNs === undefined
      ? 'No request is called slow: the slow log is off (--slow off).'
      : `The latest requests that took ${answer.thresholdNs === 0 ? 'any time at all' : `${duration(answer.thresholdNs)} or longer`}; ${exact(answer.total)} since the start. (batch) stands for requests that were slow together and cannot be distinguished.`;
    const newest = JSON.stringify([answer.total, answer.requests.length, answer.requests[0]?.id]);
    if (newest === shown) {
      return; // An unchanged table is not replaced, so that the user can read and select it.
    }
    shown = newest;
    room.replaceChildren(table('Slow requests', [
      { label: 'When', cell: request => el('time', { datetime: new Date(request.atMs).toISOString(), title: moment(request.atMs) }, clock(request.atMs)) },
      { label: 'Took', isNumber: true, cell: request => duration(request.durationNs) },
      { label: 'Request', class: 'key', cell: request => el('code', { class: 'request' }, request.arguments.map((argument, i) => el('span', { class: i === 0 ? 'verb' : null }, argument, ' '))) },
      { label: 'Client', cell: request => `${request.client}${request.clientName ? ` (${request.clientName})` : ''}` },
      { label: 'Protocol', cell: request => request.protocol },
    ], answer.requests, 'No slow requests. Good.'));
  }, 2000);
}
