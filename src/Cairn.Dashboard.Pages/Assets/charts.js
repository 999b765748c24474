// Draws charts as SVG, at the size of their element. Each chart is also available as a table.
import { el, setText } from './dom.js';
import { axes, clock, minute } from './format.js';

const margin = { right: 10, top: 10, bottom: 22 };
const labelGap = 8;
const height = 168;

/** Returns a few round numbers for an axis from 0 to at least `most`. */
export function ticks(most, axis, wanted = 4) {
  const rough = Math.max(most > 0 ? most / wanted : 1, axis.least);
  const power = axis.base ** Math.floor(Math.log(rough) / Math.log(axis.base));
  const factors = axis.base === 2 ? [1, 2] : axis.least === 1 && rough < 5 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  const step = factors.map(factor => factor * power).find(candidate => candidate >= rough) ?? axis.base * power;
  const found = [0, step];
  while (found.at(-1) < most) {
    found.push(found.length * step);
  }
  return found;
}

// A point without a value creates a gap: the value is unknown, or there was no activity.
function runsOf(points) {
  const runs = [];
  let run = null;
  for (const point of points) {
    if (point.at(-1) === null || point.at(-1) === undefined) {
      run = null;
    } else if (run === null) {
      runs.push(run = [point]);
    } else {
      run.push(point);
    }
  }
  return runs;
}

