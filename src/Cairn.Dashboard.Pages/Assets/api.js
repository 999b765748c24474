// Asking the server.
let token = '';

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(`api/${path}`, { credentials: 'same-origin', cache: 'no-store', ...options });
  } catch {
    throw new ApiError(0, 'The server does not answer.');
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) {
    throw new ApiError(response.status, body.error ?? `The server answered ${response.status}.`);
  }
  return body;
}

export const get = (path, signal) => ask(path, { signal });

export const post = (path, body = {}, signal = undefined) => ask(path, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'X-Cairn-Token': token },
  body: JSON.stringify(body),
  signal,
});

/** Who we are, what there is to see, and the token that changes need. */
export async function session() {
  const answer = await get('session');
  token = answer.token;
  return answer;
}
