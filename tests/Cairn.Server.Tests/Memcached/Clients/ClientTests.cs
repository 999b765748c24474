using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Memcached.Clients;

/// <summary>Unmodified programs and libraries for memcached print the same with memcached and with Cairn.</summary>
public sealed partial class ClientTests : IClassFixture<MemcachedServers>
{
    private const string Scripts = "Memcached/Clients/";
    private const string PythonPackages = "/usr/lib/python3/dist-packages/";
    private const string Tool = "/usr/share/memcached/scripts/memcached-tool";

    private readonly MemcachedServers _servers;

    public ClientTests(MemcachedServers servers) => _servers = servers;

    [RequiresToolFact("memccapable")]
    public async Task Memccapable_misses_nothing()
    {
        string output = await new ClientProgram("memccapable", "-h", "127.0.0.1", "-p", Port(_servers.Cairn), "-a").RunAsync();

        Assert.True(Regex.Count(output, @"\[pass\]") == 27 && output.Contains("All tests passed", StringComparison.Ordinal), output);
    }

    [RequiresToolFact("memcached", ClientScript.Python, PythonPackages + "pymemcache/__init__.py")]
    public Task Pymemcache_is_answered_as_by_memcached() => AssertAlike("with_pymemcache.py");

    [RequiresToolFact("memcached", ClientScript.Python, PythonPackages + "pylibmc/__init__.py")]
    public Task Pylibmc_is_answered_as_by_memcached() => AssertAlike("with_pylibmc.py");

    [RequiresToolFact("memcached", "php", "/usr/share/doc/php-memcached/copyright")]
    public Task Memcached_of_PHP_is_answered_as_by_memcached() => AssertAlike("with_php_memcached.php");

    [RequiresToolFact("memcached", "perl", "/usr/share/doc/libcache-memcached-fast-perl/copyright")]
    public Task Cache_Memcached_Fast_of_Perl_is_answered_as_by_memcached() => AssertAlike("with_fast.pl");

    [RequiresToolFact("memcached", "npm", "node")]
    public Task Memcached_of_npm_is_answered_as_by_memcached() => AssertAlike("npm/with_memcached.js");

    [RequiresToolFact("memcached", "go", "/usr/share/gocode/src/github.com/bradfitz/gomemcache/memcache/memcache.go")]
    public Task Gomemcache_is_answered_as_by_memcached() => AssertAlike("with_gomemcache.go");

    [RequiresDalliFact]
    public Task Dalli_with_meta_commands_is_answered_as_by_memcached() => AssertAlike("with_dalli.rb", "meta");

    [RequiresToolFact("memccapable")]
    public async Task Memccapable_misses_nothing_of_the_binary_protocol()
    {
        string output = await new ClientProgram("memccapable", "-h", "127.0.0.1", "-p", Port(_servers.Cairn), "-b").RunAsync();

        Assert.True(Regex.Count(output, @"\[pass\]") == 27 && output.Contains("All tests passed", StringComparison.Ordinal), output);
    }

    [RequiresToolFact("memcached", "ruby", "/usr/share/doc/ruby-dalli/copyright")]
    public Task Dalli_with_the_binary_protocol_is_answered_as_by_memcached() => AssertAlike("with_dalli.rb", "binary");

    [RequiresToolFact("memcached", ClientScript.Python, PythonPackages + "pylibmc/__init__.py")]
    public Task Pylibmc_with_the_binary_protocol_is_answered_as_by_memcached() => AssertAlike("with_pylibmc.py", "binary");

    [RequiresToolFact("memcached", "php", "/usr/share/doc/php-memcached/copyright")]
    public Task Memcached_of_PHP_with_the_binary_protocol_is_answered_as_by_memcached() => AssertAlike("with_php_memcached.php", "binary");

    [RequiresToolFact("memcached", ClientScript.Python, PythonPackages + "bmemcached/__init__.py")]
    public Task Python_binary_memcached_is_answered_as_by_memcached() => AssertAlike("with_bmemcached.py");

    [RequiresToolFact("memcached", "npm", "node")]
    public Task Memjs_of_npm_is_answered_as_by_memcached() => AssertAlike("npm/with_memjs.js");

    [RequiresToolFact("memcached", "perl", Tool)]
    public async Task Tool_of_memcached_shows_the_same_statistics_and_keys()
    {
        const string Keys = "flush_all\r\nset text 0 0 4\r\nDune\r\nset b%c 5 2000000000 3\r\n123\r\nset number 7 0 2\r\n42\r\n";
        using var memcached = new MemcachedPeer(_servers.Memcached);
        using var cairn = new MemcachedPeer(_servers.Cairn);
        using (Socket toMemcached = memcached.Connect(), toCairn = cairn.Connect())
        {
            memcached.Ask(toMemcached, Keys);
            cairn.Ask(toCairn, Keys);
        }

        // All names of memcached's statistics exist, except those of its internal structures and of features that it does not use.
        foreach (string mode in new[] { "stats", "settings" })
        {
            string[] missing = [.. NamesOf(await ToolOf(_servers.Memcached, mode)).Except(NamesOf(await ToolOf(_servers.Cairn, mode)))];
            Assert.DoesNotContain(missing, name => !MissingStatistics().IsMatch(name));
        }

        string[] header = ["#", "Item_Size", "Max_age", "Pages", "Count", "Full?", "Evicted", "Evict_Time", "OOM"];
        string[] display = (await ToolOf(_servers.Cairn, "display")).Split('\n');
        Assert.Equal(header, display[0].Split(' ', StringSplitOptions.RemoveEmptyEntries));
        Assert.Equal("3", display[1].Split(' ', StringSplitOptions.RemoveEmptyEntries)[4]);

        Assert.Equal(Entries(await ToolOf(_servers.Memcached, "dump")), Entries(await ToolOf(_servers.Cairn, "dump")));
        Assert.Equal(["b%25c", "number", "text"], KeyName().Matches(await ToolOf(_servers.Cairn, "keys")).Select(m => m.Groups[1].Value).Order());
    }

    private static IEnumerable<string> NamesOf(string table) =>
        table.Split('\n', StringSplitOptions.RemoveEmptyEntries).Skip(1).Select(line => line.Trim().Split(' ')[0]);

    // "add KEY FLAGS EXPIRATION BYTES", then the value.
    private static IEnumerable<string> Entries(string dump) =>
        dump.Split("add ", StringSplitOptions.RemoveEmptyEntries).Where(entry => !entry.StartsWith("Dumping", StringComparison.Ordinal)).Order();

    private static Task<string> ToolOf(IPEndPoint server, string mode) =>
        new ClientProgram("perl", Tool, $"127.0.0.1:{Port(server)}", mode).RunAsync();

    private static string Port(IPEndPoint server) => server.Port.ToString(CultureInfo.InvariantCulture);

    private Task AssertAlike(string script, params string[] arguments) =>
        ClientScript.AssertAnswersAlikeAsync(Scripts + script, _servers.Memcached, _servers.Cairn, arguments);

    [GeneratedRegex("^(libevent|hash_algorithm|memory_file|num_napi_ids|(ext|ssl)_.*)$")]
    private static partial Regex MissingStatistics();

    [GeneratedRegex("^key=(\\S+)", RegexOptions.Multiline)]
    private static partial Regex KeyName();
}
