using System.Numerics;

namespace Cairn.WriteAhead;

// A number and its checksum in one word of the map: 48 bits and 16.
//
//   I1  The word is stored in one step, so the disk has the mark of some moment, whole. A bit that changed makes it say nothing.
//
// 0 says nothing, too: that is what a file has which an earlier version made.
internal static class LogMark
{
    private const int CheckBits = 16;
    private const ulong Most = (1UL << (64 - CheckBits)) - 1;
    private const uint Seed = 0x4C4F_474D;

    /// <summary>The mark of a number; a number too large for one has the mark that says nothing.</summary>
    public static ulong Of(long number) => (ulong)number is > 0 and <= Most ? ((ulong)number << CheckBits) | CheckOf((ulong)number) : 0;

    /// <summary>The number of a mark; 0 if it says nothing.</summary>
    public static long NumberOf(ulong mark) => Of((long)(mark >> CheckBits)) == mark ? (long)(mark >> CheckBits) : 0;

    public static ulong OfPosition(long position) => Of(position / LogRecord.Alignment);

    public static long PositionOf(ulong mark) => NumberOf(mark) * LogRecord.Alignment;

    private static uint CheckOf(ulong number) => BitOperations.Crc32C(Seed, number) >> (32 - CheckBits);
}
