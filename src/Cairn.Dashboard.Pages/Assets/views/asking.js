// A view with its own periodic request while it is visible.
import { el, setText } from '../dom.js';
import { pace } from '../pace.js';

/** Calls `load` now and periodically, and `draw` with its result. Shows the error if it fails. */
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
      error.hidden = failure.status === 0; // The frame reports that the server does not answer.
    } finally {
      isAsking = false;
    }
  }
  ask();
  setTimeout(ask, Math.min(700, intervalMs / 2)); // Rates need two samples.
  const timer = setInterval(ask, intervalMs);
  return {
    refresh: ask,
    leave() {
      isOver = true;
      clearInterval(timer);
    },
  };
}
