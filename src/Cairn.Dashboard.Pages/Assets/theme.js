// Before anything is drawn: what was chosen the last time, if anything was. Otherwise the system's colours are followed.
(() => {
  'use strict';
  try {
    const chosen = localStorage.getItem('cairn-theme');
    if (chosen === 'dark' || chosen === 'light') {
      document.documentElement.dataset.theme = chosen;
    }
  } catch {
    // A browser that keeps nothing follows the system.
  }
})();
