namespace Cairn.WriteAhead;

/// <summary>
/// A statement that is added to a piece of the log after its creation, so that the piece can be judged without the store's file (LogFileHeader I3).
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = Bytes)]
internal unsafe struct LogSeal
{
    public const int Bytes = 32;

    private const int CheckAt = 16;

    /// <summary>Every record below this position was durable.</summary>
    [FieldOffset(0)] public long Durable;

    /// <summary>The number of the next piece. 0 if this piece is the last one.</summary>
    [FieldOffset(8)] public long Next;

    /// <summary>The checksum of the fields before it and of the piece's salt.</summary>
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
