// Runs before the page is drawn: applies the saved theme. Without one, the page uses the system's theme.
(() => {
  'use strict';
  try {
    const chosen = localStorage.getItem('cairn-theme');
    if (chosen === 'dark' || chosen === 'light') {
      document.documentElement.dataset.theme = chosen;
    }
  } catch {
    // A browser without local storage uses the system's theme.
  }
})();
