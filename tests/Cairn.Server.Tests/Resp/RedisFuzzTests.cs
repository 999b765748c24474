using System.Text;
using Cairn.Server.Tests.Testing;
using Xunit.Abstractions;

namespace Cairn.Server.Tests.Resp;

/// <summary>Random requests, valid and broken, get the replies of redis-server.</summary>
public class RedisFuzzTests(ITestOutputHelper output)
{
    // Documented differences that broken requests cause. The error text identifies them.
    private static readonly string[] s_differences = ["-ERR a key has 1 to 65536 bytes", "-ERR string exceeds maximum allowed size"];

    public static TheoryData<int> Parts => SeededRun.Parts;

    [RequiresToolTheory("redis-server")]
    [MemberData(nameof(Parts))]
    public async Task Random_requests_are_answered_as_by_redis(int part)
    {
        using var redis = RedisProcess.Start("--hash-max-listpack-value", "100000", "--zset-max-listpack-value", "100000"); // Otherwise long fields lose their order.
        await using StoreServer cairn = await StoreServer.StartAsync();
        await using StoreServer pinning = await StoreServer.StartAsync(pinned: ["a", "h", "z"]); // No client sees a difference.
        var run = new SeededRun(output, part);

        foreach (int seed in run.Seeds(inShort: 60, inPartOfLong: 3_000))
        {
            var random = new Random(seed);
            List<string[]> requests = RandomRequests.Make(random, 200, seed % 2 == 0 ? RandomRequests.AnyForms : RandomRequests.ConnectionForms);
            byte[] bytes = Encoding.Latin1.GetBytes(string.Concat(requests.Select(ReplyTexts.Encode)));
            int protocol = random.Next(2, 4);
            string expected = ReplyTexts.Run(redis.EndPoint, protocol, bytes, bytes.Length);
            string actual = ReplyTexts.Run((seed % 3 == 0 ? pinning : cairn).EndPoint(WireProtocol.Resp), protocol, bytes, random.Next(1, 400));
            Assert.True(expected == actual, $"{run.Replay(seed)}\nRESP{protocol}: {ReplyTexts.Difference(expected, actual)}, in\n{Show(requests)}");
        }
    }

    [RequiresToolTheory("redis-server")]
    [MemberData(nameof(Parts))]
    public void Requests_cut_at_any_byte_are_answered_as_by_redis(int part)
    {
        using var redis = RedisProcess.Start("--hash-max-listpack-value", "100000", "--zset-max-listpack-value", "100000");
        using var host = new RespHost();
        var run = new SeededRun(output, part);

        foreach (int seed in run.Seeds(inShort: 12, inPartOfLong: 600))
        {
            var random = new Random(seed);
            List<string[]> requests = RandomRequests.Make(random, 25, RandomRequests.ConnectionForms);
            byte[] bytes = Encoding.Latin1.GetBytes(
                $"FLUSHALL\r\nHELLO {random.Next(2, 4)}\r\n" + string.Concat(requests.Select(request => Write(random, request))));
            string expected = ReplyTexts.RunToClose(redis.EndPoint, bytes);
            for (int cut = 0; cut <= bytes.Length; cut++)
            {
                RespClient client = host.Connect(looksAhead: cut % 3 != 0);
                string actual = cut == 0
                    ? client.Send(bytes, pieceBytes: 1)
                    : client.Send(bytes[..cut], cut) + client.Send(bytes[cut..], bytes.Length);
                client.End();
                actual = ReplyTexts.WithoutNumbers(actual);
                Assert.True(expected == actual, $"{run.Replay(seed)}\ncut at {cut}: {ReplyTexts.Difference(expected, actual)}, in\n{Show(requests)}");
            }
        }
    }

    [RequiresToolTheory("redis-server")]
    [MemberData(nameof(Parts))]
    public void Broken_requests_are_answered_as_by_redis(int part)
    {
        using var redis = RedisProcess.Start("--hash-max-listpack-value", "100000", "--zset-max-listpack-value", "100000");
        using var host = new RespHost();
        var run = new SeededRun(output, part);
        int compared = 0;
        int different = 0;

        foreach (int seed in run.Seeds(inShort: 1_500, inPartOfLong: 60_000))
        {
            var random = new Random(seed);
            byte[] bytes = [.. Encoding.ASCII.GetBytes($"FLUSHALL\r\nHELLO {random.Next(2, 4)}\r\n"), .. Break(random, random.Next(1, 8))];
            string expected = ReplyTexts.RunToClose(redis.EndPoint, bytes);
            RespClient client = host.Connect(looksAhead: random.Next(3) != 0);
            string actual = ReplyTexts.WithoutNumbers(client.Send(bytes, random.Next(1, bytes.Length + 1)));
            client.End();
            if (s_differences.Any(text => actual.Contains(text, StringComparison.Ordinal)) || CountUnknown(actual) > CountUnknown(expected))
            {
                different++;
                continue;
            }

            compared++;
            Assert.True(
                expected == actual,
                $"{run.Replay(seed)}\n{ReplyTexts.Difference(expected, actual)}, in\n{Encoding.Latin1.GetString(bytes).ReplaceLineEndings("|")}");
        }

        Assert.True(compared > 9 * different, $"{compared} streams were compared; {different} ran into documented differences.");
    }

    // A random change of a name may create a command that only Redis has.
    private static int CountUnknown(string replies) =>
        replies.Split("-ERR unknown command").Length + replies.Split("-ERR unknown subcommand").Length;

    // Requests with bytes changed, removed, repeated or inserted; without zero bytes, which are a documented difference.
    private static byte[] Break(Random random, int requests)
    {
        List<byte> bytes =
        [
            .. Encoding.Latin1.GetBytes(string.Concat(RandomRequests.Make(random, requests)
                .Select(request => Write(random, [.. request.Select(word => word.Replace('\0', '0'))])))),
        ];
        for (int i = random.Next(1, 4); i > 0 && bytes.Count > 0; i--)
        {
            int place = random.Next(bytes.Count);
            switch (random.Next(5))
            {
                case 0:
                    bytes[place] = "*$\r\n -0129a\"'\\x"u8[random.Next(15)];
                    break;
                case 1:
                    bytes.RemoveRange(place, Math.Min(random.Next(1, 4), bytes.Count - place));
                    break;
                case 2:
                    bytes.InsertRange(place, bytes.GetRange(place, Math.Min(random.Next(1, 6), bytes.Count - place)));
                    break;
                case 3:
                    bytes.Insert(place, (byte)random.Next(1, 256));
                    break;
                default:
                    bytes.RemoveRange(place, bytes.Count - place);
                    break;
            }
        }

        return [.. bytes];
    }

    // Sometimes as an inline command, if the words allow it.
    private static string Write(Random random, string[] request) =>
        random.Next(4) == 0 && request.All(word => word.Length > 0 && word.All(letter => letter is > ' ' and <= '~' and not '"' and not '\''))
            ? string.Join(' ', request) + (random.Next(3) == 0 ? "\n" : "\r\n")
            : ReplyTexts.Encode(request);

    private static string Show(List<string[]> requests) => string.Join('\n', requests.Select(request => string.Join(' ', request)));
}
