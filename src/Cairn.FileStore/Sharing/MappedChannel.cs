// The side file of a cache file: one page, mapped by every process that uses the cache, and byte locks far beyond its end. The file is
// never renamed. All its information is also in the cache file, so it may be removed while no process uses the cache.
//
//   0     magic number, 0 until the first writer; identifier of the system boot that the records belong to
//   64    generation
//   128   next ticket; count of wake-ups of the queue; whether a process has waited too long
//   192   record of even generations
//   256   record of odd generations
//
//   S1  Generations increase by one. The writer that has the turn increases the generation after its change is in the file and its
//       record is written.
//   S2  The record of generation g is in slot g % 2. It is only overwritten while the generation is g + 1. So if a reader reads the
//       generation, the record and the same generation again, the record belongs to that generation.
//   S3  The turn is the lock of one byte. The kernel releases it when its owner dies. Any process may take a free turn, unless a process
//       has waited too long. So a busy writer makes many changes before another process runs, which costs less than a context switch
//       for each change.
//   S4  A process that has to wait takes a ticket t and locks byte t of the queue. It is the first in the queue when no other process
//       holds a lower byte. Living processes with earlier tickets hold their bytes until they get the turn, so the queue keeps its order
//       even if processes die. Only the first in the queue tries to take the turn. After FairAfter it asks the other processes to queue,
//       too.
//   S5  If a writer dies before its commit, the generation and its record are unchanged (S2). The next process finds what the writer has
//       written to the cache file by comparing the file with the record.
//
// A file of zeros is a valid state: no generation, no record, ticket 0.
using System.Security.Cryptography;
using Cairn.Platform;
using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Sharing;

internal sealed unsafe class MappedChannel : Channel
{
    private const ulong MagicNumber = 0x3130_4546_4143_4E52; // Changes with the layout.
    private const int PageBytes = 4096;
    private const int BootOffset = 8;
    private const int GenerationOffset = 64;
    private const int TicketOffset = 128;
    private const int HandedOffset = TicketOffset + 8;
    private const int UrgentOffset = TicketOffset + 16;
    private const int RecordOffset = 192;
    private const int RecordStride = 64;
    internal const long TurnByte = 1L << 40;
    private const long QueueBase = TurnByte + 1;
    private const uint AnybodyButForMask = 0b110_110_110; // The mode with which .NET creates files; the umask applies to it.
    private const int SpinAttempts = 10;

    // A change takes about 10 microseconds. When a process has waited this long, every waiting process gets a turn. If eight processes write as
    // fast as they can, one change in 300 waits that long. With 10 milliseconds, it would be one in 100. A shorter time causes more context
    // switches.
    private static readonly TimeSpan FairAfter = TimeSpan.FromMilliseconds(25);

    // The longest delays until the first in the queue notices a free turn, and until the others notice that the first has died.
    private static readonly TimeSpan FirstSleep = TimeSpan.FromMilliseconds(0.2);
    private static readonly TimeSpan OtherSleep = TimeSpan.FromMilliseconds(5);

    private readonly string _path;
    private readonly StoreFile? _locks;
    private readonly Mapping _mapping;
    private readonly byte* _page;
    private readonly ulong _boot;

    private MappedChannel(string path, StoreFile? locks, Mapping mapping)
    {
        _path = path;
        _locks = locks;
        _mapping = mapping;
        _page = mapping.Address;
        _boot = HashOfBoot();
        Word = (long*)(_page + GenerationOffset);
    }

    public override bool IsShared => true;

    public override bool CanWrite => _locks is not null;

    public override bool IsCurrent
    {
        get
        {
            FileStamp now = FileStamp.Of(_path);
            return now.Device == _mapping.Identity.Device && now.Inode == _mapping.Identity.Inode && now.Exists;
        }
    }

