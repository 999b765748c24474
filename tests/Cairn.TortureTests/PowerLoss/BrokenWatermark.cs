using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.TortureTests.PowerLoss;

/// <summary>The error of a broken log in its marks of durability.</summary>
internal enum WatermarkDefect
{
    None,

    /// <summary>A record says that everything before it is durable, although no flush has completed for that.</summary>
    TooEarly,

    /// <summary>Neither a record nor the map contains a mark.</summary>
    TooLate,
}

/// <summary>Deliberately broken twins of a log: the same writes to the disk, except that records and map contain other marks.</summary>
internal static class BrokenWatermark
{
    private static readonly int MarkOffset =
        (int)(System.Runtime.InteropServices.Marshal.OffsetOf<Superblock>(nameof(Superblock.Log))
            + System.Runtime.InteropServices.Marshal.OffsetOf<LogBlock>(nameof(LogBlock.DurableMark)));

    public static IReadOnlyList<DiskChange> Of(IReadOnlyList<DiskChange> changes, WatermarkDefect defect)
    {
        if (defect == WatermarkDefect.None)
        {
            return changes;
        }

        Dictionary<int, LogFileHeader> pieces = PiecesOf(changes);
        return [.. changes.Select(change => !change.IsBytes && change.Kind != DiskChangeKind.RangeFlushed ? change
            : pieces.TryGetValue(change.File, out LogFileHeader header) ? WithRecord(change, header, defect)
            : defect == WatermarkDefect.TooLate ? WithoutMark(change)
            : change)];
    }

    private static Dictionary<int, LogFileHeader> PiecesOf(IReadOnlyList<DiskChange> changes)
    {
        var pieces = new Dictionary<int, LogFileHeader>();
        foreach (DiskChange change in changes.Where(change => change.Offset == 0 && change.Data.Length >= LogFileHeader.PageBytes))
        {
            if (LogFileHeader.TryRead(change.Data, out LogFileHeader header) && header.Kind == LogFileKind.Log)
            {
                pieces[change.File] = header;
            }
        }

        return pieces;
    }

    // Each record is one write, except for long records, whose header is one.
    private static DiskChange WithRecord(DiskChange change, LogFileHeader header, WatermarkDefect defect)
    {
        long position = header.StartPosition + change.Offset - LogFileHeader.PageBytes;
        if (change.Kind != DiskChangeKind.Written || change.Offset < LogFileHeader.PageBytes
            || LogRecord.BytesAtHeader(change.Data, header.Salt, position) == 0)
        {
            return change;
        }

        byte[] data = [.. change.Data];
        LogRecord.WriteHeader(
            data, header.Salt, position, (LogKind)data[36], BitConverter.ToUInt32(data, 32), BitConverter.ToInt64(data, 16), BitConverter.ToInt32(data, 28),
            BitConverter.ToUInt32(data, 24), defect == WatermarkDefect.TooEarly ? position : 0);
        return change with { Data = data };
    }

    private static DiskChange WithoutMark(DiskChange change)
    {
        if (change.Offset != 0 || change.Data.Length < StoreLayout.SuperblockBytes || BitConverter.ToUInt64(change.Data) != Superblock.ExpectedMagic)
        {
            return change;
        }

        byte[] data = [.. change.Data];
        data.AsSpan(MarkOffset, sizeof(ulong)).Clear();
        return change with { Data = data };
    }
}
