using System.Net.Sockets;
using System.Text;
using Cairn.Server.Tests.Testing;
using Xunit.Abstractions;
using static Cairn.Server.Tests.Memcached.Binary.BinaryRequest;

namespace Cairn.Server.Tests.Memcached.Binary;

/// <summary>Compares the replies of memcached and of Cairn to the same requests of the binary protocol. docs/protocols.md lists the
/// differences.</summary>
public sealed class BinaryDifferentialTests(ITestOutputHelper output)
{
    private const int MaxCutBytes = 2000;

    // A background thread of memcached that examines an entry changes how it is counted: in place, or as a new entry.
    private static readonly string[] s_noBackground = ["-o", "no_lru_maintainer,no_lru_crawler"];

    public static TheoryData<LoopUnderTest> LoopsHere => Loops.Here;

    public static TheoryData<int> Parts => SeededRun.Parts;

    [RequiresToolTheory("memcached")]
    [MemberData(nameof(LoopsHere))]
    public async Task Scripts_are_answered_as_by_memcached(LoopUnderTest loop)
    {
        using var memcached = StockMemcached.Start();
        await using StoreServer cairn = await StoreServer.StartAsync(loop);
        using var expecting = new BinaryPeer(memcached.EndPoint);
        using var asked = new BinaryPeer(cairn.EndPoint(WireProtocol.Memcached));

        var different = new List<string>();
        foreach (byte[] script in BinaryScripts.All)
        {
            string expected = expecting.Ask(script);
            string actual = asked.Ask(script);
            if (!AreSame(expected, actual))
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
        using var expecting = new BinaryPeer(memcached.EndPoint);
        using var asked = new BinaryPeer(cairn.EndPoint(WireProtocol.Memcached));

        foreach (byte[] script in BinaryScripts.All.Where(script => script.Length <= MaxCutBytes))
        {
            string expected = expecting.Ask(script);
            for (int cut = 1; cut < script.Length; cut++)
            {
                string actual = asked.Ask(script, cut);
                Assert.True(AreSame(expected, actual), $"Cut at {cut}: {Difference(script, expected, actual)}");
            }
        }
    }

    [RequiresToolTheory("memcached")]
    [MemberData(nameof(Parts))]
    public async Task Random_requests_are_answered_as_by_memcached(int part) => await Compare(new SeededRun(output, part), isBroken: false);

    [RequiresToolTheory("memcached")]
    [MemberData(nameof(Parts))]
    public async Task Broken_requests_are_answered_as_by_memcached(int part) => await Compare(new SeededRun(output, part), isBroken: true);

    // Each server has its own versions, so each gets requests with the versions that it returned.
    [RequiresToolTheory("memcached")]
    [MemberData(nameof(Parts))]
    public async Task Versions_are_compared_as_by_memcached(int part)
    {
        using var memcached = StockMemcached.Start(s_noBackground);
        await using StoreServer cairn = await StoreServer.StartAsync();
        using var expecting = new BinaryPeer(memcached.EndPoint);
        using var asked = new BinaryPeer(cairn.EndPoint(WireProtocol.Memcached));
        using Socket toMemcached = expecting.Connect();
        using Socket toCairn = asked.Connect();
        var run = new SeededRun(output, part);
        foreach (int seed in run.Seeds(inShort: 100, inPartOfLong: 5_000))
        {
            var random = new Random(seed);
            var expectedVersions = new ulong[2];
            var actualVersions = new ulong[2];
            BinaryPeer.AskOne(toMemcached, Make(Flush));
            BinaryPeer.AskOne(toCairn, Make(Flush));
            var said = new StringBuilder();
            for (int i = 0; i < 40; i++)
            {
                int form = random.Next(14);
                int key = random.Next(2);
                string expected = AskWithVersion(toMemcached, form, key, expectedVersions);
                string actual = AskWithVersion(toCairn, form, key, actualVersions);
                Assert.True(expected == actual, $"{run.Replay(seed)}\n{said}form {form} key {key}\nmemcached: {expected}\nCairn: {actual}");
                said.Append(System.Globalization.CultureInfo.InvariantCulture, $"form {form} key {key}: {actual}");
            }
        }
    }

    private static string AskWithVersion(Socket socket, int form, int number, ulong[] versions)
    {
        string key = "key" + (char)('0' + number);
        ulong version = versions[number];
        byte[] request = form switch
        {
            0 or 1 => Make(Get, key),
            2 => Store(Set, key, "1"),
            3 => Store(Set, key, "2", version: version),
            4 => Store(Add, key, "3", version: version),
            5 => Store(Replace, key, "4", version: version),
            6 => Make(Append, key, value: "5", version: version),
            7 => Make(Prepend, key, value: "6", version: version),
            8 => Make(Delete, key, version: version),
            9 => Count(Increment, key, 1, initial: 7, version: version),
            10 => Count(Decrement, key, 1, seconds: NoCreation, version: version),
            11 => Store(SetQ, key, "8", version: version),
            12 => WithTime(Gat, key, 100),
            _ => WithTime(Touch, key, 100),
        };
        List<BinaryReply> replies = BinaryPeer.AskOne(socket, request);
        if (replies is [{ Version: not 0 } told])
        {
            versions[number] = told.Version;
        }

        return string.Concat(replies.Select(reply => reply.ToNormalText() + "\n"));
    }

    private static async Task Compare(SeededRun run, bool isBroken)
    {
        using var memcached = StockMemcached.Start(s_noBackground);
        await using StoreServer cairn = await StoreServer.StartAsync();
        using var expecting = new BinaryPeer(memcached.EndPoint);
        using var asked = new BinaryPeer(cairn.EndPoint(WireProtocol.Memcached));
        foreach (int seed in run.Seeds(inShort: 1_000, inPartOfLong: 50_000))
        {
            var random = new Random(seed);
            byte[] requests = BinaryRandomRequests.Make(random, random.Next(1, 40));
            if (isBroken)
            {
                requests = BinaryRandomRequests.Break(random, requests);
            }

            string expected = expecting.Ask(requests);
            string actual = asked.Ask(requests, BinaryRandomRequests.Cuts(random, requests));

            Assert.True(AreSame(expected, actual), $"{run.Replay(seed)}\n{Difference(requests, expected, actual)}");
        }
    }

    // If a client leaves in the middle of a request, memcached sends none of its replies to the requests before it.
    private static bool AreSame(string expected, string actual) => expected == actual
        || (actual.EndsWith(MemcachedPeer.NoEnd, StringComparison.Ordinal)
            && expected.EndsWith(MemcachedPeer.NoEnd, StringComparison.Ordinal)
            && actual.StartsWith(expected[..^MemcachedPeer.NoEnd.Length], StringComparison.Ordinal));

    private static string Difference(byte[] requests, string expected, string actual)
    {
        int same = expected.Zip(actual).TakeWhile(pair => pair.First == pair.Second).Count();
        int start = same < 2 ? 0 : expected.LastIndexOf('\n', same - 2) + 1;
        string shown = Convert.ToHexString(requests.AsSpan(0, Math.Min(requests.Length, 4000)));
        return $"--- {shown}\n--- memcached: ...\n{Cut(expected[start..])}\n--- Cairn: ...\n{Cut(actual[start..])}";
    }

    private static string Cut(string text) => text.Length > 1000 ? text[..1000] : text;
}