    /// <summary>Opens or creates the side file.</summary>
    /// <param name="path">The path of the side file.</param>
    /// <param name="likeFile">The path of the cache file. If it exists, a new side file gets its permissions.</param>
    /// <param name="isRefused">True if memory can never be shared there.</param>
    /// <returns>
    /// Null if memory cannot be shared there, or if the file cannot be opened: the directory is missing, the disk is full, or the permission is
    /// missing.
    /// </returns>
    public static MappedChannel? TryOpen(string path, string likeFile, out bool isRefused)
    {
        isRefused = !OperatingSystem.IsLinux();
        if (isRefused)
        {
            return null; // On other systems the cache file is polled, because the replacement of mapped files is untested there.
        }

        try
        {
            HostPlatform.Current.RequireSupportedFileSystem(path);
            return Open(path, likeFile);
        }
        catch (UnauthorizedAccessException)
        {
            return TryOpenForReading(path);
        }
        catch (Exception e) when (e is IOException or PlatformNotSupportedException)
        {
            isRefused = e is StoreUnsupportedFileSystemException or PlatformNotSupportedException;
            return isRefused ? null : TryOpenForReading(path);
        }
    }

    /// <summary>Returns whether memory can be shared there.</summary>
    public static bool IsPossibleAt(string path)
    {
        if (!OperatingSystem.IsLinux())
        {
            return false;
        }

        try
        {
            HostPlatform.Current.RequireSupportedFileSystem(path);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or PlatformNotSupportedException)
        {
            return false;
        }
    }

    public override void Enter(TimeSpan timeout)
    {
        if (_locks is null)
        {
            throw new UnauthorizedAccessException($"The user '{Environment.UserName}' may not write '{_path}', which writers of the cache need.");
        }

        for (int attempt = 0; attempt < SpinAttempts && Volatile.Read(ref Word32(UrgentOffset)) == 0; attempt++)
        {
            if (_locks.TryLockByte(TurnByte))
            {
                return; // S3
            }

            Thread.Yield();
        }

        EnterQueue(timeout);
    }

    public override void Leave()
    {
        _locks!.UnlockByte(TurnByte);
        if (Volatile.Read(ref Word32(UrgentOffset)) != 0)
        {
            WakeQueue();
        }
    }

    public override CommitRecord Read(out long generation)
    {
        while (true)
        {
            generation = Volatile.Read(ref *Word); // Acquire; pairs with the release write of Commit.
            CommitRecord record = *RecordOf(generation);

            // Full fence: the record is read before the generation is read again. If a writer had begun to overwrite the record, the generation
            // would differ (S2).
            Interlocked.MemoryBarrier();
            if (Volatile.Read(ref *Word) == generation)
            {
                bool isOurs = *(ulong*)_page == MagicNumber && *(ulong*)(_page + BootOffset) == _boot;
                return isOurs ? record : default;
            }
        }
    }

    public override long Commit(CommitRecord record, bool isNewBase)
    {
        long generation = *Word + 1;
        if (isNewBase)
        {
            record.BaseGeneration = generation;
        }

        *(ulong*)(_page + BootOffset) = _boot;
        *(ulong*)_page = MagicNumber;
        *RecordOf(generation) = record;

        // Release; pairs with Read: the record must be visible before the generation that names it.
        Volatile.Write(ref *Word, generation);
        return generation;
    }

    public override void Close() => _locks?.Dispose();

    private static MappedChannel Open(string path, string likeFile)
    {
        // Two descriptors: the mapping keeps its own descriptor open after Close, and with it all locks taken through it.
        StoreFile mapped = OpenFile(path, likeFile);
        StoreFile? locks = null;
        try
        {
            if (mapped.Length < PageBytes || mapped.HasHoles)
            {
                mapped.Preallocate(0, PageBytes); // Mapped pages must exist and have allocated disk space.
            }

            locks = OpenFile(path, likeFile);
            MappedRegion region = mapped.Map(PageBytes, writable: true);
            FileIdentity identity = mapped.Identity;
            mapped.CloseKeepingMappings();
            return new MappedChannel(path, locks, new Mapping(region, identity));
        }
        catch
        {
            locks?.Dispose();
            mapped.Dispose();
            throw;
        }
    }

