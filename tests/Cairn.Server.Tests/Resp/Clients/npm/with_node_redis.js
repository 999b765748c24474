// Prints the replies that node-redis gets from a server. Argument: PORT.
const { once } = require('node:events');
const { createClient } = require('redis');

const url = 'redis://127.0.0.1:' + process.argv[2];
const textOf = (_, answer) => answer instanceof Error ? answer.message : answer;
const show = (what, ...answers) => console.log(what, JSON.stringify(answers, textOf));

async function connect(options) {
  const client = createClient({ url, ...options });
  client.on('error', error => show('error', error));
  return await client.connect();
}

async function tried(action) {
  try {
    return await action();
  } catch (error) {
    return error;
  }
}

// Time passes between two requests, so the remaining time is rounded up to ten seconds.
async function left(client, key) {
  const seconds = await client.ttl(key);
  return seconds < 0 ? seconds : Math.ceil(seconds / 10) * 10;
}

async function run(options) {
  show('options', options);
  const client = await connect(options);
  const other = await connect(options);

  show('flushAll', await client.flushAll(), await client.ping(), await client.echo('hello'));
  show('set', await client.set('book', 'Dune'), await client.set('book', 'x', { condition: 'NX' }), await client.set('book', 'Emma', { expiration: { type: 'EX', value: 100 }, GET: true }));
  show('get', await client.get('book'), await client.get('nothing'), await client.getRange('book', 1, 2), await left(client, 'book'));
  show('buffer', await client.set('bytes', Buffer.from([0, 10, 13, 255])), await client.strLen('bytes'));
  show('large', await client.set('large', 'ü'.repeat(500000)), (await client.get('large')).length);
  show('mSet', await client.mSet({ a: '1', b: '2' }), await client.mGet(['a', 'b', 'nothing']), await client.mSetNX({ a: '1', c: '2' }));
  show('incr', await client.incr('n'), await client.incrBy('n', 41), await client.decr('n'), await client.incrByFloat('f', 0.5));
  show('append', await client.append('t', 'ab'), await client.setRange('t', 1, 'XY'), await client.getEx('t', { type: 'EX', value: 50 }), await client.getDel('t'));
  show('expire', await client.expire('a', 100), await left(client, 'a'), await client.expire('a', 50, 'GT'), await client.expireTime('a') > 1e9, await client.persist('a'));
  show('keys', (await client.keys('*')).sort(), await client.exists(['a', 'x']), await client.type('a'), await client.dbSize(), await client.touch(['a', 'x']));
  show('rename', await client.rename('a', 'z'), await client.renameNX('b', 'z'), await client.copy('z', 'y'), await client.unlink(['y', 'x']), await client.del('z'));
  show('errors', await tried(() => client.incr('book')), await tried(() => client.hGet('book', 'f')), await tried(() => client.sendCommand(['nonsense', 'x'])), await tried(() => client.sendCommand(['get'])));

  show('hSet', await client.hSet('h', { f: 'v', g: '1' }), await client.hSet('h', 'i', 'ü'), await client.hSetNX('h', 'f', 'x'));
  show('hGet', await client.hGet('h', 'i'), await client.hmGet('h', ['f', 'x']), await client.hGetAll('h'), await client.hGetAll('nothing'));
  show('hIncrBy', await client.hIncrBy('h', 'g', 2), await client.hIncrByFloat('h', 'd', 1.5), await client.hLen('h'), await client.hExists('h', 'x'), await client.hStrLen('h', 'f'));
  show('hScan', await client.hScan('h', '0'), await client.hKeys('h'), await client.hVals('h'), await client.hDel('h', ['f', 'x']));

  await client.mSet(Array.from({ length: 300 }, (_, i) => ['scan:' + i, String(i)]));
  const found = [];
  for await (const keys of client.scanIterator({ MATCH: 'scan:*', COUNT: 50 })) {
    found.push(...keys);
  }
  show('scan', found.sort());

  show('at once', await Promise.all(Array.from({ length: 500 }, (_, i) => client.set('s' + i, String(i)).then(() => client.get('s' + i)))));
  show('multi', await client.multi().set('m', '1').incr('m').hGetAll('h').exec());
  show('pipeline', await client.multi().set('m', '1').incr('m').get('nothing').execAsPipeline());
  const failed = await tried(() => client.multi().set('m', 'x').incr('m').get('m').exec());
  show('multi with an error', failed, failed.replies);
  await client.watch('w');
  await other.set('w', 'changed');
  show('watched and changed', await tried(() => client.multi().set('w', 'mine').exec()));
  await client.watch('w');
  show('watched', await client.multi().set('w', 'mine').exec(), await client.get('w'), await client.unwatch());

  const subscriber = client.duplicate();
  await subscriber.connect();
  const heard = [];
  const hear = (message, channel) => heard.push([message, channel]);
  await subscriber.subscribe(['news', 'more'], hear);
  await subscriber.pSubscribe('n*', hear);
  show('publish', await other.publish('news', 'one'), await other.publish('more', 'two'), await other.publish('x', 'three'));
  show('pubSub', (await other.pubSubChannels()).sort(), await other.pubSubNumSub(['news', 'x']), await other.pubSubNumPat(), await subscriber.ping());
  await subscriber.unsubscribe(['news', 'more']);
  await subscriber.pUnsubscribe('n*');
  show('heard', heard, await subscriber.get('n'));

  const information = await client.info();
  const mine = await client.clientInfo();
  show('info', ['redis_version:7', 'role:master', 'loading:0', 'used_memory:', 'db0:keys='].map(text => information.includes(text)));
  show('client', await client.clientSetName('tester'), await client.clientGetName(), [mine.db, mine.resp, mine.user, mine.multi], (await client.clientList()).filter(item => item.name === 'tester').length);
  show('config', await client.configGet('databases'), (await client.time()) !== null, await client.select(0), await tried(() => client.select(1)));
  show('memory', await client.memoryUsage('n') > 0, await client.memoryUsage('nothing'), await client.objectEncoding('n'), await client.commandCount() > 80);
  show('flushDb', await client.flushDb(), await client.dbSize());
  await Promise.all([client.close(), other.close(), subscriber.close()]);
}

