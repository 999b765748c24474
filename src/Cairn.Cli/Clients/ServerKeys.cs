using Cairn.Protocol;

namespace Cairn.Cli.Clients;

/// <summary>The keys that take the most memory of a server, and the sums over all keys. The second key of a plain value counts as a part of its entry.</summary>
internal sealed record ServerKeys(IReadOnlyList<(byte[] Key, long Bytes)> Biggest, long Count, long HeadCount, long MemoryBytes)
{
    private const string KeysPerPage = "500";

    /// <summary>Lists all keys, and asks for the memory of each, a page at a time. SCAN may list a key twice; it then counts twice.</summary>
    /// <param name="link">The connection to a server that speaks RESP.</param>
    /// <param name="most">The number of keys to return.</param>
    /// <param name="interruption">Ends the listing.</param>
    /// <exception cref="ToolException">The server speaks another protocol, or refuses a command.</exception>
    public static ServerKeys Measure(ServerLink link, int most, CancellationToken interruption)
    {
        link.RequireResp("list keys");
        var biggest = new PriorityQueue<byte[], long>();
        var listed = new HashSet<string>(StringComparer.Ordinal);
        long count = 0;
        long heads = 0;
        long sum = 0;
        string cursor = "0";
        do
        {
            interruption.ThrowIfCancellationRequested();
            List<byte[]> page = ReadPage(link, ref cursor);
            link.SendAll(page.Select(key => new[] { "MEMORY"u8.ToArray(), "USAGE"u8.ToArray(), key }));
            foreach (byte[] key in page)
            {
                if (link.ReadNumber("MEMORY USAGE") is not { } bytes)
                {
                    continue; // Removed in between.
                }

                sum += bytes;
                if (key.AsSpan().StartsWith(Encoding.ASCII.GetBytes(ServerEntry.HeadPrefix)))
                {
                    heads++;
                    continue;
                }

                count++;
                if (listed.Add(Convert.ToHexString(key)))
                {
                    biggest.Enqueue(key, bytes);
                }

                if (biggest.Count > most)
                {
                    listed.Remove(Convert.ToHexString(biggest.Dequeue()));
                }
            }
        }
        while (cursor != "0");

        (byte[] Key, long Bytes)[] found = [.. biggest.UnorderedItems];
        if (heads > 0)
        {
            link.SendAll(found.Select(entry => new[] { "MEMORY"u8.ToArray(), "USAGE"u8.ToArray(), ServerEntry.HeadKey(entry.Key) }));
            for (int i = 0; i < found.Length; i++)
            {
                found[i].Bytes += link.ReadNumber("MEMORY USAGE") ?? 0;
            }
        }

        return new ServerKeys([.. found.OrderByDescending(entry => entry.Bytes)], count, heads, sum);
    }

    private static List<byte[]> ReadPage(ServerLink link, ref string cursor)
    {
        ReadOnlySpan<byte> reply = link.Ask("SCAN", cursor, "COUNT", KeysPerPage);
        link.ThrowIfError(reply, "refuses SCAN");
        var keys = new List<byte[]>();
        var reader = new RespReplyReader(reply);
        reader.Read(); // The pair of the cursor and the keys.
        reader.Read();
        cursor = Encoding.ASCII.GetString(reader.Value);
        reader.Read();
        for (int left = reader.Count; left > 0 && reader.Read(); left--)
        {
            keys.Add(reader.Value.ToArray());
        }

        return keys;
    }
}