function linePath(points, x, y) {
  const at = ([time, value]) => `${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
  return runsOf(points).map(run => `M${at(run[0])}L${run.map(at).join('L')}`).join(''); // A single point becomes a line to itself, which is a dot.
}

function areaPath(times, low, high, x, y) {
  return runsOf(times.map((time, i) => [time, low[i] ?? 0, high[i]])).map(run => {
    const top = run.map(([time, , value]) => `${x(time).toFixed(1)} ${y(value).toFixed(1)}`);
    const bottom = run.map(([time, value]) => `${x(time).toFixed(1)} ${y(value).toFixed(1)}`).reverse();
    return `M${top.join('L')}L${bottom.join('L')}Z`;
  }).join('');
}

/**
 * A chart over time: new TimeChart('Title', { series: [{ label, tone }], format, axis, most, isStacked }).
 * `update({ times, nowMs, lengthMs }, values)` draws it. `values` has one array for each series.
 */
export class TimeChart {
  #options;
  #svg = el('svg', { class: 'chart', role: 'img', height });
  #values = [];
  #times = [];
  #endMs = 0;
  #lengthMs = 0;
  #widths = new Map();
  #legend = [];
  #rows = el('tbody');
  #details;
  #pointerX = null;
  #tip = el('div', { class: 'tip', hidden: true });

  constructor(title, options) {
    this.#options = { format: String, axis: axes.count, ...options };
    const labels = this.#options.series.map(series => {
      const value = el('b', {}, '–');
      this.#legend.push(value);
      return el('li', { class: `tone-${series.tone}` }, el('span', { class: 'dot' }), series.label, ' ', value);
    });
    this.#details = el('details', { class: 'as-table', ontoggle: () => this.#fill() },
      el('summary', {}, 'As a table'),
      el('table', {},
        el('caption', { class: 'unseen' }, title),
        el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Time'),
          this.#options.series.map(series => el('th', { scope: 'col', class: 'number' }, series.label)))),
        this.#rows));
    const plot = el('div', { class: 'plot' }, this.#svg, this.#tip);
    this.element = el('section', { class: 'card chart-card', 'aria-label': title }, el('h2', {}, title), el('ul', { class: 'legend' }, labels), plot, this.#details);
    this.title = title;
    new ResizeObserver(() => this.#draw()).observe(plot);
    plot.addEventListener('pointermove', event => {
      this.#pointerX = event.clientX - plot.getBoundingClientRect().left;
      this.#draw();
    });
    plot.addEventListener('pointerleave', () => {
      this.#pointerX = null;
      this.#draw();
    });
  }

  update({ times, nowMs, lengthMs }, values) {
    this.#times = times;
    this.#values = values;
    this.#endMs = nowMs;
    this.#lengthMs = lengthMs;
    this.element.dataset.minutes = lengthMs / 60_000;
    values.forEach((series, i) => {
      const known = series.slice(-3).filter(value => value !== null && value !== undefined);
      setText(this.#legend[i], known.length ? this.#options.format(known.reduce((sum, value) => sum + value, 0) / known.length) : '–');
    });
    this.#draw();
    this.#fill();
  }

  #stacked() {
    const levels = [];
    let below = this.#times.map(() => 0);
    for (const series of this.#values) {
      const high = this.#options.isStacked ? series.map((value, i) => value === null ? null : value + below[i]) : series;
      levels.push({ low: this.#options.isStacked ? below : this.#times.map(() => 0), high });
      below = this.#options.isStacked ? high.map((value, i) => value ?? below[i]) : below;
    }
    return levels;
  }

  #draw() {
    const width = this.#svg.parentElement?.clientWidth ?? 0;
    if (width < 50) {
      return;
    }
    const levels = this.#stacked();
    const all = levels.flatMap(level => level.high).filter(value => value !== null && value !== undefined);
    const marks = ticks(this.#options.most ?? Math.max(0, ...all), this.#options.axis);
    const most = this.#options.most ?? marks.at(-1);
    const begin = this.#endMs - this.#lengthMs;
    const labels = new Map(marks.filter(mark => mark <= most * 1.001).map(mark => [mark, this.#options.axis.label(mark)]));
    const left = Math.ceil(Math.max(...[...labels.values()].map(label => this.#widthOf(label)))) + labelGap;
    const x = time => left + (time - begin) / Math.max(1, this.#lengthMs) * (width - left - margin.right);
    const y = value => height - margin.bottom - Math.min(1, value / most) * (height - margin.top - margin.bottom);
    const parts = [];
    for (const [mark, label] of labels) {
      parts.push(el('line', { class: 'grid', x1: left, x2: width - margin.right, y1: y(mark), y2: y(mark) }));
      parts.push(el('text', { class: 'axis', x: left - labelGap, y: y(mark) + 4, 'text-anchor': 'end' }, label));
    }
    for (const part of width < 420 ? [0, 1] : [0, 0.5, 1]) {
      const time = begin + part * this.#lengthMs;
      parts.push(el('text', {
        class: 'axis', x: left + part * (width - left - margin.right), y: height - 5,
        'text-anchor': part === 0 ? 'start' : part === 1 ? 'end' : 'middle',
      }, this.#lengthMs > 600_000 ? minute(time) : clock(time)));
    }
    levels.forEach((level, i) => {
      const tone = `tone-${this.#options.series[i].tone}`;
      if (i === 0 || this.#options.isStacked) {
        parts.push(el('path', { class: `area ${tone}`, d: areaPath(this.#times, level.low, level.high, x, y) }));
      }
      parts.push(el('path', { class: `line ${tone}`, d: linePath(this.#times.map((time, n) => [time, level.high[n]]), x, y) }));
    });
    parts.push(...this.#point(width, x, y, levels));
    this.#svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.#svg.setAttribute('width', width);
    this.#svg.setAttribute('aria-label', `${this.title}: ${this.#options.series.map((series, i) => `${series.label} ${this.#legend[i].textContent}`).join(', ')} at ${clock(this.#endMs)}.`);
    this.#svg.replaceChildren(...parts);
  }

  // The width of a label depends on the user's font, so it is measured.
  #widthOf(label) {
    if (!this.#widths.has(label)) {
      const text = el('text', { class: 'axis' }, label);
      this.#svg.append(text);
      this.#widths.set(label, text.getComputedTextLength());
      text.remove();
    }
    return this.#widths.get(label);
  }

  // Shows the values at the time under the pointer.
  #point(width, x, y, levels) {
    if (this.#pointerX === null || this.#times.length === 0) {
      this.#tip.hidden = true;
      return [];
    }
    let nearest = 0;
    this.#times.forEach((time, i) => {
      if (Math.abs(x(time) - this.#pointerX) < Math.abs(x(this.#times[nearest]) - this.#pointerX)) {
        nearest = i;
      }
    });
    const at = x(this.#times[nearest]);
    this.#tip.hidden = false;
    this.#tip.replaceChildren(
      el('time', {}, clock(this.#times[nearest])),
      ...this.#options.series.map((series, i) => el('span', { class: `tone-${series.tone}` }, el('span', { class: 'dot' }), `${series.label} `,
        el('b', {}, this.#values[i][nearest] === null ? '–' : this.#options.format(this.#values[i][nearest])))));
    const room = this.#tip.offsetWidth;
    this.#tip.style.setProperty('left', `${Math.min(Math.max(0, at - room / 2), width - room)}px`);
    return [
      el('line', { class: 'cross', x1: at, x2: at, y1: margin.top, y2: height - margin.bottom }),
      ...levels.flatMap((level, i) => level.high[nearest] === null || level.high[nearest] === undefined ? []
        : [el('circle', { class: `point tone-${this.#options.series[i].tone}`, cx: at, cy: y(level.high[nearest]), r: 3.500 })]),
    ];
  }

  #fill() {
    if (!this.#details.open) {
      return;
    }
    const step = Math.max(1, Math.ceil(this.#times.length / 12));
    const rows = [];
    for (let i = this.#times.length - 1; i >= 0; i -= step) {
      rows.push(el('tr', {}, el('th', { scope: 'row' }, clock(this.#times[i])),
        this.#values.map(series => el('td', { class: 'number' }, series[i] === null ? '–' : this.#options.format(series[i])))));
    }
    this.#rows.replaceChildren(...rows);
  }
}

/** Returns a line chart without axes, for a tile. */
export function sparkline(values, tone, most = undefined) {
  const known = values.slice(-120);
  const top = most ?? Math.max(1e-9, ...known.filter(value => value !== null));
  const x = i => i / Math.max(1, known.length - 1) * 100;
  const y = value => 29 - Math.min(1, value / top) * 26;
  const points = known.map((value, i) => [i, value]);
  return el('svg', { class: `spark tone-${tone}`, viewBox: '0 0 100 30', preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' },
    el('path', { class: 'area', d: areaPath(known.map((_, i) => i), known.map(() => 0), known, x, value => value === 0 ? 30 : y(value)) }),
    el('path', { class: 'line', d: linePath(points, x, y) }));
}

/** Returns a table of bars for rows of { label, parts: [{ value, tone }], text }. */
export function bars(caption, rows, { head = ['', ''], most = undefined } = {}) {
  const top = most ?? Math.max(1e-9, ...rows.map(row => row.parts.reduce((sum, part) => sum + part.value, 0)));
  return el('table', { class: 'bars' },
    el('caption', { class: 'unseen' }, caption),
    el('thead', { class: 'unseen' }, el('tr', {}, el('th', { scope: 'col' }, head[0]), el('th', { scope: 'col' }, head[1]))),
    el('tbody', {}, rows.map(row => {
      let from = 0;
      const pieces = row.parts.map(part => {
        const width = part.value / top * 100;
        const piece = el('rect', { class: `tone-${part.tone}`, x: from, y: 0, width: Math.max(part.value > 0 ? 0.4 : 0, width), height: 10 });
        from += width;
        return piece;
      });
      return el('tr', {}, el('th', { scope: 'row' }, row.label),
        el('td', {}, el('div', {}, el('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' },
          el('rect', { class: 'track', x: 0, y: 0, width: 100, height: 10 }), pieces), el('span', {}, row.text))));
    })));
}
