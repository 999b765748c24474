// The side file of a cache file: one page, mapped by every process that uses the cache, and byte locks far past its end. It is
// never renamed. It holds nothing that is not also in the cache file, so it may be removed while no process uses the cache.
//
//   0     magic number, 0 until a writer has been here; the machine's start that the records are of
//   64    generation
//   128   next ticket, turns handed over, whether somebody has waited too long
//   192   record of even generations
//   256   record of odd generations
//
//   S1  Generations rise by one, each time by the writer that has the turn, after its change is in the file and its record
//       is written.
//   S2  The record of generation g is in slot g % 2, and is only overwritten while the generation is g + 1. So who reads the
//       generation, the record and the same generation again has the record of that generation.
//   S3  The turn is the lock of one byte, which the kernel gives back when its owner dies. Whoever finds it free takes it,
//       unless somebody has waited too long; so a process that writes much makes many changes before another runs, which
//       costs less than a change of process for each.
//   S4  Who has to wait takes a ticket t with byte t locked, and is the first in the queue while nobody else holds a byte
//       below. Living holders of earlier tickets hold theirs until they got the turn, so the queue keeps its order, whoever
//       dies when. Only the first in the queue tries for the turn; after FairAfter it asks the others to queue as well.
//   S5  A writer that dies leaves the generation and its record as they were (S2); what it wrote to the cache file is then
//       found by comparing the file with the record.
//
// A file of zeros is a valid state: no generation, no record, ticket 0.
using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
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
    private const uint AnybodyButForMask = 0b110_110_110; // As .NET creates files.
    private const int SpinAttempts = 10;

    // A change takes some 10 microseconds. Each time somebody has waited this long, everybody who waits gets a turn: of eight
    // processes that all write as fast as they can, one change in 300 then waits so long. After 10 milliseconds it would be one
    // in a hundred; and the shorter this is, the more of the time goes into changes of process.
    private static readonly TimeSpan FairAfter = TimeSpan.FromMilliseconds(25);

    // How soon the first in the queue sees that the turn is free, and how soon the others see that the first has died.
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
    /// <param name="path">Its path.</param>
    /// <param name="likeFile">The cache file, whose permissions a new side file gets, if there is one.</param>
    /// <returns>Null where memory is not shared, or the file cannot be had: a missing directory, no room, no permission.</returns>
    /// <param name="isRefused">Whether memory is not shared there, and never will be.</param>
    public static MappedChannel? TryOpen(string path, string likeFile, out bool isRefused)
    {
        isRefused = !OperatingSystem.IsLinux();
        if (isRefused)
        {
            return null; // There the cache file is polled: none of this has been tried with how files are replaced there.
        }

        try
        {
            StorePlatform.Current.RequireSupportedFileSystem(path);
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

    /// <summary>Whether memory would be shared there.</summary>
    public static bool IsPossibleAt(string path)
    {
        if (!OperatingSystem.IsLinux())
        {
            return false;
        }

        try
        {
            StorePlatform.Current.RequireSupportedFileSystem(path);
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
            generation = Volatile.Read(ref *Word); // Acquire; pairs with the last write of Commit.
            CommitRecord record = *RecordOf(generation);

            // The record was read before this; if a writer had begun to overwrite it, the generation would show that (S2).
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

        // Release; pairs with Read: the record must be there before the generation that names it.
        Volatile.Write(ref *Word, generation);
        return generation;
    }

    public override void Close() => _locks?.Dispose();

    private static MappedChannel Open(string path, string likeFile)
    {
        // Two descriptors: a mapping keeps its own open, and with it the locks taken through it, and outlives Close.
        StoreFile mapped = OpenFile(path, likeFile);
        StoreFile? locks = null;
        try
        {
            if (mapped.Length < PageBytes)
            {
                mapped.Preallocate(0, PageBytes); // What a mapping touches must exist and have its room on the disk.
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
            StoreFile mapped = StorePlatform.Current.OpenReadOnly(path);
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

        // Not File.OpenHandle, whose lock would keep out those who only poll (LockFileChannel) for as long as this is mapped.
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
                // Somebody else's: then it has that user's permissions.
            }
        }

        return new LinuxStoreFile(handle, path, isPublished: true);
    }

    private static ulong HashOfBoot() =>
        BitConverter.ToUInt64(SHA256.HashData(Encoding.ASCII.GetBytes(StorePlatform.Current.BootId)));

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
                uint handed = Volatile.Read(ref Word32(HandedOffset)); // Before the tries: what happens between them and the sleep ends it.
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
                    Volatile.Write(ref Word32(UrgentOffset), 1); // If this process dies now, the next to queue takes it back.
                }

                StorePlatform.Current.WaitOnAddress((uint*)(_page + HandedOffset), handed, isFirst ? FirstSleep : OtherSleep);
            }
        }
        finally
        {
            _locks!.UnlockRange(QueueBase, ticket + 1);
            WakeQueue(); // Somebody else is the first now.
        }
    }

    private void WakeQueue()
    {
        Interlocked.Increment(ref Word32(HandedOffset));
        StorePlatform.Current.WakeByAddress((uint*)(_page + HandedOffset), all: true);
    }

    private long TakeTicket()
    {
        ref long next = ref *(long*)(_page + TicketOffset);
        while (true)
        {
            long ticket = Volatile.Read(ref next);
            if (!_locks!.TryLockByte(QueueBase + ticket))
            {
                Thread.Yield(); // Another is about to take this one.
                continue;
            }

            if (Interlocked.CompareExchange(ref next, ticket + 1, ticket) == ticket)
            {
                return ticket; // S4
            }

            _locks.UnlockByte(QueueBase + ticket);
        }
    }

    /// <summary>The page, unmapped when nobody can read it any more.</summary>
    private sealed class Mapping(MappedRegion region, FileIdentity identity)
    {
        // Nothing else can say when the last reader has gone: reads take no lock and count nothing.
        ~Mapping() => region.Dispose();

        public byte* Address { get; } = region.Address;

        public FileIdentity Identity { get; } = identity;
    }
}
