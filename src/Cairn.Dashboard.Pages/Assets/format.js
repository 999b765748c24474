// Formats numbers for people.
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** Formats a number with its unit, such as 1 key or 2 keys. */
export const plural = (value, one, many = `${one}s`) => `${exact(value)} ${value === 1 ? one : many}`;

function significant(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value, step, units) {
  let unit = 0;
  while (Math.abs(value) >= step && unit < units.length - 1) {
    value /= step;
    unit++;
  }
  return [value, units[unit]];
}

/** Formats a number briefly, such as 0.043, 1,234, 12.3 k or 4.56 M. */
export function count(value) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return '–';
  }
  if (Math.abs(value) < 10_000) {
    return Math.abs(value) < 10 && !Number.isInteger(value) ? String(Number(value.toPrecision(2))) : whole.format(value);
  }
  const [scale, unit] = scaled(value, 1000, ['', 'k', 'M', 'G', 'T']);
  return `${significant(scale)} ${unit}`;
}

/** Formats a number with all digits, such as 1,234,567. */
export const exact = value => whole.format(value);

export function bytes(value) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return '–';
  }
  const [scale, unit] = scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
  return `${unit === 'B' ? whole.format(scale) : significant(scale)} ${unit}`;
}

export function duration(ns) {
  if (!ns) {
    return '–';
  }
  if (ns < 1e3) {
    return `${ns.toFixed(0)} ns`;
  }
  if (ns < 1e6) {
    return `${significant(ns / 1e3)} µs`;
  }
  return ns < 1e9 ? `${significant(ns / 1e6)} ms` : `${significant(ns / 1e9)} s`;
}

export function percent(part) {
  if (part === null || part === undefined || Number.isNaN(part)) {
    return '–';
  }
  const value = part * 100;
  return `${value === 100 || value === 0 ? value.toFixed(0) : value < 0.01 ? '< 0.01' : value >= 10 ? Math.min(value, 99.9).toFixed(1) : value.toFixed(2)} %`;
}

/** Formats a duration in its two largest units. */
export function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const first = parts.findIndex(([size]) => seconds >= size);
  if (first < 0) {
    return '0 s';
  }
  const [size, unit] = parts[first];
  const rest = first + 1 < parts.length ? Math.floor(seconds % size / parts[first + 1][0]) : 0;
  return rest ? `${Math.floor(seconds / size)} ${unit} ${rest} ${parts[first + 1][1]}` : `${Math.floor(seconds / size)} ${unit}`;
}

// Formats an axis label exactly: the value is a round number in its unit, and all its digits are shown.
function exactly(value, step, units) {
  const [scale, unit] = scaled(value, step, units);
  return `${Number(scale.toPrecision(9))}${unit ? ` ${unit}` : ''}`;
}

/** The kinds of axes: the base in which steps between labels are round, the smallest step, and the label of a value. */
export const axes = {
  count: { base: 10, least: 0, label: value => value < 10_000 ? exactly(value, Infinity, ['']) : exactly(value, 1000, ['', 'k', 'M', 'G', 'T']) },
  whole: { base: 10, least: 1, label: value => axes.count.label(value) },
  bytes: { base: 2, least: 1, label: value => value === 0 ? '0' : exactly(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']) },
  bytesPerSecond: { base: 2, least: 1, label: value => value === 0 ? '0' : `${axes.bytes.label(value)}/s` },
  duration: { base: 10, least: 1, label: value => value === 0 ? '0' : exactly(value, 1000, ['ns', 'µs', 'ms', 's']) },
  percent: { base: 10, least: 0, label: value => exactly(value * 100, Infinity, ['%']) },
};

export const clock = ms => new Date(ms).toLocaleTimeString('en-GB');

export const minute = ms => clock(ms).slice(0, 5);

export const moment = ms => new Date(ms).toLocaleString('sv-SE');
