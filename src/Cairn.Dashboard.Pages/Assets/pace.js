// Whether the figures move on: they do not while the reader has paused the page, and while the server does not answer.
export const pace = { isPaused: false, lostAt: 0 };
