// Prints the replies that npm's memcached gets from a server. Argument: PORT.
const { promisify } = require('util');
const Memcached = require('memcached');

const lines = [];
const say = (...words) => lines.push(words.join(' ') + '\n');
const server = '127.0.0.1:' + process.argv[2];

async function run(options) {
  const client = new Memcached(server, { retries: 0, timeout: 20000, ...options });
  const call = (name, ...values) => promisify(client[name]).apply(client, values);
  const show = (what, ...answers) => say(what, JSON.stringify(answers));
  const tried = async (...values) => {
    try {
      return await call(...values);
    } catch (error) {
      return String(error.message).replaceAll(server, 'SERVER');
    }
  };

  show('options', options);
  await call('flush');
  show('get of nothing', await call('get', 'nothing') ?? null);
  for (const thing of ['Dune', 42, 1.5, true, [1, 'two'], { three: 3 }, 'ü', 'x'.repeat(500000)]) {
    show('set', await call('set', 'thing', thing, 100), await call('get', 'thing'));
  }
  show('buffer', await call('set', 'buffer', Buffer.from([0, 10, 13, 255]), 0), await call('get', 'buffer'));
  show('add', await tried('add', 'thing', 1, 0), await tried('add', 'new', 1, 0));
  show('replace', await tried('replace', 'thing', 'b', 0), await tried('replace', 'nothing', 1, 0));
  show('append', await call('append', 'thing', 'c'), await call('prepend', 'thing', 'a'), await call('get', 'thing'));
  show('incr', await call('set', 'count', 10, 0), await call('incr', 'count', 5), await call('decr', 'count', 20), await tried('incr', 'nothing', 1));
  const { count, cas } = await call('gets', 'count');
  show('cas', count, await tried('cas', 'count', 'x', cas, 0), await tried('cas', 'count', 'y', cas, 0), await call('get', 'count'));
  const keys = Array.from({ length: 100 }, (_, i) => 'k' + i);
  for (const key of keys) {
    await call('set', key, 'v' + key, 100);
  }
  show('getMulti', await call('getMulti', [...keys, 'nothing']));
  show('at once', await Promise.all(keys.map(key => call('get', key))));
  show('touch', await tried('touch', 'k1', 100), await tried('touch', 'nothing', 100));
  show('del', await tried('del', 'k1'), await tried('del', 'k1'));
  show('gone', await call('set', 'gone', 1, 60 * 60 * 24 * 31), (await call('get', 'gone')) ?? null);
  show('version', (await call('version'))[0].version.slice(0, 4));
  const statistics = (await call('stats'))[0];
  show('stats', ['curr_items', 'get_hits', 'bytes', 'threads'].map(name => typeof statistics[name]));
  show('settings', typeof (await call('settings'))[0].maxconns);
  show('slabs', Array.isArray(await call('slabs')));
  show('items', Array.isArray(await call('items')));
  show('flush', (await call('flush')).length, (await call('get', 'thing')) ?? null);
  client.end();
}

(async () => {
  await run({});
  await run({ poolSize: 1, namespace: 'app:' });
  await run({ keyCompression: true, maxKeySize: 100 });
  say('done');
})()
  .catch(error => say('failed', error.stack))
  .finally(() => process.stdout.write(lines.join(''), () => process.exit())); // Otherwise open connections would keep the process running.
