# Prints the replies that Redis.pm gets from a server. Argument: PORT.
use strict;
use warnings;
use Redis;

my $port = $ARGV[0];
my $redis = Redis->new(server => "127.0.0.1:$port", read_timeout => 30);

sub text {
    my ($value) = @_;
    return !defined $value ? 'undef' : ref $value eq 'ARRAY' ? '[' . join(', ', map { text($_) } @$value) . ']' : "'$value'";
}

sub show {
    my ($what, @answers) = @_;
    print "$what ", join(' ', map { text($_) } @answers), "\n";
}

sub show_error {
    my ($what, $action) = @_;
    my @answers = eval { $action->() };
    my $error = $@;
    $error =~ s/, at .*//s;
    $error ? print "$what $error\n" : show($what, @answers);
}

show('ping', $redis->flushall, $redis->ping, $redis->echo('hello'));
show('set', scalar $redis->set(book => 'Dune'), scalar $redis->set(book => 'x', 'NX'), scalar $redis->set(book => 'Emma', EX => 100));
show('get', scalar $redis->get('book'), scalar $redis->get('nothing'), $redis->ttl('book') > 90, $redis->strlen('book'));
show('getset', scalar $redis->getset(book => 'Dune'), $redis->append(book => '!'), $redis->exists('book'), $redis->exists('nothing'));
show('mset', scalar $redis->mset(a => 1, b => 2), [$redis->mget('a', 'b', 'nothing')], $redis->msetnx(a => 1, c => 2));
show('incr', $redis->incr('n'), $redis->incrby(n => 41), $redis->decr('n'));
show('expire', $redis->expire(a => 100), $redis->persist('a'), scalar $redis->setex(e => 100, 'v'), $redis->setnx(e => 'w'));
show('keys', scalar $redis->rename('a', 'z'), scalar $redis->type('z'), $redis->del('z', 'nothing'), $redis->dbsize, [sort $redis->keys('*')]);
show('hash', $redis->hset('h', f => 'v'), scalar $redis->hmset('h', g => 1, i => 'j'), [$redis->hmget('h', 'f', 'x')], [$redis->hgetall('h')]);
show('hash counts', $redis->hincrby('h', g => 2), $redis->hlen('h'), $redis->hexists('h', 'x'), [$redis->hkeys('h')], $redis->hdel('h', 'f', 'x'));
show_error('incr of text', sub { $redis->incr('book') });
show_error('wrong type', sub { $redis->hget('book', 'f') });
show_error('unknown command', sub { $redis->nonsense('x') });

my $sum = 0;
$redis->incr('p', sub { $sum += $_[0] }) for 1 .. 500;
$redis->wait_all_responses;
show('pipeline', $sum, scalar $redis->get('p'));

$redis->multi;
$redis->set(m => 1);
$redis->incr('m');
show('transaction', [$redis->exec]);
my $other = Redis->new(server => "127.0.0.1:$port");
$redis->watch('w');
$other->set(w => 'changed');
$redis->multi;
$redis->set(w => 'mine');
show('watch', scalar $redis->exec, scalar $redis->get('w'));

my ($cursor, @found) = (0);
$redis->set("scan:$_" => $_) for 1 .. 100;
do {
    ($cursor, my $keys) = $redis->scan($cursor, MATCH => 'scan:*', COUNT => 30);
    push @found, @$keys;
} while ($cursor);
my %distinct = map { $_ => 1 } @found;
show('scan', scalar keys %distinct);

my $subscriber = Redis->new(server => "127.0.0.1:$port");
my @heard;
$subscriber->subscribe('news', sub { push @heard, [@_[0, 1, 2]] });
$other->publish('news', 'one');
$subscriber->wait_for_messages(5) until @heard;
show('message', @heard);
show('large', scalar $redis->set(large => 'x' x 1_000_000), length $redis->get('large'));
show('info', $redis->info->{role}, $redis->flushdb, $redis->dbsize);
print "done\n";
