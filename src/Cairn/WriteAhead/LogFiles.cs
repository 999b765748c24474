using Cairn.Platform;

namespace Cairn.WriteAhead;

// Creates the files of a log.
//
//   I1  A file gets its name only when its header and its space are durable. It is used only when its name is durable, and when the mark in the
//       map that names the file is durable (LogBlock I5).
internal static unsafe class LogFiles
{
    /// <summary>
    /// Creates the next piece of a log, ready for its first record. If an unused file with that name exists, it is replaced.
    /// </summary>
    /// <exception cref="StoreFullException">The disk has no room for it.</exception>
    public static LogFileState Create(
        StorePlatform platform, StoreMemory memory, ulong logId, long sequence, long startPosition, long fileBytes, long nowUnixMs)
    {
        string storePath = memory.File.Path;
        string path = LogPath.LogFile(storePath, sequence);
        string directory = Path.GetDirectoryName(path)!;
        using StoreFile file = platform.CreateUnnamed(directory, Path.GetFileName(path));
        try
        {
            file.Preallocate(0, fileBytes);
        }
        catch (StoreException failure)
        {
            throw new StoreFullException(
                $"The log of the store '{storePath}' has no room: {failure.Message} Nothing was changed; reading continues.", failure);
        }

        var page = new byte[LogFileHeader.PageBytes];
        var state = new LogFileState
        {
            Sequence = sequence,
            StartPosition = startPosition,
            Salt = RandomBits.Next(),
            FileBytes = fileBytes,
        };
        LogFileHeader.Write(page, LogFileKind.Log, logId, state.Salt, sequence, startPosition, nowUnixMs, KeyBlockOf(memory), fileBytes);
        file.Write(0, page);
        file.KeepPermissionsOf(storePath);
        file.FlushData();
        platform.TryPublish(file, path, replace: true, "The file of the log");
        Volatile.Write(ref memory.Super->Log.PieceMark, LogMark.Of(sequence));
        return state;
    }

    /// <summary>
    /// Writes a seal into a piece: the position up to which the log is durable, and the number of the next piece if there is one. Only the restoration of a
    /// lost store needs the seal. So it is not flushed, and it is left out if it cannot be written.
    /// </summary>
    public static void Seal(StoreFile file, in LogFileState state, long durable, long next)
    {
        Span<byte> version = stackalloc byte[sizeof(uint)];
        LogSeal seal = LogSeal.Of(durable, next, state.Salt);
        try
        {
            if (file.Read(LogFileHeader.VersionOffset, version) == sizeof(uint) && BitConverter.ToUInt32(version) == LogFileHeader.CurrentVersion)
            {
                file.Write(
                    next == 0 ? LogFileHeader.ClosedSealOffset : LogFileHeader.ContinuedSealOffset, MemoryMarshal.AsBytes(new ReadOnlySpan<LogSeal>(in seal)));
            }
        }
        catch (Exception failure) when (failure is StoreException or UnauthorizedAccessException)
        {
            // The seal is additional evidence, so its failure is ignored. A reader of the file reports what is wrong with the file.
        }
    }

    /// <summary>
    /// Returns the part of the superblock that each file of records repeats, so that the log of an encrypted store can be opened without the store's file.
    /// </summary>
    public static ReadOnlySpan<byte> KeyBlockOf(StoreMemory memory) =>
        new((byte*)memory.Super + LogFileHeader.KeyBlockOffset, LogFileHeader.KeyBlockBytes);
}
