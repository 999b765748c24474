namespace Cairn.Encryption;

/// <summary>The properties of an entry, in addition to key and value, that cannot be changed without the store's key.</summary>
internal readonly record struct EntryTerms(uint Collection, uint Flags, long Deadline, long SlidingMs)
{
    public static EntryTerms Of(uint collection, uint flags, in ResolvedExpiration expiration) =>
        new(collection, flags, expiration.Deadline, expiration.SlidingMs);

    public static EntryTerms Of(uint collection, in EntryInfo info) => new(collection, info.Flags, info.AbsoluteDeadlineUnixMs, info.SlidingMs);

    /// <summary>Writes 48 bytes, which are complete blocks of the cipher.</summary>
    public void Write(in KeyTag tag, Span<byte> target)
    {
        MemoryMarshal.Write(target, tag);
        MemoryMarshal.Write(target[16..], Collection);
        MemoryMarshal.Write(target[20..], Flags);
        MemoryMarshal.Write(target[24..], Deadline);
        MemoryMarshal.Write(target[32..], SlidingMs);
        MemoryMarshal.Write(target[40..], 0UL);
    }
}
