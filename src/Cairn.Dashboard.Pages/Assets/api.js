// Sends requests to the server.
let token = '';
let whenLost = () => {};

// A stopped process keeps its connections open, so only a timeout detects that it does not answer.
const longestMs = 20_000;

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, options, mostMs = longestMs) {
  let response;
  let body;
  try {
    const limit = mostMs === Infinity ? undefined : AbortSignal.timeout(mostMs);
    response = await fetch(`api/${path}`, { credentials: 'same-origin', cache: 'no-store', signal: limit, ...options });
    body = await response.json().catch(error => {
      if (error.name === 'SyntaxError') {
        return {};
      }
      throw error;
    });
  } catch {
    const error = new ApiError(0, 'The server does not answer.');
    whenLost(error);
    throw error;
  }
  if (!response.ok) {
    throw new ApiError(response.status, body.error ?? `The server answered ${response.status}.`);
  }
  return body;
}

export const get = (path, mostMs) => ask(path, {}, mostMs);

export const post = (path, body = {}, mostMs = undefined) => ask(path, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'X-Cairn-Token': token },
  body: JSON.stringify(body),
}, mostMs);

/** Sets the listener, which is called with the error whenever the server does not answer. */
export function onLost(listener) {
  whenLost = listener;
}

/** Returns the user, the available views, and the token that changes need. */
export async function session() {
  const answer = await get('session');
  token = answer.token;
  return answer;
}
