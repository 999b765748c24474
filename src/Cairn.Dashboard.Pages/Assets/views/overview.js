// The activity of a server or a store file.
import { el, setText } from '../dom.js';
import { TimeChart } from '../charts.js';
import { facts } from './facts.js';
import { Tiles } from './tiles.js';
import { latest } from '../live.js';
import { pace } from '../pace.js';
import { axes, bytes, count, duration, exact, percent, plural, span, moment } from '../format.js';

const perSecond = value => `${count(value)}/s`;

export function overview(root, context) {
  const health = el('p', { class: 'health' });
  const tiles = new Tiles([
    { id: 'requests', label: 'Requests per second', tone: 'moss' },
    { id: 'ratio', label: 'Hit ratio', tone: 'slate' },
    { id: 'p99', label: 'Latency, p99', tone: 'ochre' },
    { id: 'memory', label: 'Live in memory', tone: 'stone' },
    { id: 'evictions', label: 'Evictions per second', tone: 'rust' },
    { id: 'connections', label: 'Connections', tone: 'slate' },
  ]);
  const charts = {
    requests: new TimeChart('Requests per second', { series: [{ label: 'requests', tone: 'moss' }, { label: 'errors', tone: 'rust' }], format: count }),
    ratio: new TimeChart('Hit ratio', { series: [{ label: 'hits', tone: 'slate' }], format: percent, axis: axes.percent, most: 1 }),
    latency: new TimeChart('Latency', { series: [{ label: 'p99', tone: 'ochre' }, { label: 'p95', tone: 'slate' }, { label: 'p50', tone: 'stone' }], format: duration, axis: axes.duration }),
    gone: new TimeChart('Evictions and expirations per second', { series: [{ label: 'evicted', tone: 'rust' }, { label: 'expired', tone: 'ochre' }], format: count }),
    memory: new TimeChart('Bytes of entries', { series: [{ label: 'segments', tone: 'stone' }, { label: 'live', tone: 'moss' }], format: bytes, axis: axes.bytes }),
    traffic: new TimeChart('Network', { series: [{ label: 'sent', tone: 'slate' }, { label: 'received', tone: 'moss' }], format: value => `${bytes(value)}/s`, axis: axes.bytesPerSecond }),
  };
  const server = facts('Server', [['up', 'Running for'], ['entries', 'Entries'], ['file', 'Store file'], ['openings', 'Processes with the store open'],
    ['workers', 'Workers'], ['cpu', 'Processor time'], ['process', 'Memory beyond the store'], ['slow', 'Slow requests'], ['watchers', 'Clients that record requests']]);
  root.append(health, tiles.element, el('div', { class: 'grid-2' }, Object.values(charts).map(chart => chart.element)), server.element);

  return {
    update() {
      const { live, charted } = context;
      if (!live?.now?.store || !charted.now) {
        return;
      }
      const { now, nowMs } = live;
      health.className = `health ${now.isReady && !pace.lostAt ? 'good' : 'bad'}`;
      setText(health, pace.lostAt ? 'Not known whether it is ready' : now.isReady ? 'Ready' : `Not ready: ${now.health}`);
      const requests = live.rates('requests');
      const ratio = live.ratios('hits', 'hits', 'misses');
      const evictions = live.rates('evictions');
      const expirations = live.rates('expirations');
      const p99 = live.levels('p99Ns').map(value => value || null);
      const connections = live.levels('connections');
      const since = now.store.hits + now.store.misses;
      tiles.set('requests', count(latest(requests)), `${perSecond(latest(live.rates('sets')))} written`, requests);
      tiles.set('ratio', percent(latest(ratio, 5)), since ? `${percent(now.store.hits / since)} in the store's life` : 'no reads yet', ratio, 1);
      tiles.set('p99', duration(latest(p99)), `p50 ${duration(latest(live.levels('p50Ns').map(value => value || null)))}`, p99);
      tiles.set('memory', bytes(now.store.bytes), `of ${bytes(now.store.capacityBytes)} · ${now.store.entries === 1 ? '1 entry' : `${count(now.store.entries)} entries`}`, live.levels('bytes'), now.store.capacityBytes);
      tiles.set('evictions', count(latest(evictions)), `${perSecond(latest(expirations))} expire`, evictions);
      tiles.set('connections', exact(now.server.connections), `of ${exact(now.server.connectionLimit)} allowed`, connections);
      charts.requests.update(charted, [charted.rates('requests'), charted.rates('errors')]);
      charts.ratio.update(charted, [charted.ratios('hits', 'hits', 'misses')]);
      charts.latency.update(charted, ['p99Ns', 'p95Ns', 'p50Ns'].map(name => charted.levels(name).map(value => value || null)));
      charts.gone.update(charted, [charted.rates('evictions'), charted.rates('expirations')]);
      charts.memory.update(charted, [charted.levels('segmentBytes'), charted.levels('bytes')]);
      charts.traffic.update(charted, [charted.rates('sent'), charted.rates('received')]);
      const cpu = latest(live.rates('cpuUs'));
      server.set('up', span(nowMs - now.server.startedMs));
      server.set('entries', exact(now.store.entries));
      server.set('file', bytes(now.store.fileBytes));
      server.set('openings', exact(now.store.openings));
      server.set('workers', `${now.server.workers}, by ${now.server.io}`);
      server.set('cpu', cpu === null ? '–' : `${(cpu / 1e4).toFixed(1)} % of a core`);
      server.set('process', bytes(now.server.processBytes));
      server.set('slow', exact(now.server.slowRequests));
      server.set('watchers', exact(now.server.watchers));
    },
  };
}

