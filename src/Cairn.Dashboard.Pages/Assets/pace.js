// Whether figures are updated. They are not while the user has paused the page, and while the server does not answer.
export const pace = { isPaused: false, lostAt: 0 };
