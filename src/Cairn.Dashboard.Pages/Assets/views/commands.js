// The rate and the latency of each command.
import { el, table } from '../dom.js';
import { get } from '../api.js';
import { asking } from './asking.js';
import { count, duration, exact, span } from '../format.js';

const shortest = 3; // 1 µs, as the decimal logarithm of nanoseconds
const longest = 8; // 100 ms

// Draws the latencies from the median to the 99.9th percentile on a logarithmic scale.
function rangePicture(command) {
  const x = ns => Math.min(100, Math.max(0, (Math.log10(Math.max(1, ns)) - shortest) / (longest - shortest) * 100));
  const svg = el('svg', { class: 'range', viewBox: '0 0 100 12', preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' },
    [0, 20, 40, 60, 80, 100].map(mark => el('line', { class: 'grid', x1: mark, x2: mark, y1: 0, y2: 12 })));
  if (command.recent > 0) {
    svg.append(
      el('rect', { class: 'tone-ochre faint', x: x(command.p50Ns), y: 3.500, width: Math.max(0.8, x(command.p999Ns) - x(command.p50Ns)), height: 5 }),
      el('rect', { class: 'tone-moss', x: x(command.p50Ns), y: 3.500, width: Math.max(0.8, x(command.p99Ns) - x(command.p50Ns)), height: 5 }));
  }
  return svg;
}

export function commands(root) {
  const note = el('p', { class: 'hint' });
  const room = el('div', { class: 'card flush many', role: 'region', 'aria-label': 'Commands', tabindex: '0' }); // Scrolls if the window is narrow.
  root.append(note, room);
  let before = new Map();
  let beforeAt = 0;
  return asking(root, () => get('view/commands'), answer => {
    const at = performance.now();
    const seconds = (at - beforeAt) / 1000;
    const rows = answer.commands.map(command => {
      const earlier = before.get(`${command.protocol} ${command.name}`);
      return { ...command, rate: earlier === undefined || command.requests < earlier ? null : (command.requests - earlier) / seconds };
    }).sort((a, b) => (b.rate ?? 0) - (a.rate ?? 0) || b.requests - a.requests);
    before = new Map(answer.commands.map(command => [`${command.protocol} ${command.name}`, command.requests]));
    beforeAt = at;
    note.replaceChildren(`Latencies of the last ${span(answer.windowMs)}: from when a request was noticed until its reply was handed to the kernel.`,
      el('span', { class: 'of-range' }, ' The bar goes from p50 to p99 and on to p99.9, on a scale from 1 µs to 100 ms.'));
    room.replaceChildren(table('Commands', [
      { label: 'Command', cell: row => el('span', { class: 'command' }, el('code', {}, row.name), el('small', {}, row.protocol)) },
      { label: 'Per second', isNumber: true, cell: row => count(row.rate) },
      { label: 'Requests', isNumber: true, cell: row => exact(row.requests) },
      { label: 'Errors', isNumber: true, cell: row => exact(row.errors + row.rejected) },
      { label: 'p50', isNumber: true, cell: row => duration(row.p50Ns) },
      { label: 'p95', isNumber: true, cell: row => duration(row.p95Ns) },
      { label: 'p99', isNumber: true, cell: row => duration(row.p99Ns) },
      { label: 'p99.9', isNumber: true, cell: row => duration(row.p999Ns) },
      { label: 'Longest', isNumber: true, cell: row => duration(row.maxNs) },
      { label: 'Range', class: 'wide', cell: rangePicture },
    ], rows, 'No requests yet. Connect a client of memcached or Redis.'));
  });
}
