// Numbers for people.
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

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

/** 1,234, 12.3 k, 4.56 M. */
export function count(value) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return '–';
  }
  if (Math.abs(value) < 10_000) {
    return value !== 0 && Math.abs(value) < 10 && !Number.isInteger(value) ? value.toFixed(1) : whole.format(value);
  }
  const [scale, unit] = scaled(value, 1000, ['', 'k', 'M', 'G', 'T']);
  return `${significant(scale)} ${unit}`;
}

/** 1,234,567. */
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
  return `${value >= 99.95 || value === 0 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} %`;
}

/** A span of time in its two largest units. */
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

export const clock = ms => new Date(ms).toLocaleTimeString('en-GB');

export const moment = ms => new Date(ms).toLocaleString('sv-SE');