export function storeOverview(root, context) {
  const tiles = new Tiles([
    { id: 'reads', label: 'Reads per second', tone: 'moss' },
    { id: 'ratio', label: 'Hit ratio', tone: 'slate' },
    { id: 'sets', label: 'Writes per second', tone: 'ochre' },
    { id: 'memory', label: 'Live in the file', tone: 'stone' },
    { id: 'evictions', label: 'Evictions per second', tone: 'rust' },
    { id: 'openings', label: 'Processes with it open', tone: 'slate' },
  ]);
  const charts = {
    reads: new TimeChart('Reads per second', { series: [{ label: 'hits', tone: 'moss' }, { label: 'misses', tone: 'rust' }], format: count, isStacked: true }),
    ratio: new TimeChart('Hit ratio', { series: [{ label: 'hits', tone: 'slate' }], format: percent, axis: axes.percent, most: 1 }),
    writes: new TimeChart('Writes and removals per second', { series: [{ label: 'written', tone: 'ochre' }, { label: 'removed', tone: 'stone' }], format: count }),
    gone: new TimeChart('Evictions and expirations per second', { series: [{ label: 'evicted', tone: 'rust' }, { label: 'expired', tone: 'ochre' }], format: count }),
    memory: new TimeChart('Bytes of entries', { series: [{ label: 'segments', tone: 'stone' }, { label: 'live', tone: 'moss' }], format: bytes, axis: axes.bytes }),
    entries: new TimeChart('Entries', { series: [{ label: 'entries', tone: 'slate' }], format: count, axis: axes.whole }),
  };
  const store = facts('Store', [['created', 'Created'], ['entries', 'Entries'], ['file', 'File'], ['slots', 'Room in the index'],
    ['partitions', 'Partitions'], ['ghosts', 'Back soon after eviction'], ['recoveries', 'Repairs after a crash'], ['damaged', 'Damaged entries']]);
  root.append(tiles.element, el('div', { class: 'grid-2' }, Object.values(charts).map(chart => chart.element)), store.element);

  return {
    update() {
      const { live, charted } = context;
      if (!live?.now?.store || !charted.now) {
        return;
      }
      const { now } = live;
      const reads = live.rates('hits', 'misses');
      const ratio = live.ratios('hits', 'hits', 'misses');
      const sets = live.rates('sets');
      const evictions = live.rates('evictions');
      const since = now.store.hits + now.store.misses;
      tiles.set('reads', count(latest(reads)), `${count(since)} in its life`, reads);
      tiles.set('ratio', percent(latest(ratio, 5)), since ? `${percent(now.store.hits / since)} in its life` : 'no reads yet', ratio, 1);
      tiles.set('sets', count(latest(sets)), `${count(now.store.sets)} in its life`, sets);
      tiles.set('memory', bytes(now.store.bytes), `of ${bytes(now.store.capacityBytes)} · ${now.store.entries === 1 ? '1 entry' : `${count(now.store.entries)} entries`}`, live.levels('bytes'), now.store.capacityBytes);
      tiles.set('evictions', count(latest(evictions)), `${perSecond(latest(live.rates('expirations')))} expire`, evictions);
      tiles.set('openings', exact(now.store.openings), 'this page counts as one', live.levels('openings'));
      charts.reads.update(charted, [charted.rates('hits'), charted.rates('misses')]);
      charts.ratio.update(charted, [charted.ratios('hits', 'hits', 'misses')]);
      charts.writes.update(charted, [charted.rates('sets'), charted.rates('removals')]);
      charts.gone.update(charted, [charted.rates('evictions'), charted.rates('expirations')]);
      charts.memory.update(charted, [charted.levels('segmentBytes'), charted.levels('bytes')]);
      charts.entries.update(charted, [charted.levels('entries')]);
      store.set('created', moment(now.store.createdMs));
      store.set('entries', exact(now.store.entries));
      store.set('file', bytes(now.store.fileBytes));
      store.set('slots', plural(now.store.indexSlots, 'entry', 'entries'));
      store.set('partitions', exact(now.store.partitions));
      store.set('ghosts', exact(now.store.ghostHits));
      store.set('recoveries', exact(now.store.recoveries));
      store.set('damaged', exact(now.store.damagedEntries));
    },
  };
}
