// Prints the replies that ioredis gets from a server. Argument: PORT.
const { once } = require('node:events');
const Redis = require('ioredis');

const port = Number(process.argv[2]);
const textOf = (_, answer) => answer instanceof Error ? answer.message : answer;
const show = (what, ...answers) => console.log(what, JSON.stringify(answers, textOf));
const connect = options => new Redis({ port, maxRetriesPerRequest: 1, ...options });

async function tried(action) {
  try {
    return await action();
  } catch (error) {
    return error.message;
  }
}

// Time passes between two requests, so the remaining time is rounded up to ten seconds.
async function left(redis, key) {
  const seconds = await redis.ttl(key);
  return seconds < 0 ? seconds : Math.ceil(seconds / 10) * 10;
}

async function run(options) {
  show('options', options);
  const redis = connect(options);
  const other = connect(options);

  show('flushall', await redis.flushall(), await redis.ping(), await redis.echo('hello'));
  show('set', await redis.set('book', 'Dune'), await redis.set('book', 'x', 'NX'), await redis.set('book', 'Emma', 'EX', 100, 'GET'));
  show('get', await redis.get('book'), await redis.get('nothing'), await redis.getrange('book', 1, 2), await left(redis, 'book'));
  show('buffer', await redis.set('bytes', Buffer.from([0, 10, 13, 255])), (await redis.getBuffer('bytes')).toString('hex'));
  show('large', await redis.set('large', 'ü'.repeat(500000)), (await redis.get('large')).length);
  show('mset', await redis.mset({ a: 1, b: 2 }), await redis.mget('a', 'b', 'nothing'), await redis.msetnx('a', 1, 'c', 2));
  show('incr', await redis.incr('n'), await redis.incrby('n', 41), await redis.decr('n'), await redis.incrbyfloat('f', 0.5));
  show('append', await redis.append('t', 'ab'), await redis.setrange('t', 1, 'XY'), await redis.strlen('t'), await redis.getdel('t'));
  show('expire', await redis.expire('a', 100), await left(redis, 'a'), await redis.expiretime('a') > 1e9, await redis.persist('a'), await redis.pttl('a'));
  show('keys', (await redis.keys('*')).sort(), await redis.exists('a', 'x'), await redis.type('a'), await redis.dbsize());
  show('rename', await redis.rename('a', 'z'), await redis.renamenx('b', 'z'), await redis.copy('z', 'y'), await redis.unlink('y', 'x'), await redis.del('z'));
  show('errors', await tried(() => redis.incr('book')), await tried(() => redis.hget('book', 'f')), await tried(() => redis.call('nonsense', 'x')), await tried(() => redis.call('get')));

  show('hset', await redis.hset('h', { f: 'v', g: 1 }), await redis.hset('h', 'f', 'w', 'i', 'ü'), await redis.hsetnx('h', 'f', 'x'));
  show('hget', await redis.hget('h', 'i'), await redis.hmget('h', 'f', 'x'), await redis.hgetall('h'), await redis.hgetall('nothing'));
  show('hincrby', await redis.hincrby('h', 'g', 2), await redis.hincrbyfloat('h', 'd', 1.5), await redis.hlen('h'), await redis.hexists('h', 'x'));
  show('hscan', await redis.hscan('h', 0), await redis.hkeys('h'), await redis.hvals('h'), await redis.hdel('h', 'f', 'x'));

  await redis.mset(Object.fromEntries(Array.from({ length: 300 }, (_, i) => ['scan:' + i, i])));
  const found = [];
  for await (const keys of redis.scanStream({ match: 'scan:*', count: 50 })) {
    found.push(...keys);
  }
  show('scan', found.sort());

  show('pipeline', await redis.pipeline().set('p', 1).incr('p').get('p').hgetall('h').incr('book').exec());
  show('at once', await Promise.all(Array.from({ length: 500 }, (_, i) => redis.set('s' + i, i).then(() => redis.get('s' + i)))));
  show('multi', await redis.multi().set('m', 1).incr('m').hgetall('h').exec());
  show('multi with an error', await redis.multi().set('m', 'x').incr('m').get('m').exec());
  show('aborted', await tried(() => redis.multi().set('m', 1).call('get').exec()));
  await redis.watch('w');
  await other.set('w', 'changed');
  show('watched and changed', await redis.multi().set('w', 'mine').exec());
  await redis.watch('w');
  show('watched', await redis.multi().set('w', 'mine').exec(), await redis.get('w'));

  const subscriber = redis.duplicate();
  const heard = [];
  subscriber.on('message', (...values) => heard.push(values));
  subscriber.on('pmessage', (...values) => heard.push(values));
  show('subscribe', await subscriber.subscribe('news', 'more'), await subscriber.psubscribe('n*'));
  show('while subscribed', await tried(() => subscriber.get('n')), await tried(() => subscriber.ping()));
  show('publish', await other.publish('news', 'one'), await other.publish('more', 'two'), await other.publish('x', 'three'));
  show('pubsub', (await other.pubsub('CHANNELS')).sort(), await other.pubsub('NUMSUB', 'news', 'x'), await other.pubsub('NUMPAT'));
  show('unsubscribe', await subscriber.unsubscribe('news', 'more'), await subscriber.punsubscribe('n*'), await subscriber.get('n'), heard);

  const information = await redis.info();
  const clients = await redis.client('LIST');
  show('info', ['redis_version:7', 'role:master', 'loading:0', 'used_memory:', 'db0:keys='].map(text => information.includes(text)));
  show('client', await redis.client('SETNAME', 'tester'), await redis.client('GETNAME'), clients.includes('name='), typeof await redis.client('ID'));
  show('config', await redis.config('GET', 'databases'), (await redis.time()).length, await redis.select(0), await tried(() => redis.select(1)));
  show('flushdb', await redis.flushdb(), await redis.dbsize());
  show('quit', await redis.quit(), await other.quit(), await subscriber.quit());
}

// The server sends invalidations to a connection that has subscribed to them. With RESP3, ioredis must ignore them.
async function track(protocol) {
  const redis = connect({ protocol });
  const other = connect({ protocol });
  const listener = connect({ protocol: 2 });
  const id = await listener.client('ID');
  await listener.subscribe('__redis__:invalidate');
  await redis.flushall();
  await redis.set('tracked', 1);
  show('tracking', protocol, await redis.client('TRACKING', 'ON', 'REDIRECT', id), await redis.get('tracked'));
  const [[channel, key]] = await Promise.all([once(listener, 'message'), other.set('tracked', 2)]);
  show('invalidated', channel, key, await redis.get('tracked'), await redis.client('TRACKING', 'OFF'));
  if (protocol === 3) {
    show('pushes', await redis.client('TRACKING', 'ON', 'BCAST'), await redis.set('tracked', 3), await redis.get('tracked'));
  }
  [redis, other, listener].forEach(connection => connection.disconnect());
}

(async () => {
  for (const protocol of [2, 3]) {
    await run({ protocol });
    await run({ protocol, connectionName: 'named', enableAutoPipelining: true });
    await track(protocol);
  }
  await run({ protocol: 3, replyMapping: 'resp3' });
  const unwelcome = connect({ password: 'wrong' });
  show('password', await tried(() => unwelcome.ping()));
  unwelcome.disconnect();
  console.log('done');
})();