    private static MappedChannel? TryOpenForReading(string path)
    {
        try
        {
            StoreFile mapped = HostPlatform.Current.OpenReadOnly(path);
            if (mapped.Length < PageBytes)
            {
                mapped.Dispose();
                return null;
            }

            MappedRegion region = mapped.Map(PageBytes, writable: false);
            FileIdentity identity = mapped.Identity;
            mapped.CloseKeepingMappings();
            return new MappedChannel(path, locks: null, new Mapping(region, identity));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private static LinuxStoreFile OpenFile(string path, string likeFile)
    {
        bool isNew = !File.Exists(path);

        // File.OpenHandle would take a lock that excludes polling processes (LockFileChannel) as long as the file is mapped.
        const int Flags = LinuxNative.ReadWrite | LinuxNative.Create | LinuxNative.NonBlocking;
        int error = LinuxPlatform.TryOpen(path, Flags, out SafeFileHandle handle, AnybodyButForMask);
        if (error != 0)
        {
            handle.Dispose();
            throw LinuxErrors.CreateIn(Path.GetDirectoryName(path) ?? "/", Path.GetFileName(path), error);
        }

        if (isNew && File.Exists(likeFile) && OperatingSystem.IsLinux())
        {
            try
            {
                File.SetUnixFileMode(handle, File.GetUnixFileMode(likeFile));
            }
            catch (UnauthorizedAccessException)
            {
                // The file belongs to another user. It keeps the permissions from its creation.
            }
        }

        return new LinuxStoreFile(handle, path, isPublished: true);
    }

    private static ulong HashOfBoot() =>
        BitConverter.ToUInt64(SHA256.HashData(Encoding.ASCII.GetBytes(HostPlatform.Current.BootId)));

    private CommitRecord* RecordOf(long generation) => (CommitRecord*)(_page + RecordOffset + ((generation & 1) * RecordStride));

    private ref uint Word32(int offset) => ref *(uint*)(_page + offset);

    private void EnterQueue(TimeSpan timeout)
    {
        long start = Stopwatch.GetTimestamp();
        long ticket = TakeTicket();
        bool isFirst = false;
        try
        {
            while (true)
            {
                uint handed = Volatile.Read(ref Word32(HandedOffset)); // Read first: a later wake-up then ends the wait.
                isFirst = isFirst || ticket == 0 || _locks!.TryLockRange(QueueBase, ticket);
                if (isFirst && _locks!.TryLockByte(TurnByte))
                {
                    Volatile.Write(ref Word32(UrgentOffset), 0);
                    return;
                }

                TimeSpan waited = Stopwatch.GetElapsedTime(start);
                if (waited >= timeout)
                {
                    throw Throw.LockTimeout(_path, timeout, inner: null);
                }

                if (isFirst && waited >= FairAfter)
                {
                    Volatile.Write(ref Word32(UrgentOffset), 1); // The next process that gets the turn from the queue clears it.
                }

                HostPlatform.Current.WaitOnAddress((uint*)(_page + HandedOffset), handed, isFirst ? FirstSleep : OtherSleep);
            }
        }
        finally
        {
            _locks!.UnlockRange(QueueBase, ticket + 1);
            WakeQueue(); // Another process is the first now.
        }
    }

    private void WakeQueue()
    {
        Interlocked.Increment(ref Word32(HandedOffset));
        HostPlatform.Current.WakeByAddress((uint*)(_page + HandedOffset), all: true);
    }

    private long TakeTicket()
    {
        ref long next = ref *(long*)(_page + TicketOffset);
        while (true)
        {
            long ticket = Volatile.Read(ref next);
            if (!_locks!.TryLockByte(QueueBase + ticket))
            {
                Thread.Yield(); // Another process is about to take this ticket.
                continue;
            }

            if (Interlocked.CompareExchange(ref next, ticket + 1, ticket) == ticket)
            {
                return ticket; // S4
            }

            _locks.UnlockByte(QueueBase + ticket);
        }
    }

    /// <summary>The mapped page. It is unmapped when no reader can reach it.</summary>
    private sealed class Mapping(MappedRegion region, FileIdentity identity)
    {
        // Only the garbage collector knows when the last reader is gone: readers take no lock and no reference count.
        ~Mapping() => region.Dispose();

        public byte* Address { get; } = region.Address;

        public FileIdentity Identity { get; } = identity;
    }
}
