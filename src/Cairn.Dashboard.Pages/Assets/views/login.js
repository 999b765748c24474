// The login form.
import { el, setText } from '../dom.js';
import { post } from '../api.js';

export function login(done, kind) {
  const isStore = kind === 'store';
  const user = el('input', { id: 'login-user', name: 'username', autocomplete: 'username', spellcheck: 'false', autocapitalize: 'none' });
  const password = el('input', { id: 'login-password', name: 'password', type: 'password', autocomplete: 'current-password' });
  const error = el('p', { class: 'error', role: 'alert', id: 'login-error' });
  const button = el('button', { type: 'submit', class: 'main' }, 'Log in');
  const form = el('form', {
    class: 'card login',
    onsubmit: async event => {
      event.preventDefault();
      button.disabled = true;
      setText(error, '');
      try {
        await post('login', { user: user.value, password: password.value });
        done();
      } catch (failure) {
        setText(error, failure.status === 401 ? 'Wrong user or password.' : failure.message);
        password.value = '';
        password.focus();
      } finally {
        button.disabled = false;
      }
    },
  },
  el('h1', {}, 'Log in'),
  el('p', { class: 'hint' }, isStore
    ? 'Open the whole address that cairn open has printed, or enter what follows open= in it.'
    : 'With a user of this server. Leave the name empty if there is only a password.'),
  ...(isStore ? [] : [el('label', { for: 'login-user' }, 'User'), user]),
  el('label', { for: 'login-password' }, isStore ? 'Secret' : 'Password'), password,
  error, button);
  return form;
}
