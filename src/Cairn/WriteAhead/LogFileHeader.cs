namespace Cairn.WriteAhead;

// The first page of a file of records. Such a file is a piece of the log, or a snapshot.
//
//   I1  The header is durable before the file gets its name. It never changes afterwards, except for the seals.
//   I2  Every file has a different salt. So no record of another file, or of an earlier file with the same name, is valid in it.
//   I3  The seals are written later, without a flush, each in a sector of its own. A seal is either true or not readable: a torn seal has a
//       wrong checksum.
//
// Version 1 has no seals and no FileBytes. Its checksum covers the place of both.
[StructLayout(LayoutKind.Explicit, Size = PageBytes)]
internal unsafe struct LogFileHeader
{
    /// <summary>The length of the page in bytes. The first record begins here.</summary>
    public const int PageBytes = 4096;

    /// <summary>"CAIRNLG\n" read as a little-endian number.</summary>
    public const ulong ExpectedMagic = 0x0A47_4C4E_5249_4143;

    /// <summary>The version of new pieces of a log. The store also reads pieces of version 1, and appends to one until it is full.</summary>
    public const uint CurrentVersion = 2;

    /// <summary>The version of snapshots and backups, and of pieces that earlier versions of Cairn created.</summary>
    public const uint FirstVersion = 1;

    public const int VersionOffset = 8;
    public const int ClosedSealOffset = 3072;
    public const int ContinuedSealOffset = 3584;

    /// <summary>The offset of the key check of an encrypted store, so that the log can be opened without the store's file.</summary>
    public const int KeyBlockOffset = 2048;
    public const int KeyBlockBytes = 1024;

    [FieldOffset(0)] public ulong Magic;
    [FieldOffset(VersionOffset)] public uint FormatVersion;
    [FieldOffset(12)] public LogFileKind Kind;

    /// <summary>A random number that is the same in all files of one log.</summary>
    [FieldOffset(16)] public ulong LogId;
    [FieldOffset(24)] public ulong Salt;

    /// <summary>In a piece of the log: its number, from 1.</summary>
    [FieldOffset(32)] public long Sequence;

    /// <summary>
    /// In a piece of the log: the position of its first record, where the previous piece ends. In a snapshot: the position from which the log completes the
    /// snapshot.
    /// </summary>
    [FieldOffset(40)] public long StartPosition;
    [FieldOffset(48)] public long CreatedUnixMs;

    /// <summary>The checksum of the page up to the seals, without this field.</summary>
    [FieldOffset(56)] public ulong Checksum;

    /// <summary>In a piece of the log: the length with which the file was created, in bytes. A shorter file has been cut.</summary>
    [FieldOffset(64)] public long FileBytes;
    [FieldOffset(KeyBlockOffset)] public fixed byte KeyBlock[KeyBlockBytes];

    /// <summary>In a piece of the log: the position up to which the log was durable when an opening was last closed.</summary>
    [FieldOffset(ClosedSealOffset)] public LogSeal Closed;

    /// <summary>In a piece of the log: the position where it ends, and the number of the next piece.</summary>
    [FieldOffset(ContinuedSealOffset)] public LogSeal Continued;

    /// <summary>Gets the position below which everything was durable, according to the seals. 0 if no seal is valid.</summary>
    public readonly long SealedDurable => Math.Max(Closed.IsWhole(Salt) ? Closed.Durable : 0, Continued.IsWhole(Salt) ? Continued.Durable : 0);

    /// <summary>Gets the number of the next piece, according to the seals. 0 if no seal is valid.</summary>
    public readonly long SealedNext => Continued.IsWhole(Salt) ? Continued.Next : 0;

    /// <summary>Fills a page. <paramref name="keyBlock"/> can be empty.</summary>
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

    /// <summary>Reads a header. Returns false if the page is not the header of a file of records, or if it is damaged.</summary>
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

/// <summary>The kind of a file of records.</summary>
internal enum LogFileKind : uint
{
    None = 0,
    Log = 1,
    Snapshot = 2,
    Backup = 3,
}
