// The figures of the last minutes, kept up to date.
import { get } from './api.js';

const keptMs = 10 * 60_000;

export class Live {
  #names = new Map();
  #samples = [];
  #next = 0;
  #channel;
  now = null;
  nowMs = 0;

  constructor(channel = '') {
    this.#channel = channel;
  }

  async refresh() {
    const answer = await get(`live?channel=${encodeURIComponent(this.#channel)}&after=${this.#next}`);
    if (answer.next < this.#next) {
      this.#samples = []; // Another server than before.
    }
    this.#next = answer.next;
    this.#names = new Map(answer.series.map((series, i) => [series.name, i + 1]));
    for (const sample of answer.samples) {
      if (sample[0] > (this.#samples.at(-1)?.[0] ?? 0)) {
        this.#samples.push(sample); // A clock that was set back makes a gap.
      }
    }
    const oldest = answer.nowMs - keptMs;
    while (this.#samples.length > 2 && this.#samples[0][0] < oldest) {
      this.#samples.shift();
    }
    this.now = answer.now;
    this.nowMs = answer.nowMs;
  }

  /** Times of what rates and levels tell, in milliseconds. */
  get times() {
    return this.#samples.slice(1).map(sample => sample[0]);
  }

  /** Per second, from one sample to the next; null where the count began anew. */
  rates(...names) {
    const places = names.map(name => this.#names.get(name));
    const sum = sample => places.reduce((total, place) => total + sample[place], 0);
    return this.#samples.slice(1).map((sample, i) => {
      const before = this.#samples[i];
      const change = sum(sample) - sum(before);
      const seconds = (sample[0] - before[0]) / 1000;
      return change < 0 || seconds <= 0 ? null : change / seconds;
    });
  }

  levels(name) {
    const place = this.#names.get(name);
    return this.#samples.slice(1).map(sample => sample[place]);
  }

  /** One count as a part of several, from one sample to the next; null where nothing happened. */
  ratios(part, ...whole) {
    const parts = this.rates(part);
    const wholes = this.rates(...whole);
    return parts.map((value, i) => value === null || !wholes[i] ? null : value / wholes[i]);
  }
}

/** The last that is known, over a few seconds so that it does not flicker. */
export function latest(values, over = 3) {
  const known = values.slice(-over).filter(value => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
