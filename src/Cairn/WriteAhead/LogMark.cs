namespace Cairn.WriteAhead;

// A number and its checksum in one word of the map: 48 bits and 16 bits.
//
//   I1  The word is stored in one step, so the disk always has a complete mark of some moment. If a bit is changed, the mark is not valid.
//
// The word 0 is not a valid mark either. A file of an earlier version has 0 here.
internal static class LogMark
{
    private const int CheckBits = 16;
    private const ulong Most = (1UL << (64 - CheckBits)) - 1;
    private const uint Seed = 0x4C4F_474D;

    /// <summary>Returns the mark of a number. A number that needs more than 48 bits has the mark 0, which is not valid.</summary>
    public static ulong Of(long number) => (ulong)number is > 0 and <= Most ? ((ulong)number << CheckBits) | CheckOf((ulong)number) : 0;

    /// <summary>Returns the number of a mark, or 0 if the mark is not valid.</summary>
    public static long NumberOf(ulong mark) => Of((long)(mark >> CheckBits)) == mark ? (long)(mark >> CheckBits) : 0;

    public static ulong OfPosition(long position) => Of(position / LogRecord.Alignment);

    public static long PositionOf(ulong mark) => NumberOf(mark) * LogRecord.Alignment;

    private static uint CheckOf(ulong number) => BitOperations.Crc32C(Seed, number) >> (32 - CheckBits);
}
