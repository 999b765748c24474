using System.Runtime.InteropServices;
using Cairn.Indexing;

namespace Cairn.WriteAhead;

// The first page of a file of records: a piece of the log, or a snapshot.
//
//   I1  Written and on disk before the file has its name, and never changed.
//   I2  Salt is another in every file, so that no record of another file, or of an earlier life of this one, is valid in it.
[StructLayout(LayoutKind.Explicit, Size = PageBytes)]
internal unsafe struct LogFileHeader
{
    /// <summary>The first record begins here.</summary>
    public const int PageBytes = 4096;

    /// <summary>"CAIRNLG\n" read as a little-endian number.</summary>
    public const ulong ExpectedMagic = 0x0A47_4C4E_5249_4143;
    public const uint CurrentVersion = 1;

    /// <summary>Room for what a store needs to be opened without its map: the key check of encryption.</summary>
    public const int KeyBlockOffset = 2048;
    public const int KeyBlockBytes = 1024;

    [FieldOffset(0)] public ulong Magic;
    [FieldOffset(8)] public uint FormatVersion;
    [FieldOffset(12)] public LogFileKind Kind;

    /// <summary>Random; the same in all files of one log.</summary>
    [FieldOffset(16)] public ulong LogId;
    [FieldOffset(24)] public ulong Salt;

    /// <summary>Of a piece of the log: 1 for the first, and so on.</summary>
    [FieldOffset(32)] public long Sequence;

    /// <summary>
    /// Of a piece of the log: the position of its first record, and so where the piece before it ends. Of a snapshot: the position from which
    /// the log completes it.
    /// </summary>
    [FieldOffset(40)] public long StartPosition;
    [FieldOffset(48)] public long CreatedUnixMs;

    /// <summary>Of the whole page but itself.</summary>
    [FieldOffset(56)] public ulong Checksum;
    [FieldOffset(KeyBlockOffset)] public fixed byte KeyBlock[KeyBlockBytes];

    /// <summary>Fills a page. <paramref name="keyBlock"/> may be empty.</summary>
    public static void Write(
        Span<byte> page, LogFileKind kind, ulong logId, ulong salt, long sequence, long startPosition, long createdUnixMs,
        ReadOnlySpan<byte> keyBlock)
    {
        page[..PageBytes].Clear();
        fixed (byte* bytes = page)
        {
            var header = (LogFileHeader*)bytes;
            header->Magic = ExpectedMagic;
            header->FormatVersion = CurrentVersion;
            header->Kind = kind;
            header->LogId = logId;
            header->Salt = salt;
            header->Sequence = sequence;
            header->StartPosition = startPosition;
            header->CreatedUnixMs = createdUnixMs;
            keyBlock.CopyTo(new Span<byte>(header->KeyBlock, KeyBlockBytes));
            header->Checksum = ChecksumOf(page);
        }
    }

    /// <summary>False if the page is not the header of a file of records, or is damaged.</summary>
    public static bool TryRead(ReadOnlySpan<byte> page, out LogFileHeader header)
    {
        if (page.Length < PageBytes)
        {
            header = default;
            return false;
        }

        header = MemoryMarshal.Read<LogFileHeader>(page);
        return header.Magic == ExpectedMagic && header.Checksum == ChecksumOf(page)
            && header.StartPosition >= 0 && header.StartPosition % LogRecord.Alignment == 0;
    }

    private static ulong ChecksumOf(ReadOnlySpan<byte> page)
    {
        const int At = 56;
        fixed (byte* bytes = page)
        {
            ulong first = KeyHash.Compute(bytes, At, ExpectedMagic);
            return KeyHash.Compute(bytes + At + sizeof(ulong), PageBytes - At - sizeof(ulong), first);
        }
    }
}

/// <summary>What a file of records is.</summary>
internal enum LogFileKind : uint
{
    None = 0,
    Log = 1,
    Snapshot = 2,
    Backup = 3,
}
