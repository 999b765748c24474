using System.Runtime.InteropServices;
using Cairn.Storage;

namespace Cairn.WriteAhead;

/// <summary>What a piece of the log is told of itself after it was made, so that it can be judged without the store's file (LogFileHeader I3).</summary>
[StructLayout(LayoutKind.Explicit, Size = Bytes)]
internal unsafe struct LogSeal
{
    public const int Bytes = 32;

    private const int CheckAt = 16;

    /// <summary>Every record below this position was on the disk.</summary>
    [FieldOffset(0)] public long Durable;

    /// <summary>The number of the piece that goes on; 0 if this one does.</summary>
    [FieldOffset(8)] public long Next;

    /// <summary>Of the fields before, with the piece's salt.</summary>
    [FieldOffset(CheckAt)] public ulong Check;

    public static LogSeal Of(long durable, long next, ulong salt)
    {
        var seal = new LogSeal { Durable = durable, Next = next };
        seal.Check = seal.CheckWith(salt);
        return seal;
    }

    public readonly bool IsWhole(ulong salt) => Durable > 0 && Check == CheckWith(salt);

    private readonly ulong CheckWith(ulong salt)
    {
        LogSeal copy = this;
        return KeyHash.Compute((byte*)&copy, CheckAt, salt);
    }
}
