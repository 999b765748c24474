# Prints the replies that Cache::Memcached::Fast gets from a server. Argument: PORT.
use strict;
use warnings;
use Cache::Memcached::Fast;

sub text {
    my ($answer) = @_;
    return 'undef' unless defined $answer;
    return '[' . join(', ', map { text($_) } @$answer) . ']' if ref $answer eq 'ARRAY';
    return '{' . join(', ', map { "$_: " . text($answer->{$_}) } sort keys %$answer) . '}' if ref $answer eq 'HASH';
    return length $answer > 1000 ? length($answer) . ' bytes' : $answer;
}

sub show {
    my ($what, @answers) = @_;
    print "$what ", join(' ', map { text($_) } @answers), "\n";
}

for my $options ([], [namespace => 'app:'], [nowait => 1], [compress_threshold => -1]) {
    my $client = Cache::Memcached::Fast->new({ servers => ["127.0.0.1:$ARGV[0]"], @$options });
    show('options', $options);
    $client->flush_all;
    show('get of nothing', scalar $client->get('nothing'));
    show('set', $client->set('text', 'Dune'), $client->get('text'));
    show('set of a structure', $client->set('thing', { a => [1, 2] }), $client->get('thing'));
    show('add', scalar $client->add('text', 'x'), scalar $client->add('new', 'x'));
    show('replace', scalar $client->replace('text', 'b'), scalar $client->replace('nothing', 'b'));
    show('append', $client->append('text', 'c'), $client->prepend('text', 'a'), $client->get('text'));
    show('incr', $client->set('count', 10), $client->incr('count', 5), $client->decr('count', 20), scalar $client->incr('nothing'));
    show('set_multi', scalar $client->set_multi(map { ["k$_", "v$_", 100] } 1 .. 200));
    show('get_multi', scalar $client->get_multi(map { "k$_" } 1 .. 300));
    my $seen = $client->gets('text');
    show('gets', $seen->[1]);
    show('cas', scalar $client->cas('text', $seen->[0], 'x'), scalar $client->cas('text', $seen->[0], 'y'), $client->get('text'));
    show('incr_multi', $client->incr_multi('count', ['count', 5], 'nothing'));
    show('append_multi', scalar $client->append_multi(['k1', 'z'], ['nothing', 'z']));
    show('delete', scalar $client->delete('k1'), scalar $client->delete('k1'));
    show('delete_multi', scalar $client->delete_multi('k2', 'k3', 'nothing'));
    show('touch', scalar $client->touch('k4', 100), scalar $client->touch('nothing', 100));
    show('gat', scalar $client->gat(100, 'k4'), scalar $client->gat(100, 'nothing'));
    show('gats', scalar $client->gats(100, 'k4')->[1]);
    show('gat_multi', scalar $client->gat_multi(100, 'k4', 'k5', 'nothing'));
    show('expired', $client->set('gone', 1, -1), scalar $client->get('gone'));
    show('large', $client->set('large', join('', map { chr(33 + $_ * 7919 % 90) } 1 .. 1000000)), scalar $client->get('large'));
    show('versions', map { substr($_, 0, 4) } values %{ $client->server_versions });
    show('flush_all', values %{ $client->flush_all }, scalar $client->get('text'));
    $client->disconnect_all;
    show('after disconnecting', $client->set('again', 1), $client->get('again'));
}
print "done\n";