// The client keeps the values that it has read until the server invalidates them.
async function cache() {
  const client = await connect({ RESP: 3, clientSideCache: { ttl: 0, maxEntries: 100, evictPolicy: 'LRU' } });
  const other = await connect({ RESP: 3 });
  const kept = client.clientSideCache;
  const told = async action => (await Promise.all([once(kept, 'invalidate'), action()]))[0].map(String);
  const read = async () => [await client.get('cached'), await client.get('cached'), await client.mGet(['second', 'cached']), await client.hGetAll('hash')];

  const counted = () => [kept.stats().hitCount, kept.stats().missCount, kept.stats().evictionCount];

  await other.flushAll();
  await other.mSet({ cached: '1', second: '2' });
  await other.hSet('hash', { f: 'v' });
  show('read', await read(), await read(), counted(), kept.size());
  show('changed', await told(() => other.set('cached', '3')), await read());
  show('hash changed', await told(() => other.hSet('hash', { f: 'w' })), await read());
  show('second changed', await told(() => other.incr('second')), await read());
  show('changed by a transaction', await told(() => other.multi().incr('cached').exec()), await read());
  show('expires', await told(() => other.pExpire('cached', 2000)), await client.get('cached'));
  show('expired', await told(() => {}), await client.get('cached'));
  show('removed', await told(() => other.del('hash')), await read());
  show('own change', await told(() => client.set('cached', '4')), await read());
  show('emptied', await told(() => other.flushAll()), await read(), counted());
  await Promise.all([client.close(), other.close()]);
}

(async () => {
  for (const RESP of [2, 3]) {
    await run({ RESP });
    await run({ RESP, name: 'named' });
  }
  await cache();
  const unwelcome = createClient({ url, password: 'wrong', socket: { reconnectStrategy: false } });
  unwelcome.on('error', () => {});
  show('password', await tried(() => unwelcome.connect().then(client => client.ping())));
  await tried(() => unwelcome.destroy());
  console.log('done');
})();
