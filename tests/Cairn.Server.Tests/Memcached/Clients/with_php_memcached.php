<?php
// Prints the replies that PHP's Memcached, which uses libmemcached, gets from a server. Arguments: PORT, and binary for the binary protocol.
function show(string $what, mixed ...$answers): void
{
    echo $what, ' ', json_encode($answers), "\n";
}

function connect(array $options = []): Memcached
{
    $client = new Memcached();
    $client->setOptions($options + [Memcached::OPT_BINARY_PROTOCOL => ($GLOBALS['argv'][2] ?? '') === 'binary']);
    $client->addServer('127.0.0.1', (int)$GLOBALS['argv'][1]);
    return $client;
}

$variants = [
    'default' => [],
    'plain' => [Memcached::OPT_COMPRESSION => false, Memcached::OPT_TCP_NODELAY => true],
    'without waiting' => [Memcached::OPT_NO_BLOCK => true],
    'prefix' => [Memcached::OPT_PREFIX_KEY => 'app:', Memcached::OPT_LIBKETAMA_COMPATIBLE => true],
];
foreach ($variants as $name => $options) {
    $client = connect($options);
    show('variant', $name);
    show('flush', $client->flush());
    show('get of nothing', $client->get('nothing'), $client->getResultCode());
    foreach (['Dune', 42, 1.5, true, null, [1, 'two' => 2], str_repeat('long ', 2000)] as $thing) {
        show('set', $client->set('thing', $thing), $client->get('thing'), $client->getResultMessage());
    }
    show('add', $client->add('thing', 1), $client->getResultCode(), $client->add('new', 1));
    show('replace', $client->replace('thing', 2), $client->replace('nothing', 1), $client->getResultCode());
    $client->setOption(Memcached::OPT_COMPRESSION, false);
    show('append', $client->set('text', 'b'), $client->append('text', 'c'), $client->prepend('text', 'a'), $client->get('text'));
    show('increment', $client->set('count', 10), $client->increment('count', 5), $client->decrement('count', 20));
    show('increment of nothing', $client->increment('missing'), $client->getResultCode());
    show('cas', $client->get('count', null, Memcached::GET_EXTENDED)['value']);
    $version = $client->get('count', null, Memcached::GET_EXTENDED)['cas'];
    show('cas', $client->cas($version, 'count', 'x'), $client->cas($version, 'count', 'y'), $client->getResultCode(), $client->get('count'));
    $many = [];
    for ($i = 0; $i < 200; $i++) {
        $many["k$i"] = "v$i";
    }
    show('setMulti', $client->setMulti($many, 100));
    $found = $client->getMulti(array_merge(array_keys($many), ['missing']), Memcached::GET_PRESERVE_ORDER);
    show('getMulti', $found);
    show('getDelayed', $client->getDelayed(['k1', 'k2'], false), array_column($client->fetchAll(), 'value', 'key'));
    show('touch', $client->touch('k1', 100), $client->touch('missing', 100), $client->getResultCode());
    show('delete', $client->delete('k1'), $client->delete('k1'), $client->getResultCode());
    show('deleteMulti', $client->deleteMulti(['k2', 'missing']));
    show('expired', $client->set('gone', 1, 86400 * 31), $client->get('gone'));
    show('large', $client->set('large', str_repeat('x', 1040000)), strlen($client->get('large')));
    show('too large', $client->set('large', str_repeat('x', 1100000)), $client->getResultCode(), $client->get('large'));
    show('key too long', $client->get(str_repeat('k', 251)), $client->getResultCode());
    show('empty', $client->set('empty', ''), $client->get('empty'));
}

$client = connect();
show('version', array_map(fn ($version) => substr($version, 0, 4), array_values($client->getVersion())));
show('stats', array_map(fn ($stats) => isset($stats['curr_items'], $stats['get_hits'], $stats['bytes']), array_values($client->getStats())));
show('quit', $client->quit(), $client->get('empty'));
echo "done\n";
