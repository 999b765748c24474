using System.Globalization;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;
using Cairn.Server.Tests.Testing;
using Xunit.Abstractions;

namespace Cairn.Server.Tests.Memcached;

/// <summary>Compares the replies of memcached and of Cairn to the same requests over sockets. docs/protocols.md lists the differences.</summary>
public sealed partial class DifferentialTests(ITestOutputHelper output)
{
    // A background thread of memcached that examines an entry changes how it is counted: in place, or as a new entry that is not stale.
    private static readonly string[] s_noBackground = ["-o", "no_lru_maintainer,no_lru_crawler"];

    // K is a key, C the last version that the server returned. Numbers do not grow longer, because memcached would create a new entry, which is
    // not stale.
    private static readonly string[] s_versionForms =
    [
        "gets K", "gets K", "mg K c", "mg K v c s", "set K 0 0 1\r\n1", "add K 0 0 1\r\n1", "delete K", "append K 0 0 1\r\n2", "decr K 1",
        "cas K 3 0 2 C\r\n11", "cas K 0 0 1 C\r\n5", "cas K 0 0 1 1\r\n5", "ms K 2 c CC\r\n33", "ms K 2 CC ME\r\n33", "ms K 2 CC MA\r\n33",
        "ms K 2 c I CC\r\n44", "ms K 2 c\r\n7x", "md K CC", "md K CC I", "ma K c v MD CC", "ma K c v MD", "replace K 0 0 1\r\n8",
    ];

    public static TheoryData<LoopUnderTest> LoopsHere => Loops.Here;

    public static TheoryData<int> Parts => SeededRun.Parts;

    [RequiresToolTheory("memcached")]
    [MemberData(nameof(LoopsHere))]
    public async Task Scripts_are_answered_as_by_memcached(LoopUnderTest loop)
    {
        using var memcached = StockMemcached.Start();
        await using StoreServer cairn = await StoreServer.StartAsync(loop);
        using var expecting = new MemcachedPeer(memcached.EndPoint);
        using var asked = new MemcachedPeer(cairn.EndPoint(WireProtocol.Memcached));

        var different = new List<string>();
        foreach (string script in MemcachedScripts.All)
        {
            string expected = expecting.Ask(script);
            string actual = asked.Ask(script);
            if (expected != actual)
            {
                different.Add(Difference(script, expected, actual));
            }
        }

        Assert.True(different.Count == 0, string.Join('\n', different));
    }

    [RequiresToolFact("memcached")]
    public async Task Scripts_are_answered_as_by_memcached_wherever_they_are_cut()
    {
        using var memcached = StockMemcached.Start();
        await using StoreServer cairn = await StoreServer.StartAsync();
        using var expecting = new MemcachedPeer(memcached.EndPoint);
        using var asked = new MemcachedPeer(cairn.EndPoint(WireProtocol.Memcached));

        var different = new List<string>();
        foreach (string script in MemcachedScripts.All)
        {
            string expected = expecting.Ask(script);
            for (int cut = 1; cut < script.Length; cut++)
            {
                string actual = asked.Ask(script, cut);
                if (expected != actual)
                {
                    different.Add($"Cut at {cut}: {Difference(script, expected, actual)}");
                    break;
                }
            }
        }

        Assert.True(different.Count == 0, string.Join('\n', different));
    }

    [RequiresToolTheory("memcached")]
    [MemberData(nameof(Parts))]
    public async Task Random_requests_are_answered_as_by_memcached(int part) =>
        await Compare(new SeededRun(output, part), isBroken: false);

    [RequiresToolTheory("memcached")]
    [MemberData(nameof(Parts))]
    public async Task Broken_requests_are_answered_as_by_memcached(int part) =>
        await Compare(new SeededRun(output, part), isBroken: true);

