// The connected clients.
import { el, table } from '../dom.js';
import { get } from '../api.js';
import { asking } from './asking.js';
import { bytes, exact, span } from '../format.js';

export function clients(root) {
  const note = el('p', { class: 'hint' });
  const room = el('div', { class: 'card flush' });
  root.append(note, room);
  return asking(root, () => get('view/clients'), answer => {
    note.textContent = `${exact(answer.total)} now, ${exact(answer.accepted)} since the start, ${exact(answer.refused)} refused.${answer.total > answer.clients.length ? ` The first ${exact(answer.clients.length)} are listed.` : ''}`;
    room.replaceChildren(table('Connections', [
      { label: 'Client', cell: client => el('span', { class: 'command address' }, el('code', {}, client.address), el('small', {}, `#${client.id}`)) },
      { label: 'Speaks', cell: client => `${client.listener}${client.isEncrypted ? ', TLS' : ''}` },
      { label: 'Since', isNumber: true, cell: client => span(client.ageMs) },
      { label: 'Idle', isNumber: true, cell: client => span(client.idleMs) },
      { label: 'Received', isNumber: true, cell: client => bytes(client.received) },
      { label: 'Sent', isNumber: true, cell: client => bytes(client.sent) },
    ], answer.clients, 'No client is connected.'));
  });
}
