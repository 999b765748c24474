<?php
// Prints the replies that phpredis gets from a server. Argument: PORT.
$port = (int) $argv[1];

function show(string $what, ...$answers): void
{
    echo $what;
    foreach ($answers as $answer) {
        echo ' ', json_encode($answer, JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_UNESCAPED_UNICODE);
    }
    echo "\n";
}

function sorted(array $items): array
{
    sort($items);
    return $items;
}

// Time passes between two requests, so the remaining time is rounded up to ten seconds.
function left(Redis $redis, string $key): int
{
    $seconds = $redis->ttl($key);
    return $seconds < 0 ? $seconds : (int) ceil($seconds / 10) * 10;
}

function connect(int $port): Redis
{
    $redis = new Redis();
    $redis->connect('127.0.0.1', $port, 20);
    return $redis;
}

function show_all(Redis $redis, Redis $other): void
{
    $redis->flushAll();
    show('ping', $redis->ping(), $redis->ping('hello'), $redis->echo('hello'));
    show('set', $redis->set('book', 'Dune'), $redis->set('book', 'x', ['nx']), $redis->set('book', 'Emma', ['xx', 'ex' => 100]), left($redis, 'book'));
    show('get', $redis->get('book'), $redis->get('nothing'), $redis->getRange('book', 1, 2), $redis->getSet('book', 'Ulysses'));
    show('large', $redis->set('large', str_repeat('x', 1000000)), strlen($redis->get('large')));
    show('mset', $redis->mset(['a' => '1', 'b' => '2']), $redis->mget(['a', 'b', 'nothing']), $redis->msetnx(['a' => '1', 'c' => '2']));
    show('append', $redis->append('t', 'ab'), $redis->setRange('t', 1, 'XY'), $redis->strlen('t'));
    show('exists', $redis->exists('a', 'b', 'nothing'), $redis->rawCommand('touch', 'a', 'x'), $redis->type('a') === Redis::REDIS_STRING, $redis->type('nothing'));

    show('expire', $redis->expire('a', 100), left($redis, 'a'), $redis->pexpire('b', 50000), $redis->pttl('b') > 40000, $redis->persist('a'));
    show('setex', $redis->setex('e', 100, 'v'), left($redis, 'e'), $redis->psetex('e', 100000, 'v'), $redis->setnx('e', 'w'));
    show('expireat', $redis->expireAt('e', 1), $redis->exists('e'));
    show('rename', $redis->rename('a', 'z'), $redis->renameNx('b', 'z'), $redis->unlink('z', 'x'), $redis->del('b', 'x'));
    show('keys', sorted($redis->keys('*')), $redis->dbSize());

    show('hset', $redis->hSet('h', 'f', 'v'), $redis->hMSet('h', ['g' => '1', 'i' => 'ü']), $redis->hSetNx('h', 'f', 'x'));
    show('hget', $redis->hGet('h', 'i'), $redis->hGet('h', 'x'), $redis->hMGet('h', ['f', 'x']), $redis->hGetAll('h'));
    show('hlen', $redis->hLen('h'), $redis->hExists('h', 'f'), $redis->hStrLen('h', 'f'), $redis->hKeys('h'), $redis->hVals('h'), $redis->hDel('h', 'f', 'x'));

    foreach (range(0, 299) as $i) {
        $redis->set("scan:$i", "v$i");
    }
    $redis->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
    $found = [];
    $cursor = null;
    while (($keys = $redis->scan($cursor, $redis->_prefix('scan:*'), 50)) !== false) {
        array_push($found, ...$keys);
    }
    $cursor = null;
    show('scan', sorted($found), $redis->hScan('h', $cursor));

    $redis->multi(Redis::PIPELINE);
    for ($i = 0; $i < 500; $i++) {
        $redis->set("p$i", "v$i")->get("p$i");
    }
    show('pipeline', $redis->exec());
    show('multi', $redis->multi()->set('m', 'x')->get('m')->hGetAll('h')->exec());
    $redis->watch('w');
    $other->set($redis->_prefix('w'), 'changed');
    show('watched and changed', $redis->multi()->set('w', 'mine')->exec());
    $redis->watch('w');
    show('watched', $redis->multi()->set('w', 'mine')->exec(), $redis->get('w'), $redis->unwatch());
    show('discard', $redis->multi()->discard());
}

