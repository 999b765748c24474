using Cairn.Platform;

namespace Cairn.WriteAhead;

// Visits the records of a log, piece after piece, and determines where the log ends.
//
//   I1  A piece that is followed by another piece reaches the first record of that piece.
//   I2  The last piece reaches every position that is known to have been durable. The sources are the store's file (LogPromise), the piece's seals
//       (LogSeal), and the header of any record behind the end (LogRecord I3). A flush had returned for everything below, and a loss of power does not
//       undo a flush. So a shorter piece is damaged. An incomplete record above all of these positions is a torn tail and does not count. Nothing on
//       the disk says that a flush had returned for it.
internal static unsafe class LogWalk
{
    /// <summary>
    /// Visits everything that an empty store needs to be restored. These are the records of the snapshot, if there is one, and then those of the log up to
    /// its end. The log must not be written meanwhile.
    /// </summary>
    /// <inheritdoc cref="Read"/>
    public static LogEnd ReadAll(
        StorePlatform platform, LogFileSet files, LogPromise promise, LogRecordVisitor visitor, Action<StoreCorruptException>? onDamage)
    {
        files.RequireComplete(promise, onDamage);
        if (files.Snapshot is not null)
        {
            SnapshotEnd snapshot = ReadWhole(platform, files.Snapshot, visitor, onDamage);
            promise = promise with
            {
                Durable = Math.Max(promise.Durable, snapshot.LogPosition),
                Sequence = Math.Max(promise.Sequence, snapshot.LogSequence),
            };
        }

        return Read(platform, files, files.Start, long.MaxValue, promise, visitor, onDamage);
    }

    /// <summary>Visits the records of a snapshot or a backup. Returns the last record, which is not visited.</summary>
    /// <inheritdoc cref="Read"/>
    public static SnapshotEnd ReadWhole(StorePlatform platform, LogFileInfo info, LogRecordVisitor visitor, Action<StoreCorruptException>? onDamage)
    {
        using LogReader reader = LogFileSet.Open(platform, info);
        long records = 0;
        do
        {
            while (reader.TryRead(out LogRecord record))
            {
                if (record.Kind == LogKind.SnapshotEnd && record.Body.Length == sizeof(SnapshotEnd))
                {
                    var end = System.Runtime.InteropServices.MemoryMarshal.Read<SnapshotEnd>(record.Body);
                    if (end.Records != records)
                    {
                        StoreCorruptException.Report(StoreCorruptException.Log(info.Path, reader.Offset, $"{end.Records:N0} records", $"{records:N0}"), onDamage);
                    }

                    return end;
                }

                visitor(record);
                records++;
            }

            StoreCorruptException.Report(
                StoreCorruptException.Log(info.Path, reader.Offset, $"a record at position {reader.Position:N0}, or the last one", "neither"), onDamage);
        }
        while (reader.TrySkip(out _));

        return default;
    }

    /// <summary>Visits the records from one position up to another, or up to the end.</summary>
    /// <param name="platform">The platform of the files.</param>
    /// <param name="files">All files of the log.</param>
    /// <param name="start">The position of the first record to visit.</param>
    /// <param name="stop">
    /// For a log that is still written, the position at which the walk stops. The log must reach it. <see cref="long.MaxValue"/> for the end of a log that
    /// is not written.
    /// </param>
    /// <param name="promise">The minimum that the log must contain.</param>
    /// <param name="visitor">Called with each record.</param>
    /// <param name="onDamage">Called with each damage. The walk continues behind the damage. If null, damage ends the walk.</param>
    /// <exception cref="StoreCorruptException">The log is damaged, and <paramref name="onDamage"/> is null.</exception>
    public static LogEnd Read(
        StorePlatform platform, LogFileSet files, long start, long stop, LogPromise promise, LogRecordVisitor visitor,
        Action<StoreCorruptException>? onDamage = null)
    {
        files.RequireComplete(promise, onDamage, isWritten: stop != long.MaxValue);
        IReadOnlyList<LogFileInfo> pieces = files.From(start);
        long position = start;
        string? torn = null;
        for (int i = 0; i < pieces.Count && position < stop; i++)
        {
            LogFileInfo piece = pieces[i];
            long next = i + 1 < pieces.Count ? pieces[i + 1].Header.StartPosition : long.MaxValue;
            long durable = next != long.MaxValue ? next
                : stop != long.MaxValue ? stop
                : Math.Max(promise.Durable, piece.Header.SealedDurable);
            long last = Math.Min(next, stop);
            using LogReader reader = LogFileSet.Open(platform, piece);
            reader.Seek(Math.Max(position, reader.Header.StartPosition));
            while (true)
            {
                while (reader.Position < last && reader.TryRead(out LogRecord record))
                {
                    visitor(record);
                }

                position = reader.Position;
                if (position >= last)
                {
                    break;
                }

                if (DamageAt(reader, piece.Path, durable) is not { } damage)
                {
                    torn = reader.IsAnythingHere() ? piece.Path : null;
                    break;
                }

                StoreCorruptException.Report(damage, onDamage);
                if (!reader.TrySkip(out _))
                {
                    break;
                }
            }
        }

        return new LogEnd(position, torn);
    }

    // Returns null if the incomplete record here is a torn tail (I2).
    private static StoreCorruptException? DamageAt(LogReader reader, string path, long durable)
    {
        long end = reader.Position;
        while (durable <= end && reader.TrySkip(out long stated))
        {
            durable = stated;
        }

        reader.Seek(end);
        return durable <= end ? null : StoreCorruptException.Log(
            path, reader.Offset, $"a whole record at position {end:N0}, because everything below position {durable:N0} was on the disk",
            reader.IsAnythingHere() ? "none that is whole" : "nothing");
    }
}

/// <summary>The end of a log's records.</summary>
/// <param name="Position">The position behind the last record.</param>
/// <param name="Torn">The piece in which an incomplete record follows the last valid one. Null if there is none.</param>
internal readonly record struct LogEnd(long Position, string? Torn);

internal delegate void LogRecordVisitor(in LogRecord record);
