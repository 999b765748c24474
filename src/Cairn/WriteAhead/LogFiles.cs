using System.Runtime.InteropServices;
using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.WriteAhead;

// Makes the files of a log.
//
//   I1  A file has its name only when its header and its space are on the disk. It is used only when its name is on the disk, and the map's mark
//       says that the file is there (LogBlock I5).
internal static unsafe class LogFiles
{
    /// <summary>Makes the next piece of a log, ready for its first record. A file of that name, which nobody used, is replaced.</summary>
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
                $"The log of the store '{storePath}' has no room: {failure.Message} Nothing was changed; reading goes on.", failure);
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
        file.TryPublish(path, replace: true);
        platform.FlushDirectory(directory);
        Volatile.Write(ref memory.Super->Log.PieceMark, LogMark.Of(sequence));
        return state;
    }

    /// <summary>
    /// Says in a piece where the log is durable, and which piece goes on, if another does. Only the restoring of a lost store needs it, so it is
    /// not flushed, and left out where it cannot be written.
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
            // The seal is evidence to spare. A reader of the file reports what is wrong with it.
        }
    }

    /// <summary>What a file of records repeats of the superblock, so that an encrypted store can be opened without its map.</summary>
    public static ReadOnlySpan<byte> KeyBlockOf(StoreMemory memory) =>
        new((byte*)memory.Super + LogFileHeader.KeyBlockOffset, LogFileHeader.KeyBlockBytes);
}
