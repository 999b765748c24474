# Prints the replies that redis-rb gets from a server. Argument: PORT.
require 'redis'

PORT = ARGV[0].to_i

def show(what, *answers)
  puts "#{what} #{answers.map(&:inspect).join(' ')}"
end

def show_error(what)
  show(what, yield)
rescue Redis::BaseError => e
  puts "#{what} #{e.class} #{e.message.gsub(PORT.to_s, 'PORT')}"
end

# Time passes between two requests, so the remaining time is rounded up to ten seconds.
def left(redis, key)
  seconds = redis.ttl(key)
  seconds.negative? ? seconds : seconds.ceil(-1)
end

def show_strings(redis)
  redis.flushall
  show('ping', redis.ping, redis.ping('hello'), redis.echo('hello'))
  show('set', redis.set('book', 'Dune'), redis.set('book', 'x', nx: true), redis.set('book', 'Emma', xx: true, get: true))
  show('get', redis.get('book'), redis.get('nothing'), redis.getrange('book', 1, 2), redis.strlen('book'))
  show('getset', redis.getset('book', 'Dune'), redis.getdel('book'), redis.exists?('book'))
  show('bytes', redis.set('bytes', (0..255).to_a.pack('C*')), redis.get('bytes').bytes.sum)
  show('large', redis.set('large', 'x' * 1_000_000), redis.get('large').size)
  show('mset', redis.mset('a', 1, 'b', 2), redis.mapped_mget('a', 'b', 'nothing'), redis.msetnx('a', 1, 'c', 2))
  show('incr', redis.incr('n'), redis.incrby('n', 41), redis.decr('n'), redis.incrbyfloat('f', 0.5))
  show('append', redis.append('t', 'ab'), redis.setrange('t', 1, 'XY'), redis.get('t'))
  show_error('incr of text') { redis.incr('t') }
  show_error('wrong type') { redis.hget('t', 'f') }
  show_error('unknown command') { redis.call('nonsense', 'x') }
end

def show_keys(redis)
  show('expire', redis.expire('a', 100), left(redis, 'a'), redis.pexpire('b', 50_000), redis.pttl('b') > 40_000, redis.persist('a'))
  show('setex', redis.setex('e', 100, 'v'), left(redis, 'e'), redis.psetex('e', 100_000, 'v'), redis.setnx('e', 'w'))
  show('getex', redis.getex('e', ex: 500), left(redis, 'e'), redis.getex('e', persist: true), left(redis, 'e'))
  show('expireat', redis.expireat('e', 1), redis.exists('e', 'a'))
  show('type', redis.type('a'), redis.type('nothing'), redis.touch('a', 'b', 'x'), redis.dbsize)
  show('rename', redis.rename('a', 'z'), redis.renamenx('b', 'z'), redis.copy('z', 'y'), redis.unlink('y', 'x'), redis.del('z'))
  show('keys', redis.keys('*').sort, redis.randomkey.nil?, redis.object('encoding', 'n'))
  redis.pipelined { |pipe| 300.times { |i| pipe.set("scan:#{i}", i) } }
  show('scan', redis.scan_each(match: 'scan:*', count: 50).sort)
end

def show_hashes(redis)
  show('hset', redis.hset('h', 'f', 'v', 'g', 1), redis.mapped_hmset('h', { 'i' => 'j' }), redis.hsetnx('h', 'f', 'x'))
  show('hget', redis.hget('h', 'f'), redis.hmget('h', 'f', 'x'), redis.mapped_hmget('h', 'g', 'x'), redis.hgetall('h'))
  show('hincrby', redis.hincrby('h', 'g', 2), redis.hincrbyfloat('h', 'd', 1.5), redis.hlen('h'), redis.hexists('h', 'x'))
  show('hscan', redis.hscan_each('h', match: '*').sort, redis.hkeys('h'), redis.hvals('h'), redis.hdel('h', 'f', 'x'))
end

def show_transactions(redis, other)
  show('pipelined', redis.pipelined { |pipe| 500.times { pipe.incr('p') } }.sum)
  show_error('pipelined with an error') { redis.pipelined { |pipe| pipe.incr('t'); pipe.incr('p') } }
  show('multi', redis.multi { |multi| multi.set('m', 1); multi.incr('m'); multi.hgetall('h') })
  aborted = redis.watch('w') do
    other.set('w', 'changed')
    redis.multi { |multi| multi.set('w', 'mine') }
  end
  kept = redis.watch('w') do |watching|
    before = watching.get('w')
    watching.multi { |multi| multi.set('w', before + '!') }
  end
  show('watch', aborted, kept, redis.get('w'), redis.unwatch)
end

def show_messages(redis, other)
  subscriber = Redis.new(port: PORT)
  heard = []
  subscriber.subscribe('news', 'stop') do |on|
    on.subscribe { |channel, count| heard << ['subscribe', channel, count]; other.publish('news', 'one') if count == 2 }
    on.message { |channel, message| heard << [channel, message]; message == 'end' ? subscriber.unsubscribe : other.publish('stop', 'end') }
    # The two replies name the channels in any order, so only the counts are printed.
    on.unsubscribe { |_, count| heard << ['unsubscribe', count] }
  end
  subscriber.psubscribe('n*') do |on|
    on.psubscribe { |*_| other.publish('number', 'two') }
    on.pmessage { |pattern, channel, message| heard << [pattern, channel, message]; subscriber.punsubscribe }
  end
  show('messages', *heard)
  show('pubsub', redis.pubsub('channels'), redis.pubsub('numsub', 'news'), redis.pubsub('numpat'))
  show('after it', subscriber.get('n'))
end

def show_server(redis)
  information = redis.info
  show('info', *%w[redis_version role connected_clients used_memory db0].map { |name| information.key?(name) })
  show('section', redis.info('replication')['role'], redis.config('get', 'databases'), redis.time.size)
  show('client', redis.client('setname', 'tester'), redis.client('getname'), redis.client('list').count { |client| client['name'] == 'tester' })
  show('flushdb', redis.flushdb, redis.dbsize, redis.quit)
end

[{}, { id: 'named', url: "redis://127.0.0.1:#{PORT}/0" }].each do |options|
  redis = Redis.new({ port: PORT, timeout: 20 }.merge(options))
  other = Redis.new(port: PORT)
  show_strings(redis)
  show_keys(redis)
  show_hashes(redis)
  show_transactions(redis, other)
  show_messages(redis, other)
  show_server(redis)
end
show_error('password') { Redis.new(port: PORT, password: 'wrong').ping }
show_error('database') { Redis.new(port: PORT, db: 1).ping }
puts 'done'
