using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using Cairn.Simulation.Network;

namespace Cairn.Simulation.Servers;

/// <summary>What the model of Redis keeps for one connection.</summary>
internal sealed class RedisSession(VirtualConnection? connection, long id)
{
    public VirtualConnection? Connection => connection;

    public long Id => id;

    public List<byte> Input { get; } = [];

    public List<byte> Output { get; } = [];

    public bool HasInput { get; set; }

    public bool IsClosed { get; set; }

    /// <summary>Gets or sets whether the next command may use a slot that moves to this server.</summary>
    public bool IsAsking { get; set; }

    /// <summary>Gets or sets whether the commands of a transaction run now.</summary>
    public bool IsExecuting { get; set; }

    /// <summary>Gets or sets whether a command of the transaction was refused, so that EXEC is.</summary>
    public bool IsAborted { get; set; }

    /// <summary>Gets the keys that changed in this turn, of those that the connection had read.</summary>
    public HashSet<string> Told { get; } = new(StringComparer.Ordinal);

    /// <summary>Gets or sets the commands between MULTI and EXEC; null outside.</summary>
    public List<byte[][]>? Queued { get; set; }

    /// <summary>Gets or sets the prefixes of the tracked keys; null if the connection tracks none.</summary>
    public List<string>? Prefixes { get; set; }

    public bool IsNoLoop { get; set; }

    public HashSet<string> Channels { get; } = new(StringComparer.Ordinal);

    public void Write(string text) => Output.AddRange(Encoding.Latin1.GetBytes(text));

    public void WriteBulk(string text) => WriteBulk(Encoding.Latin1.GetBytes(text));

    public void WriteBulk(byte[]? bytes)
    {
        if (bytes is null)
        {
            Write("_\r\n");
            return;
        }

        Write(string.Create(CultureInfo.InvariantCulture, $"${bytes.Length}\r\n"));
        Output.AddRange(bytes);
        Write("\r\n");
    }

    /// <summary>Takes the next command, if it has arrived as a whole.</summary>
    public bool TryRead([NotNullWhen(true)] out byte[][]? words)
    {
        words = null;
        ReadOnlySpan<byte> input = CollectionsMarshal.AsSpan(Input);
        int at = 0;
        if (!TryLength(input, ref at, (byte)'*', out int count))
        {
            return false;
        }

        byte[][] read = new byte[count][];
        for (int i = 0; i < count; i++)
        {
            if (!TryLength(input, ref at, (byte)'$', out int length) || input.Length - at < length + 2)
            {
                return false;
            }

            read[i] = input.Slice(at, length).ToArray();
            at += length + 2;
        }

        Input.RemoveRange(0, at);
        words = read;
        return true;
    }

    private static bool TryLength(ReadOnlySpan<byte> input, ref int at, byte mark, out int length)
    {
        length = 0;
        int end = input[at..].IndexOf("\r\n"u8);
        if (end < 0)
        {
            return false;
        }

        if (input[at] != mark)
        {
            throw new InvalidDataException($"A command begins with {(char)input[at]} where {(char)mark} is due.");
        }

        length = int.Parse(input.Slice(at + 1, end - 1), CultureInfo.InvariantCulture);
        at += end + 2;
        return true;
    }
}
