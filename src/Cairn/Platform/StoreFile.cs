// One open file of a store: its identity, its name, its space, its locks and its mappings.
//
// Offsets of byte locks need not exist in the file; the store locks bytes far past any end.
//
// Dispose unmaps every region of the file before it closes it: a mapping keeps the open file, and with it its byte
// locks, alive, so closing alone would leave a dead owner looking alive (P1). The caller sees to it that nothing
// touches the regions by then.
using System.Diagnostics;

namespace Cairn.Platform;

internal abstract class StoreFile : IDisposable
{
    /// <summary>The lock that a platform itself takes while a file has a temporary name. The store's own lock bytes start
    /// above it.</summary>
    internal const long CreatorLockByte = (1L << 62) - 1;

    private const int MaxLockPauseMs = 5;

    /// <summary>Full path: where it was opened or published, or what it is meant for while it has no name.</summary>
    public abstract string Path { get; }

    /// <summary>Bytes of the file now; another process may have grown it.</summary>
    public abstract long Length { get; }

    /// <summary>Which file this is.</summary>
    public abstract FileIdentity Identity { get; }

    /// <summary>Whether <paramref name="path"/> names this very file now.</summary>
    public abstract bool IsStillAt(string path);

    /// <summary>Gives a file of <see cref="StorePlatform.CreateUnnamed"/> its name, in one step (P3).</summary>
    /// <param name="path">On the file system it was created on.</param>
    /// <param name="replace">Whether to take the name over from another file, whose permissions are kept. A symbolic
    /// link stays; the file it names is replaced.</param>
    /// <returns>False, with nothing changed, if the name is taken and <paramref name="replace"/> is false.</returns>
    public abstract bool TryPublish(string path, bool replace);

    /// <summary>Lets those use this file who may use the one at <paramref name="path"/>, as far as this user can arrange it.</summary>
    public abstract void KeepPermissionsOf(string path);

    /// <summary>Makes space for a range (P2), growing the file if the range ends past its end. New bytes are zero,
    /// present bytes stay.</summary>
    /// <remarks>One process at a time, and nobody uses the range yet: the store calls it under its gate. If it fails, the
    /// file has its earlier length and the space is given back.</remarks>
    /// <exception cref="StoreException">The disk, a quota or a limit has no room.</exception>
    public abstract void Preallocate(long offset, long length);

    /// <summary>Makes a range of the file zero, keeping its space (P2) and the file's length.</summary>
    public abstract void ZeroRange(long offset, long length);

    /// <summary>Maps the first bytes of the file, shared with every other mapping (P4).</summary>
    /// <param name="length">May exceed the file's length; what lies past its end may be touched once it has grown. Where the system maps
    /// no more than there is, the file becomes that long.</param>
    /// <param name="writable">Needs a file opened for writing.</param>
    public abstract MappedRegion Map(long length, bool writable);

    /// <summary>Maps the first bytes of the file for reading and writing, but what is written is seen through this mapping alone and never reaches
    /// the file. What others change of a page shows until it is written to here.</summary>
    /// <param name="length">As of <see cref="Map"/>.</param>
    public abstract MappedRegion MapCopy(long length);

    /// <summary>Takes the lock of one byte (P1) if it is free or already ours.</summary>
    /// <returns>False if another has it. Where the system does not tell who holds a lock, also, rarely, if another was just asking.</returns>
    public abstract bool TryLockByte(long offset);

    /// <summary>Takes the lock of one byte, waiting while another open file holds it.</summary>
    /// <returns>False if the time passed.</returns>
    public virtual bool LockByte(long offset, TimeSpan timeout)
    {
        // No system's own wait for a lock has a time limit and survives whatever interrupts it, so this asks again and again.
        // Holders keep such a lock for milliseconds (the gate) or for life (an owner slot, which nobody waits for).
        long start = Stopwatch.GetTimestamp();
        for (int attempt = 0; !TryLockByte(offset); attempt++)
        {
            if (timeout != Timeout.InfiniteTimeSpan && Stopwatch.GetElapsedTime(start) >= timeout)
            {
                return false;
            }

            if (attempt < 10)
            {
                Thread.Yield();
            }
            else
            {
                Thread.Sleep(Math.Min((attempt - 5) / 5, MaxLockPauseMs));
            }
        }

        return true;
    }

    /// <summary>Gives the lock of one byte back; nothing happens if it is not ours.</summary>
    public abstract void UnlockByte(long offset);

    /// <summary>Takes the locks of a range of bytes if all of them are free or already ours; else none.</summary>
    public abstract bool TryLockRange(long offset, long length);

    /// <summary>Gives the locks of a range of bytes back; nothing happens to those that are not ours. What was taken as one range
    /// is given back as one, alone or in a larger range.</summary>
    public abstract void UnlockRange(long offset, long length);

    /// <summary>Whether another open file holds the lock of any byte of the range.</summary>
    public abstract bool IsByteLockedByOther(long offset, long length);

    /// <summary>Copies bytes of the file.</summary>
    /// <returns>Bytes copied: less than the buffer's length only at the end of the file.</returns>
    public abstract int Read(long offset, Span<byte> buffer);

    /// <summary>Writes all of <paramref name="data"/>, growing the file if needed.</summary>
    public abstract void Write(long offset, ReadOnlySpan<byte> data);

    /// <summary>Returns when all bytes written to the file, and its length, would survive a power loss. Bytes written
    /// through a mapping need <see cref="MappedRegion.Flush"/> first.</summary>
    public abstract void FlushData();

    /// <summary>Closes the file but leaves its mappings, which the caller disposes later. Its byte locks may stay until then,
    /// unless they were released one by one.</summary>
    public abstract void CloseKeepingMappings();

    /// <summary>Unmaps, releases the locks, closes; removes the file if it was never published.</summary>
    public abstract void Dispose();
}
