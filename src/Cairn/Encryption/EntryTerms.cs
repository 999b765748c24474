using System.Runtime.InteropServices;
using Cairn.Storage;

namespace Cairn.Encryption;

/// <summary>What an entry says besides key and value, and no one without the store's key may change.</summary>
internal readonly record struct EntryTerms(uint Collection, uint Flags, long Deadline, long SlidingMs)
{
    public static EntryTerms Of(uint collection, uint flags, in ResolvedExpiration expiration) =>
        new(collection, flags, expiration.Deadline, expiration.SlidingMs);

    public static EntryTerms Of(uint collection, in EntryInfo info) => new(collection, info.Flags, info.AbsoluteDeadlineUnixMs, info.SlidingMs);

    /// <summary>Writes 48 bytes, whole blocks of the cipher.</summary>
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
