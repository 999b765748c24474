// Keeps the history of a range up to date.
import { get } from './api.js';

/** The ranges of charts, with the interval between their points. */
export const ranges = [
  { name: '5m', label: '5 min', lengthMs: 5 * 60_000, intervalMs: 1000, each: 'second' },
  { name: '1h', label: '1 h', lengthMs: 60 * 60_000, intervalMs: 10_000, each: '10 s' },
  { name: '24h', label: '24 h', lengthMs: 24 * 60 * 60_000, intervalMs: 120_000, each: '2 min' },
];

// The timeout after which a server counts as unreachable. It usually answers within milliseconds.
const longestMs = 4000;

export class Live {
  #names = new Map();
  #samples = [];
  #next = 0;
  #beganMs = 0;
  #channel;
  #range;
  now = null;
  nowMs = 0;

  constructor(channel = '', range = ranges[0]) {
    this.#channel = channel;
    this.#range = range;
  }

  get channel() {
    return this.#channel;
  }

  get range() {
    return this.#range;
  }

  get lengthMs() {
    return this.#range.lengthMs;
  }

  async refresh() {
    const answer = await this.#ask();
    const isAnother = answer.beganMs !== this.#beganMs && this.#beganMs !== 0;
    const whole = isAnother && this.#next !== 0 ? (this.#next = 0, await this.#ask()) : answer;
    if (isAnother) {
      this.#samples = []; // The server was restarted or replaced.
    }
    this.#beganMs = whole.beganMs;
    this.#next = whole.next;
    this.#names = new Map(whole.series.map((series, i) => [series.name, i + 1]));
    for (const sample of whole.samples) {
      if (sample[0] > (this.#samples.at(-1)?.[0] ?? 0)) {
        this.#samples.push(sample); // If the clock was set back, there is a gap.
      }
    }
    const oldest = whole.nowMs - this.#range.lengthMs - 2 * this.#range.intervalMs;
    while (this.#samples.length > 2 && this.#samples[0][0] < oldest) {
      this.#samples.shift();
    }
    this.now = whole.now;
    this.nowMs = whole.nowMs;
  }

  #ask() {
    return get(`live?channel=${encodeURIComponent(this.#channel)}&range=${this.#range.name}&after=${this.#next}`, longestMs);
  }

  // The indexes of the samples within the range. The first sample is left out, because it has no predecessor to compare with.
  get #shown() {
    const oldest = this.nowMs - this.#range.lengthMs;
    return this.#samples.map((_, i) => i).slice(1).filter(i => this.#samples[i][0] >= oldest);
  }

  /** The times of the rates and levels, in milliseconds. */
  get times() {
    return this.#shown.map(i => this.#samples[i][0]);
  }

  /** Returns the sums of counters per second, from one sample to the next; null if the counters were reset. */
  rates(...names) {
    const places = names.map(name => this.#names.get(name));
    const sum = sample => places.reduce((total, place) => total + sample[place], 0);
    return this.#shown.map(i => {
      const before = this.#samples[i - 1];
      const change = sum(this.#samples[i]) - sum(before);
      const seconds = (this.#samples[i][0] - before[0]) / 1000;
      return change < 0 || seconds <= 0 ? null : change / seconds;
    });
  }

  levels(name) {
    const place = this.#names.get(name);
    return this.#shown.map(i => this.#samples[i][place]);
  }

  /** Returns the ratio of a counter to the sum of several, from one sample to the next; null if there was no activity. */
  ratios(part, ...whole) {
    const parts = this.rates(part);
    const wholes = this.rates(...whole);
    return parts.map((value, i) => value === null || !wholes[i] ? null : value / wholes[i]);
  }
}

/** Returns the average of the latest known values, so that the figure does not flicker. */
export function latest(values, over = 3) {
  const known = values.slice(-over).filter(value => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
