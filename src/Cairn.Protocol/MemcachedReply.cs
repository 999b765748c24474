using System.Runtime.InteropServices;

namespace Cairn.Protocol;

/// <summary>
/// One reply of memcached's text protocol, of which a request may have several. Its ranges point into the input it was read
/// from. What a reply does not have is zero.
/// </summary>
[StructLayout(LayoutKind.Auto)]
public struct MemcachedReply
{
    /// <summary>What kind of reply it is.</summary>
    public MemcachedReplyKind Kind { get; internal set; }

    /// <summary>The code of a meta command's reply.</summary>
    public MemcachedMetaCode MetaCode { get; internal set; }

    /// <summary>The key of a <c>VALUE</c> or <c>ME</c> line, the name of a <c>STAT</c> line.</summary>
    public ByteRange Key { get; internal set; }

    /// <summary>
    /// The rest of the line: a statistic's value, a version, an error's message, the names and values of <c>ME</c>, or a line
    /// of no known kind.
    /// </summary>
    public ByteRange Text { get; internal set; }

    /// <summary>The flags of a meta command's reply; <see cref="EnumerateFlags"/> goes through them.</summary>
    public ByteRange Flags { get; internal set; }

    /// <summary>The data block, without its line end.</summary>
    public ByteRange Value { get; internal set; }

    /// <summary>True if a data block belongs to it.</summary>
    public bool HasValue { get; internal set; }

    /// <summary>The client's flags of a <c>VALUE</c> line.</summary>
    public uint ClientFlags { get; internal set; }

    /// <summary>The version of a <c>VALUE</c> line; null if it has none.</summary>
    public ulong? Version { get; internal set; }

    /// <summary>The number after <c>incr</c> or <c>decr</c>.</summary>
    public ulong Number { get; internal set; }

    /// <summary>Bytes of the line with its end.</summary>
    public int LineBytes { get; internal set; }

    /// <summary>Bytes of the whole reply. 0 while the line's end is not there.</summary>
    public readonly long TotalBytes => HasValue ? (long)LineBytes + Value.Length + 2 : LineBytes;

    /// <summary>The flags with their tokens, such as <c>c77</c>.</summary>
    /// <param name="input">The input the reply was read from.</param>
    public readonly MemcachedTokens EnumerateFlags(ReadOnlySpan<byte> input) => new(Flags.Of(input));

    /// <summary>Looks for a flag.</summary>
    /// <param name="input">The input the reply was read from.</param>
    /// <param name="letter">The flag's letter.</param>
    /// <param name="token">What follows the letter.</param>
    /// <returns><see langword="false"/> if the reply has no such flag.</returns>
    public readonly bool TryGetFlag(ReadOnlySpan<byte> input, char letter, out ReadOnlySpan<byte> token)
    {
        foreach (var flag in EnumerateFlags(input))
        {
            if (flag[0] == letter)
            {
                token = flag[1..];
                return true;
            }
        }

        token = default;
        return false;
    }
}
