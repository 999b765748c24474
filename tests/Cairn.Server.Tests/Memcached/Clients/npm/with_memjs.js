// Prints the replies that npm's memjs, which speaks the binary protocol, gets from a server. Argument: PORT.
const { Client } = require('memjs');

const lines = [];
const client = Client.create('127.0.0.1:' + process.argv[2], { retries: 0, timeout: 20, logger: { log: () => {} } });

function show(what, ...answers) {
  lines.push(what + ' ' + JSON.stringify(answers.map(answer => (Buffer.isBuffer(answer) ? answer.toString('latin1') : answer))) + '\n');
}

async function tried(promise) {
  try {
    return await promise;
  } catch (error) {
    return String(error.message);
  }
}

async function read(key) {
  const { value, flags } = await client.get(key);
  return [value && value.toString('latin1'), flags && flags.toString('hex')];
}

(async () => {
  show('flush', await client.flush().then(result => Object.values(result)));
  show('get of nothing', await read('nothing'));
  for (const thing of ['Dune', '', 'ü', 'x'.repeat(500000)]) {
    show('set', await client.set('thing', thing, { expires: 100 }), await read('thing'));
  }
  show('buffer', await client.set('buffer', Buffer.from([0, 10, 13, 255]), {}), await read('buffer'));
  show('add', await tried(client.add('thing', '1', {})), await tried(client.add('new', '1', {})));
  show('replace', await tried(client.replace('thing', 'b', {})), await tried(client.replace('nothing', '1', {})));
  show('append', await client.append('thing', 'c'), await client.prepend('thing', 'a'), await read('thing'));
  show('append to nothing', await tried(client.append('nothing', 'c')));
  show('incr', await client.increment('count', 5, { initial: 10 }), await client.increment('count', 5, {}), await client.decrement('count', 100, {}));
  show('incr of text', await tried(client.increment('thing', 1, {})));
  const keys = Array.from({ length: 100 }, (_, i) => 'k' + i);
  show('at once', await Promise.all(keys.map(key => client.set(key, 'v' + key, {}))));
  show('get at once', (await Promise.all(keys.map(key => read(key)))).map(([value]) => value));
  show('touch', await tried(client.touch('k1', 100)), await tried(client.touch('nothing', 100)));
  show('delete', await tried(client.delete('k1')), await tried(client.delete('k1')));
  show('gone', await client.set('gone', '1', { expires: 60 * 60 * 24 * 31 }), await read('gone'));
  show('too large', await tried(client.set('large', 'x'.repeat(1100000), {})));
  const names = await new Promise(resolve => client.stats((error, server, stats) => resolve(error ? [String(error)] : ['curr_items', 'get_hits', 'bytes'].map(name => typeof stats[name]))));
  show('stats', names);
  client.close();
  lines.push('done\n');
})()
  .catch(error => lines.push('failed ' + error.stack + '\n'))
  .finally(() => process.stdout.write(lines.join(''), () => process.exit()));
