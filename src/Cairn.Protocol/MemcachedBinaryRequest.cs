namespace Cairn.Protocol;

/// <summary>
/// One request of memcached's binary protocol. Its ranges point into the input that it was read from. A property that does not apply to an
/// opcode is zero.
/// </summary>
[StructLayout(LayoutKind.Auto)]
internal struct MemcachedBinaryRequest
{
    /// <summary>Gets the opcode as the client sent it. Replies repeat it.</summary>
    public byte Opcode { get; internal set; }

    /// <summary>Gets the command. <see cref="MemcachedCommand.None"/> for an unknown opcode.</summary>
    public MemcachedCommand Command { get; internal set; }

    /// <summary>Gets whether the client wants no reply to a success or, for a <c>get</c>, to a miss.</summary>
    public bool IsQuiet { get; internal set; }

    /// <summary>Gets whether the reply contains the key.</summary>
    public bool ReturnsKey { get; internal set; }

    /// <summary>Gets the status to reply with to a request that is <see cref="ParseStatus.Malformed"/> or
    /// <see cref="ParseStatus.Fatal"/>; <see cref="MemcachedStatus.Success"/> for no reply.</summary>
    public MemcachedStatus Error { get; internal set; }

    /// <summary>Gets the four bytes that the reply repeats.</summary>
    public uint Opaque { get; internal set; }

    /// <summary>Gets the version that the entry must have; 0 for any.</summary>
    public ulong Version { get; internal set; }

    /// <summary>Gets the key, or the argument of <c>stat</c> or of an authentication.</summary>
    public ByteRange Key { get; internal set; }

    /// <summary>Gets the value of a storage command or an authentication. The range of an incomplete value ends at 2 GiB.</summary>
    public ByteRange Value { get; internal set; }

    /// <summary>Gets the client flags of a storage command.</summary>
    public uint ClientFlags { get; internal set; }

    /// <summary>Gets the expiration in the form of <see cref="MemcachedRequest.ExpirationSeconds"/>, never negative. Also the delay of a
    /// flush.</summary>
    public uint ExpirationSeconds { get; internal set; }

    /// <summary>Gets the delta of an arithmetic command, or the level of <c>verbosity</c>.</summary>
    public ulong Delta { get; internal set; }

    /// <summary>Gets the value of a number that an arithmetic command creates.</summary>
    public ulong InitialValue { get; internal set; }

    /// <summary>Gets the length of header, extras and key in bytes.</summary>
    public int HeadBytes { get; internal set; }

    /// <summary>Gets the number of bytes behind the head that belong to a malformed request, or to one whose value is incomplete. A caller
    /// that refuses the request skips them.</summary>
    public long SkipBytes { get; internal set; }

    /// <summary>Gets whether an arithmetic command creates a number that does not exist.</summary>
    public readonly bool CreatesNumber => ExpirationSeconds != uint.MaxValue;

    /// <summary>Gets the length of the whole request in bytes.</summary>
    public readonly long TotalBytes => (long)HeadBytes + Value.Length;
}
