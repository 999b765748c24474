<?php
// Prints the replies that Predis gets from a server. Argument: PORT.
require '/usr/share/php/Predis/autoload.php';

$server = ['scheme' => 'tcp', 'host' => '127.0.0.1', 'port' => (int) $argv[1], 'read_write_timeout' => 30];
$redis = new Predis\Client($server);

function show($what, ...$answers)
{
    echo $what, ' ', json_encode(array_map(fn ($a) => $a instanceof Predis\Response\Status ? '+' . $a : $a, $answers)), "\n";
}

function show_error($what, $action)
{
    try {
        show($what, $action());
    } catch (Predis\PredisException $error) {
        echo $what, ' ', get_class($error), ' ', $error->getMessage(), "\n";
    }
}

show('ping', $redis->flushall(), $redis->ping(), $redis->ping('hello'), $redis->echo('hello'));
show('set', $redis->set('book', 'Dune'), $redis->set('book', 'x', 'NX'), $redis->set('book', 'Emma', 'EX', 100, 'XX'));
show('get', $redis->get('book'), $redis->get('nothing'), $redis->ttl('book') > 90, $redis->strlen('book'), $redis->getrange('book', 1, 2));
show('getset', $redis->getset('book', 'Dune'), $redis->append('book', '!'), $redis->exists('book', 'nothing'));
show('mset', $redis->mset(['a' => 1, 'b' => 2]), $redis->mget(['a', 'b', 'nothing']), $redis->msetnx(['a' => 1, 'c' => 2]));
show('incr', $redis->incr('n'), $redis->incrby('n', 41), $redis->decrby('n', 2), $redis->incrbyfloat('f', 0.5));
show('expire', $redis->expire('a', 100), $redis->persist('a'), $redis->pexpire('b', 50000), $redis->setex('e', 100, 'v'), $redis->setnx('e', 'w'));
show('keys', $redis->rename('a', 'z'), $redis->type('z'), $redis->del(['z', 'nothing']), $redis->dbsize());
show('hash', $redis->hset('h', 'f', 'v'), $redis->hmset('h', ['g' => 1, 'i' => 'j']), $redis->hmget('h', ['f', 'x']), $redis->hgetall('h'));
show('hash counts', $redis->hincrby('h', 'g', 2), $redis->hlen('h'), $redis->hexists('h', 'x'), $redis->hkeys('h'), $redis->hdel('h', ['f', 'x']));
show('sets', $redis->sadd('s', ['a', 'b']), $redis->scard('s'), $redis->sismember('s', 'a'), $redis->srem('s', ['a']), $redis->smembers('s'));
show('sorted sets', $redis->zadd('zs', ['a' => 1, 'b' => 2.5]), $redis->zcard('zs'), $redis->zscore('zs', 'b'), $redis->zrange('zs', 0, -1, ['withscores' => true]));
show_error('incr of text', fn () => $redis->incr('book'));
show_error('wrong type', fn () => $redis->hget('book', 'f'));
show_error('unknown command', fn () => $redis->executeRaw(['nonsense', 'x']));
show('pipeline', $redis->pipeline(function ($pipe) {
    for ($i = 0; $i < 300; $i++) {
        $pipe->set("scan:$i", $i);
    }
    $pipe->get('scan:7');
})[300]);
$found = iterator_to_array(new Predis\Collection\Iterator\Keyspace($redis, 'scan:*', 50), false);
sort($found);
show('scan', array_values(array_unique($found)));
show('transaction', $redis->transaction(function ($tx) {
    $tx->set('m', 1);
    $tx->incr('m');
    $tx->hgetall('h');
}));
$other = new Predis\Client($server);
show_error('watch', fn () => $redis->transaction(['watch' => 'w', 'cas' => true], function ($tx) use ($other) {
    $other->set('w', 'changed');
    $tx->multi();
    $tx->set('w', 'mine');
}));
show('after watch', $redis->get('w'), $redis->info('replication')['Replication']['role'], count($redis->time()));
$loop = (new Predis\Client($server))->pubSubLoop();
$loop->subscribe('news');
foreach ($loop as $message) {
    show('message', $message->kind, $message->channel, $message->payload);
    if ($message->kind === 'subscribe') {
        $other->publish('news', 'one');
    } else {
        $loop->unsubscribe();
    }
}
unset($loop);
show('large', $redis->set('large', str_repeat('x', 1000000)), strlen($redis->get('large')));
show('flush', $redis->flushdb(), $redis->dbsize());
echo "done\n";
