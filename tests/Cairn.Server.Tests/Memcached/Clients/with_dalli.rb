# Prints the replies that dalli gets from a server, with the binary protocol or the meta commands. Arguments: PORT, binary or meta.
require 'logger'
require 'dalli'

Dalli.logger = Logger.new(File::NULL)
protocol = ARGV[1].to_sym
options = Gem::Version.new(Dalli::VERSION) < Gem::Version.new('3.2') ? {} : { protocol: protocol }
client = Dalli::Client.new("127.0.0.1:#{ARGV[0]}", options.merge(socket_timeout: 20))

def show(what, *answers)
  puts "#{what} #{answers.inspect}"
end

def tried
  yield
rescue StandardError => e
  e.class.name
end

show 'flush', client.flush.length
show 'get of nothing', client.get('nothing')
['Dune', 42, [1, 'two'], { three: 3.0 }, nil, 'x' * 500_000, 'ü'].each do |thing|
  client.set('thing', thing)
  show 'set', client.get('thing') == thing
end
show 'raw', client.set('raw', 'b', 0, raw: true) != false, client.append('raw', 'c'), client.prepend('raw', 'a'), client.get('raw', raw: true)
show 'add', client.add('raw', 1) && true, client.add('new', 1) && true
show 'replace', client.replace('new', 2) && true, client.replace('nothing', 2) && true
show 'incr', client.incr('count', 5, 100, 10), client.incr('count', 5), client.decr('count', 20), client.incr('nothing', 1)
show 'key that is no text', client.set('ключ с пробелом', 1) && true, client.get('ключ с пробелом')
show 'cas', client.cas('new') { |value| value + 1 } && true, client.get('new')
value, version = client.get_cas('new')
show 'set_cas', value, client.set_cas('new', 4, version) && true, client.set_cas('new', 5, version) && true
client.public_send(client.respond_to?(:quiet) ? :quiet : :multi) { 100.times { |i| client.set("k#{i}", "v#{i}") } }
show 'get_multi', client.get_multi((0...120).map { |i| "k#{i}" }).sort
show 'touch', client.touch('k1', 100) && true, client.touch('nothing', 100) && true
show 'gat', client.gat('k1', 100), client.gat('nothing', 100)
show 'delete', client.delete('k1'), client.delete('k1')
show 'fetch', client.fetch('k1', 100) { 'made' }, client.fetch('k1') { 'again' }
show 'too large', tried { client.set('large', Random.new(1).bytes(1_100_000), 0, raw: true) }
show 'stats', client.stats.values.map { |s| s.key?('curr_items') }
show 'version', client.version.values.map { |v| v[0, 4] }
puts 'done'
