namespace Cairn.Protocol;

/// <summary>
/// One reply of memcached's text protocol. A request may have several. The ranges of a reply point into the input that it was read from. A
/// property that does not apply to a reply is zero.
/// </summary>
[StructLayout(LayoutKind.Auto)]
internal struct MemcachedReply
{
    /// <summary>Gets the kind of the reply.</summary>
    public MemcachedReplyKind Kind { get; internal set; }

    /// <summary>Gets the code of a meta command's reply.</summary>
    public MemcachedMetaCode MetaCode { get; internal set; }

    /// <summary>Gets the key of a <c>VALUE</c> or <c>ME</c> line, or the name of a <c>STAT</c> line.</summary>
    public ByteRange Key { get; internal set; }

    /// <summary>
    /// Gets the rest of the line: the value of a statistic, a version, the message of an error, the names and values of <c>ME</c>, or a
    /// line of unknown kind.
    /// </summary>
    public ByteRange Text { get; internal set; }

    /// <summary>Gets the flags of a meta command's reply. <see cref="EnumerateFlags"/> enumerates them.</summary>
    public ByteRange Flags { get; internal set; }

    /// <summary>Gets the data block without its line end.</summary>
    public ByteRange Value { get; internal set; }

    /// <summary>Gets a value that says whether the reply has a data block.</summary>
    public bool HasValue { get; internal set; }

    /// <summary>Gets the client flags of a <c>VALUE</c> line.</summary>
    public uint ClientFlags { get; internal set; }

    /// <summary>Gets the version of a <c>VALUE</c> line; null if it has none.</summary>
    public ulong? Version { get; internal set; }

    /// <summary>Gets the number after <c>incr</c> or <c>decr</c>.</summary>
    public ulong Number { get; internal set; }

    /// <summary>Gets the length of the line with its end, in bytes.</summary>
    public int LineBytes { get; internal set; }

    /// <summary>Gets the length of the whole reply in bytes; 0 while the line is incomplete.</summary>
    public readonly long TotalBytes => HasValue ? (long)LineBytes + Value.Length + 2 : LineBytes;

    /// <summary>Enumerates the flags with their tokens, such as <c>c77</c>.</summary>
    /// <param name="input">The input that the reply was read from.</param>
    public readonly MemcachedTokens EnumerateFlags(ReadOnlySpan<byte> input) => new(Flags.Of(input));
}
