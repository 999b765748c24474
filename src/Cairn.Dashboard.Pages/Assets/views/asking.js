// A view that asks for something of its own, again and again while it is seen.
import { el, setText } from '../dom.js';
import { pace } from '../pace.js';

/** Calls `load` now and every so often, and `draw` with what it gave; says so where it failed. */
export function asking(root, load, draw, intervalMs = 2000) {
  const error = el('p', { class: 'error', hidden: true });
  root.prepend(error);
  let isOver = false;
  let isAsking = false;
  let isDrawn = false;
  async function ask() {
    if (isAsking || isOver || document.hidden || (pace.isPaused && isDrawn)) {
      return;
    }
    isAsking = true;
    try {
      const answer = await load();
      if (!isOver) {
        draw(answer);
        isDrawn = true;
      }
      error.hidden = true;
    } catch (failure) {
      setText(error, failure.message);
      error.hidden = failure.status === 0; // The frame says that the server does not answer.
    } finally {
      isAsking = false;
    }
  }
  ask();
  setTimeout(ask, Math.min(700, intervalMs / 2)); // Rates need two looks.
  const timer = setInterval(ask, intervalMs);
  return {
    refresh: ask,
    leave() {
      isOver = true;
      clearInterval(timer);
    },
  };
}
