using System.Runtime.InteropServices;
using Cairn.Storage;

namespace Cairn.WriteAhead;

// The first page of a file of records: a piece of the log, or a snapshot.
//
//   I1  Written and on disk before the file has its name, and never changed, but for the seals.
//   I2  Salt is another in every file, so that no record of another file, or of an earlier life of this one, is valid in it.
//   I3  The seals are written later, without a flush, each in a sector of its own. So a seal says something true, or nothing: a torn one has
//       a wrong checksum.
//
// Version 1 has no seals and no FileBytes, and its checksum covers their place.
[StructLayout(LayoutKind.Explicit, Size = PageBytes)]
internal unsafe struct LogFileHeader
{
    /// <summary>The first record begins here.</summary>
    public const int PageBytes = 4096;

    /// <summary>"CAIRNLG\n" read as a little-endian number.</summary>
    public const ulong ExpectedMagic = 0x0A47_4C4E_5249_4143;

    /// <summary>Of the pieces of a log. Pieces of version 1 are read, and gone on with until they are full.</summary>
    public const uint CurrentVersion = 2;

    /// <summary>Of snapshots and backups, and of the pieces that earlier versions made.</summary>
    public const uint FirstVersion = 1;

    public const int VersionOffset = 8;
    public const int ClosedSealOffset = 3072;
    public const int ContinuedSealOffset = 3584;

    /// <summary>Room for what a store needs to be opened without its map: the key check of encryption.</summary>
    public const int KeyBlockOffset = 2048;
    public const int KeyBlockBytes = 1024;

    [FieldOffset(0)] public ulong Magic;
    [FieldOffset(VersionOffset)] public uint FormatVersion;
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

    /// <summary>Of the page but itself, up to the seals.</summary>
    [FieldOffset(56)] public ulong Checksum;

    /// <summary>Of a piece of the log: how long the file is. A shorter one was cut.</summary>
    [FieldOffset(64)] public long FileBytes;
    [FieldOffset(KeyBlockOffset)] public fixed byte KeyBlock[KeyBlockBytes];

    /// <summary>Of a piece of the log: where the log was durable when an opening was closed last.</summary>
    [FieldOffset(ClosedSealOffset)] public LogSeal Closed;

    /// <summary>Of a piece of the log: where it ends, and which piece goes on.</summary>
    [FieldOffset(ContinuedSealOffset)] public LogSeal Continued;

    /// <summary>Everything below this position was on the disk, by the seals; 0 if they say nothing.</summary>
    public readonly long SealedDurable => Math.Max(Closed.IsWhole(Salt) ? Closed.Durable : 0, Continued.IsWhole(Salt) ? Continued.Durable : 0);

    /// <summary>The number of the piece that goes on behind this one, by the seals; 0 if they say nothing.</summary>
    public readonly long SealedNext => Continued.IsWhole(Salt) ? Continued.Next : 0;

    /// <summary>Fills a page. <paramref name="keyBlock"/> may be empty.</summary>
    public static void Write(
        Span<byte> page, LogFileKind kind, ulong logId, ulong salt, long sequence, long startPosition, long createdUnixMs,
        ReadOnlySpan<byte> keyBlock, long fileBytes = 0, uint? version = null)
    {
        page[..PageBytes].Clear();
        fixed (byte* bytes = page)
        {
            var header = (LogFileHeader*)bytes;
            header->Magic = ExpectedMagic;
            header->FormatVersion = version ?? (kind == LogFileKind.Log ? CurrentVersion : FirstVersion);
            header->Kind = kind;
            header->LogId = logId;
            header->Salt = salt;
            header->Sequence = sequence;
            header->StartPosition = startPosition;
            header->CreatedUnixMs = createdUnixMs;
            header->FileBytes = fileBytes;
            keyBlock.CopyTo(new Span<byte>(header->KeyBlock, KeyBlockBytes));
            header->Checksum = ChecksumOf(page, header->FormatVersion);
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
        return header.Magic == ExpectedMagic && header.Checksum == ChecksumOf(page, header.FormatVersion)
            && header.StartPosition >= 0 && header.StartPosition % LogRecord.Alignment == 0;
    }

    private static ulong ChecksumOf(ReadOnlySpan<byte> page, uint version)
    {
        const int At = 56;
        int end = version == FirstVersion ? PageBytes : ClosedSealOffset;
        fixed (byte* bytes = page)
        {
            ulong first = KeyHash.Compute(bytes, At, ExpectedMagic);
            return KeyHash.Compute(bytes + At + sizeof(ulong), end - At - sizeof(ulong), first);
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