function show_numbers(Redis $redis): void
{
    show('incr', $redis->incr('n'), $redis->incrBy('n', 41), $redis->decr('n'), $redis->decrBy('n', 2), $redis->incrByFloat('f', 0.5));
    show('hincrby', $redis->hIncrBy('nh', 'n', 5), $redis->hIncrByFloat('nh', 'd', 1.5));
    show('object', $redis->object('encoding', 'n'));
    foreach ([['incr', 'book'], ['hGet', 'book', 'f'], ['rawCommand', 'nonsense', 'x'], ['rawCommand', 'get'], ['rename', 'nothing', 'x']] as $call) {
        $redis->clearLastError();
        $answer = $redis->{$call[0]}(...array_slice($call, 1));
        show('error', $call, $answer, $redis->getLastError());
    }
    $redis->clearLastError();
}

function show_messages(int $port, Redis $other): void
{
    $subscriber = connect($port);
    // Listens until its callback closes the connection. Another process waits until it listens, and then sends.
    $sender = proc_open([PHP_BINARY, __FILE__, (string) $port, 'send'], [], $pipes);
    $heard = [];
    try {
        $subscriber->subscribe(['news'], function (Redis $redis, string $channel, string $message) use (&$heard): void {
            $heard[] = [$channel, $message];
            if ($message === 'end') {
                $heard[] = $redis->unsubscribe(['news']);
                $redis->close();
            }
        });
    } catch (RedisException $error) {
        $heard[] = $error->getMessage();
    }
    proc_close($sender);
    show('messages', $heard);
    while ($other->pubsub('numsub', ['news']) != ['news' => 0]) {
    }
    show('pubsub', $other->pubsub('channels'), $other->pubsub('numsub', ['news']), $other->pubsub('numpat'));
}

$other = connect($port);
if (($argv[2] ?? '') === 'send') {
    while ($other->pubsub('numsub', ['news']) != ['news' => 1]) {
    }
    show('publish', $other->publish('news', 'one'), $other->publish('news', 'two'), $other->publish('news', 'end'));
    exit;
}

$redis = connect($port);
show_all($redis, $other);
show_numbers($redis);
show_messages($port, $other);

$serializing = connect($port);
$serializing->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_PHP);
$serializing->setOption(Redis::OPT_PREFIX, 'app:');
show_all($serializing, $other);
foreach (['Dune', 42, 1.5, true, null, [1, 'two'], ['three' => 3]] as $thing) {
    show('serialized', $serializing->set('thing', $thing), $serializing->get('thing'), $redis->get('app:thing'));
}

$add = "return redis.call('exists',KEYS[1])<1 and redis.call('setex',KEYS[1],ARGV[2],ARGV[1])"; // Laravel's Cache::add.
show('add', $redis->eval($add, ['added', 'value', 100], 1), $redis->eval($add, ['added', 'other', 100], 1), $redis->get('added'));
show('set', $redis->sAdd('set', 1, 2, 3), $redis->sRem('set', 2), $redis->sMembers('set'), $redis->sIsMember('set', 1), $redis->sCard('set'));
show('zadd', $redis->zAdd('sorted', 1, 'a', 2.5, 'b', 9, 'c'), $redis->zAdd('sorted', ['NX'], 5, 'a'), $redis->zAdd('sorted', ['GT', 'CH'], 7, 'a'));
show('zrange', $redis->zRange('sorted', 0, -1, true), $redis->zRangeByScore('sorted', '(2.5', '+inf', ['withscores' => true, 'limit' => [0, 1]]), $redis->zScore('sorted', 'b'));
$cursor = null;
show('zscan', $redis->zScan('sorted', $cursor), $redis->zRemRangeByScore('sorted', '-inf', '(7'), $redis->zCard('sorted'), $redis->zRem('sorted', 'a', 'c'), $redis->exists('sorted'));

$information = $redis->info();
foreach (['redis_version', 'role', 'connected_clients', 'used_memory', 'db0'] as $name) {
    show('info', $name, isset($information[$name]));
}
show('client', $redis->client('setname', 'tester'), $redis->client('getname'), count(array_filter($redis->client('list'), fn ($client) => $client['name'] === 'tester')));
show('config', $redis->config('GET', 'databases'), count($redis->time()), $redis->select(0), $redis->select(1), $redis->getLastError());
show('persistent', (new Redis())->pconnect('127.0.0.1', $port));
try {
    show('auth', $redis->auth('wrong'));
} catch (RedisException $error) {
    show('auth', $error->getMessage());
}
show('flushdb', $redis->flushDB(), $redis->dbSize());
echo "done\n";