    // Each server has its own versions, so each gets requests with the versions that it returned.
    [RequiresToolTheory("memcached")]
    [MemberData(nameof(Parts))]
    public async Task Versions_are_compared_as_by_memcached(int part)
    {
        using var memcached = StockMemcached.Start(s_noBackground);
        await using StoreServer cairn = await StoreServer.StartAsync();
        using var expecting = new MemcachedPeer(memcached.EndPoint);
        using var asked = new MemcachedPeer(cairn.EndPoint(WireProtocol.Memcached));
        using Socket toMemcached = expecting.Connect();
        using Socket toCairn = asked.Connect();
        var run = new SeededRun(output, part);

        foreach (int seed in run.Seeds(inShort: 100, inPartOfLong: 5_000))
        {
            var random = new Random(seed);
            var expectedVersions = new string[2];
            var actualVersions = new string[2];
            expecting.Ask(toMemcached, "flush_all\r\n");
            asked.Ask(toCairn, "flush_all\r\n");
            var said = new StringBuilder();
            for (int i = 0; i < 40; i++)
            {
                int key = random.Next(2);
                string form = s_versionForms[random.Next(s_versionForms.Length)];
                string expected = AskWithVersion(expecting, toMemcached, form, key, expectedVersions);
                string actual = AskWithVersion(asked, toCairn, form, key, actualVersions);
                Assert.True(expected == actual, $"{run.Replay(seed)}\n{said}{Difference($"key {key}: {form}", expected, actual)}");
                said.Append(CultureInfo.InvariantCulture, $"key {key}: {form}\n{actual}");
            }
        }
    }

    private static string AskWithVersion(MemcachedPeer peer, Socket socket, string form, int key, string[] versions)
    {
        string request = form.Replace(" K", $" key{key}", StringComparison.Ordinal);
        request = LastVersion().Replace(request, "${1}" + (versions[key] ?? "1"));
        string reply = peer.Ask(socket, request + "\r\n");
        if (ToldVersion().Match(reply) is { Success: true } told)
        {
            versions[key] = told.Groups["version"].Value;
        }

        return MemcachedPeer.Normal(reply);
    }

    private static async Task Compare(SeededRun run, bool isBroken)
    {
        using var memcached = StockMemcached.Start(s_noBackground);
        await using StoreServer cairn = await StoreServer.StartAsync();
        using var expecting = new MemcachedPeer(memcached.EndPoint);
        using var asked = new MemcachedPeer(cairn.EndPoint(WireProtocol.Memcached));
        foreach (int seed in run.Seeds(inShort: 1_000, inPartOfLong: 50_000))
        {
            var random = new Random(seed);
            string requests = RandomRequests.Make(random, random.Next(1, 40));
            if (isBroken)
            {
                requests = RandomRequests.Break(random, requests);
            }

            string expected = expecting.Ask(requests);
            string actual = asked.Ask(requests, RandomRequests.Cuts(random, requests));

            // If a client leaves in the middle of a value, memcached sends none of its replies to the requests before it.
            bool isSame = expected == actual
                || (actual.EndsWith(MemcachedPeer.NoEnd, StringComparison.Ordinal)
                    && expected.EndsWith(MemcachedPeer.NoEnd, StringComparison.Ordinal)
                    && actual.StartsWith(expected[..^MemcachedPeer.NoEnd.Length], StringComparison.Ordinal));
            Assert.True(isSame, $"{run.Replay(seed)}\n{Difference(requests, expected, actual)}");
        }
    }

    // Returns the requests, and the replies from the last common line on.
    private static string Difference(string requests, string expected, string actual)
    {
        requests = requests.Replace("\r\n", "\n", StringComparison.Ordinal).Replace("\r", "\\r", StringComparison.Ordinal);
        int same = expected.Zip(actual).TakeWhile(pair => pair.First == pair.Second).Count();
        int start = same < 2 ? 0 : expected.LastIndexOf('\n', same - 2) + 1;
        return $"--- {requests}\n--- memcached: ...\n{expected[start..]}\n--- Cairn: ...\n{actual[start..]}";
    }

    [GeneratedRegex(@"^VALUE \S+ \d+ \d+ (?<version>\d+)|^(?:HD|VA).* c(?<version>\d+)", RegexOptions.Multiline)]
    private static partial Regex ToldVersion();

    [GeneratedRegex(@"( C| )C\b")]
    private static partial Regex LastVersion();
}
