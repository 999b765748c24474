// The caches of an application: both levels, and the work that they save.
import { el, setText } from '../dom.js';
import { TimeChart } from '../charts.js';
import { facts } from './facts.js';
import { Tiles } from './tiles.js';
import { latest } from '../live.js';
import { axes, bytes, count, exact, percent, span } from '../format.js';
import { pace } from '../pace.js';

export function caches(root, context) {
  const names = context.who.channels;
  const choice = names.length > 1
    ? el('div', { class: 'choice', role: 'group', 'aria-label': 'Cache' }, names.map(name => el('button', {
      type: 'button', 'aria-pressed': String(name === context.live.channel), 'data-name': name, onclick: () => context.setChannel(name),
    }, name)))
    : null;
  const health = el('p', { class: 'health' });
  const tiles = new Tiles([
    { id: 'reads', label: 'Reads per second', tone: 'moss' },
    { id: 'local', label: 'Answered by the first level', tone: 'slate' },
    { id: 'shared', label: 'Answered by the second level', tone: 'stone' },
    { id: 'joined', label: 'Stampedes prevented', tone: 'moss' },
    { id: 'stale', label: 'Stale served', tone: 'ochre' },
    { id: 'invalidations', label: 'Invalidations', tone: 'rust' },
  ]);
  const charts = {
    reads: new TimeChart('Reads per second', {
      series: [{ label: 'first level', tone: 'slate' }, { label: 'second level', tone: 'stone' }, { label: 'stale', tone: 'ochre' }, { label: 'missing', tone: 'rust' }],
      format: count, isStacked: true,
    }),
    ratio: new TimeChart('Answered without a factory', { series: [{ label: 'of all reads', tone: 'slate' }], format: percent, axis: axes.percent, most: 1 }),
    factories: new TimeChart('Factories per second', { series: [{ label: 'run', tone: 'moss' }, { label: 'spared by joining', tone: 'ochre' }, { label: 'failed', tone: 'rust' }], format: count }),
    changes: new TimeChart('Changes per second', { series: [{ label: 'set', tone: 'moss' }, { label: 'removed', tone: 'rust' }, { label: 'tags', tone: 'ochre' }], format: count }),
    size: new TimeChart('First level', { series: [{ label: 'bytes', tone: 'slate' }], format: bytes, axis: axes.bytes }),
    entries: new TimeChart('Entries of the first level', { series: [{ label: 'entries', tone: 'moss' }], format: count, axis: axes.whole }),
  };
  const rows = [['factoryRuns', 'Factories run'], ['factoryFaults', 'Factories failed'], ['factoryTimeouts', 'Factories not waited for'],
    ['refreshes', 'Refreshed in the background'], ['notKept', 'Changed while made, not kept'], ['localEvictions', 'Evicted from the first level'],
    ['unreadable', 'Unreadable in the second level'], ['owedChanges', 'Pending changes of the second level'],
    ['levelFailures', 'Failed calls of the second level'], ['levelTimeouts', 'Calls of it given up']];
  const totals = facts('Since the cache was made', rows);
  const policyRows = [['policy', 'Policy'], ['since', 'Since'], ['changes', 'Changes of the policy'], ['others', 'With other policies'],
    ['half', 'With half the memory'], ['twice', 'With twice the memory'], ['four', 'With four times the memory']];
  const eviction = facts('Eviction from the first level, with estimated hit ratios', policyRows);
  root.append(...[choice, health, tiles.element, el('div', { class: 'grid-2' }, Object.values(charts).map(chart => chart.element)), eviction.element, totals.element].filter(Boolean));

  return {
    update() {
      const { live, charted } = context;
      if (!live?.now?.cache || !charted.now) {
        return;
      }
      const { cache } = live.now;
      health.className = `health ${cache.trouble || pace.lostAt ? 'bad' : 'good'}`;
      setText(health, pace.lostAt ? 'Not known how the levels are' : cache.trouble ?? `${cache.hasSecondLevel ? 'Both levels work' : 'First level only'}`);
      const all = ['localHits', 'sharedHits', 'staleServed', 'misses'];
      const reads = live.rates(...all);
      const total = cache.localHits + cache.sharedHits + cache.staleServed + cache.misses;
      const part = value => total ? `${percent(value / total)} of all reads` : 'no reads yet';
      const local = live.ratios('localHits', ...all);
      const shared = live.ratios('sharedHits', ...all);
      const joined = live.rates('joined');
      const invalidations = live.rates('removals', 'tagRemovals');
      tiles.set('reads', count(latest(reads)), `${count(total)} since the start`, reads);
      tiles.set('local', percent(latest(local, 5)), part(cache.localHits), local, 1);
      tiles.set('shared', percent(latest(shared, 5)), part(cache.sharedHits), shared, 1);
      tiles.set('joined', count(cache.joined), 'callers given another\'s result', joined);
      tiles.set('stale', count(cache.staleServed), part(cache.staleServed), live.rates('staleServed'));
      tiles.set('invalidations', count(cache.removals + cache.tagRemovals), `${exact(cache.tagRemovals)} by tag`, invalidations);
      charts.reads.update(charted, all.map(name => charted.rates(name)));
      const misses = charted.ratios('misses', ...all);
      charts.ratio.update(charted, [misses.map(value => value === null ? null : 1 - value)]);
      charts.factories.update(charted, ['factoryRuns', 'joined', 'factoryFaults'].map(name => charted.rates(name)));
      charts.changes.update(charted, ['sets', 'removals', 'tagRemovals'].map(name => charted.rates(name)));
      charts.size.update(charted, [charted.levels('localBytes')]);
      charts.entries.update(charted, [charted.levels('localEntries')]);
      const estimates = cache.localEstimates ?? [];
      const withFactor = factor => estimates.find(one => one.capacityFactor === factor && one.policy === cache.localPolicy);
      const ratioOf = one => one ? `${percent(one.hitRatio)} ± ${percent(one.margin)}` : '–';
      eviction.set('policy', cache.localPolicy ?? '–');
      eviction.set('since', cache.localPolicySeconds === undefined ? 'the start' : `${span(cache.localPolicySeconds * 1000)} ago`);
      eviction.set('changes', cache.localPolicyChanges === undefined ? '–' : exact(cache.localPolicyChanges));
      eviction.set('others', estimates.filter(one => one.capacityFactor === 1).map(one => `${one.policy} ${percent(one.hitRatio)}`).join(', ') || '–');
      eviction.set('half', ratioOf(withFactor(0.5)));
      eviction.set('twice', ratioOf(withFactor(2)));
      eviction.set('four', ratioOf(withFactor(4)));
      for (const [id] of rows) {
        totals.set(id, cache[id] === undefined ? '–' : exact(cache[id]));
      }
    },
  };
}
