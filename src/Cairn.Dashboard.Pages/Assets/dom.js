// Creates elements. Text is always set as text, never as markup, because keys and values may contain anything.
const svgNames = new Set(['svg', 'path', 'rect', 'line', 'circle', 'g', 'text', 'title', 'polyline']);

/** Creates an element with attributes and children: el('p', { class: 'note' }, 'text', other). Properties that begin with `on` are listeners. */
export function el(name, attributes = {}, ...children) {
  const isSvg = svgNames.has(name);
  const element = isSvg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (key.startsWith('on')) {
      element.addEventListener(key.slice(2), value);
    } else {
      element.setAttribute(key, value === true ? '' : String(value));
    }
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

/** Sets the text of an element only if it differs, which preserves the focus and the selection. */
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

const paths = {
  overview: 'M2.500 14.500l4-5 3.500 3 4-6.500 3.500 3',
  commands: 'M4 6l4 4-4 4M10 14.500h6',
  memory: 'M3 5.500h14M3 10h14M3 14.500h9',
  keys: 'M12.500 11.500a4 4 0 1 0-3-3L3 15v2h3v-2h2v-2z',
  hot: 'M10 17.500c3.300 0 5.500-2.300 5.500-5.300 0-4-4-5.200-3.500-9.700-3 1-5 4-4.500 6.500-1-.3-1.500-1-1.500-2-1 1.300-1.500 3-1.500 5.200 0 3 2.200 5.300 5.500 5.300z',
  slow: 'M10 5.500V10l3 2M10 2.500a7.500 7.500 0 1 1 0 15 7.500 7.500 0 0 1 0-15z',
  clients: 'M6 4.500h8v5H6zM10 9.500v3M4 15.500h12M10 12.500v3',
  caches: 'M10 3l7 3.500-7 3.500-7-3.500zM3 10l7 3.500 7-3.500M3 13.500L10 17l7-3.500',
};

/** Returns the icon of a view. */
export function icon(name) {
  return el('svg', { viewBox: '0 0 20 20', class: 'glyph', 'aria-hidden': 'true', focusable: 'false' }, el('path', { d: paths[name] ?? paths.overview }));
}

/** Returns a card with a heading. */
export function card(title, ...children) {
  return el('section', { class: 'card', 'aria-label': title }, el('h2', {}, title), ...children);
}

/** Returns a table. Columns are { label, isNumber, cell(row) }, and cells are nodes or texts. Narrow windows show each row as a block. */
export function table(caption, columns, rows, empty = 'Nothing here.') {
  const head = el('tr', {}, columns.map(column => el('th', { scope: 'col', class: column.isNumber ? 'number' : null }, column.label)));
  const body = rows.map(row => el('tr', {}, columns.map((column, i) => {
    const content = column.cell(row);
    return el(i === 0 ? 'th' : 'td', {
      scope: i === 0 ? 'row' : null,
      class: [column.isNumber ? 'number' : '', column.class ?? ''].join(' ').trim() || null,
      'data-label': column.label,
    }, content instanceof Node ? content : String(content));
  })));
  if (rows.length === 0) {
    body.push(el('tr', {}, el('td', { colspan: columns.length, class: 'empty' }, empty)));
  }
  return el('table', {}, el('caption', { class: 'unseen' }, caption), el('thead', {}, head), el('tbody', {}, body));
}

let announcing = 0;

/** Announces a text to screen readers. Within 150 ms, only the latest text is announced. */
export function announce(text) {
  clearTimeout(announcing);
  announcing = setTimeout(() => setText(document.getElementById('announcer'), text), 150);
}
