// One open file of a store: its identity, its name, its space, its locks and its mappings.
//
// The offset of a byte lock need not exist in the file. The store locks bytes far past the end of any file.
//
// Dispose removes every mapping of the file before it closes the file. A mapping keeps the open file and its byte locks alive. So without that, a closed
// owner would still appear to be alive (P1). The caller ensures that no code uses the mapped regions any more.
namespace Cairn.Platform;

internal abstract class StoreFile : IDisposable
{
    /// <summary>The byte that a platform itself locks while a file has a temporary name. The store's own lock bytes begin above it.</summary>
    internal const long CreatorLockByte = (1L << 62) - 1;

    private const int MaxLockPauseMs = 5;

    /// <summary>Gets the full path under which the file was opened or published, or its intended path while it has no name.</summary>
    public abstract string Path { get; }

    /// <summary>Gets the present length of the file in bytes. Another process can have grown the file.</summary>
    public abstract long Length { get; }

    /// <summary>Gets the identity of the file.</summary>
    public abstract FileIdentity Identity { get; }

    /// <summary>Returns whether <paramref name="path"/> names exactly this file now.</summary>
    public abstract bool IsStillAt(string path);

    /// <summary>Gives a file of <see cref="StorePlatform.CreateUnnamed"/> its name, in one step (P3).</summary>
    /// <param name="path">The name. It must be on the file system on which the file was created.</param>
    /// <param name="replace">
    /// True to take the name from another file, whose permissions are kept. If the name is a symbolic link, the link stays, and the file that it names is
    /// replaced.
    /// </param>
    /// <returns>False, with nothing changed, if the name is taken and <paramref name="replace"/> is false.</returns>
    public abstract bool TryPublish(string path, bool replace);

    /// <summary>Copies the permissions of the file at <paramref name="path"/> to this file, as far as this user is allowed to.</summary>
    public abstract void KeepPermissionsOf(string path);

    /// <summary>
    /// Reserves space for a range (P2). If the range ends past the file's end, the file grows. New bytes are zero, existing bytes stay.
    /// </summary>
    /// <remarks>
    /// Only one process at a time calls this, and no process uses the range yet: the store calls it under its gate. If it fails, the file has its earlier
    /// length, and the space is released.
    /// </remarks>
    /// <exception cref="StoreException">The disk, a quota or a limit has no room.</exception>
    public abstract void Preallocate(long offset, long length);

    /// <summary>
    /// Makes a new file longer without reserving space. The new bytes are zero. Whatever uses a part of them first calls <see cref="TryBack"/> for it.
    /// </summary>
    /// <returns>False, with nothing changed, if the file system cannot reserve parts of a file later. The caller then uses <see cref="Preallocate"/>.</returns>
    public virtual bool TryExtend(long length) => false;

    /// <summary>Gets whether the file has parts without space. If the system cannot tell, false.</summary>
    public virtual bool HasHoles => false;

    /// <summary>Gets whether a read of a hole takes space, as in memory. Then a read can end the process if there is no space.</summary>
    public virtual bool ReadsTakeSpace => false;

    /// <summary>Finds the next hole. If the system cannot tell, there is none.</summary>
    /// <param name="offset">The first byte to look at.</param>
    /// <param name="start">The first byte of the hole at or after <paramref name="offset"/>.</param>
    /// <param name="end">The byte after the hole, at most the file's length.</param>
    public virtual bool TryFindHole(long offset, out long start, out long end)
    {
        start = end = 0;
        return false;
    }

    /// <summary>
    /// Reserves space for a range within the file's length, which other processes can use at the same time. Existing bytes stay, and holes are zero.
    /// </summary>
    /// <returns>False if the disk, a quota or a limit has no room. A part of the range can then have space.</returns>
    public virtual bool TryBack(long offset, long length) => true;

    /// <summary>Fills a range of the file with zeros. The range keeps its space (P2), and the file keeps its length.</summary>
    public abstract void ZeroRange(long offset, long length);

    /// <summary>Maps the first bytes of the file, shared with every other mapping (P4).</summary>
    /// <param name="length">
    /// The length in bytes. It can exceed the file's length. The part past the file's end can be used after the file has grown. If the system cannot map
    /// more than the file has, the file grows to this length.
    /// </param>
    /// <param name="writable">True to map for writing. The file must be open for writing.</param>
    public abstract MappedRegion Map(long length, bool writable);

    /// <summary>
    /// Maps the first bytes of the file for reading and writing. Written bytes are visible only through this mapping and never reach the file. Changes of a
    /// page by others are visible until this mapping writes to the page.
    /// </summary>
    /// <param name="length">The same as for <see cref="Map"/>.</param>
    public abstract MappedRegion MapCopy(long length);

    /// <summary>Takes the lock of one byte (P1) if it is free or this file already holds it.</summary>
    /// <returns>
    /// False if another open file holds the lock. If the system does not report the holder of a lock, rarely also false because another file was querying
    /// the lock.
    /// </returns>
    public abstract bool TryLockByte(long offset);

    /// <summary>Takes the lock of one byte. Waits while another open file holds it.</summary>
    /// <returns>False if the time has passed.</returns>
    public virtual bool LockByte(long offset, TimeSpan timeout)
    {
        // No system has a wait for a lock that has a time limit and survives every interruption. So this method tries again and again. Holders keep such a
        // lock either for milliseconds (the gate) or for their whole life (an owner slot, for which no thread waits).
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

    /// <summary>Releases the lock of one byte. No effect if this file does not hold it.</summary>
    public abstract void UnlockByte(long offset);

    /// <summary>Takes the locks of a range of bytes if all of them are free or this file already holds them. Otherwise takes none.</summary>
    public abstract bool TryLockRange(long offset, long length);

    /// <summary>
    /// Releases the locks of a range of bytes. No effect on those that this file does not hold. A range that was taken in one call is released in one call,
    /// alone or in a larger range.
    /// </summary>
    public abstract void UnlockRange(long offset, long length);

    /// <summary>Returns whether another open file holds the lock of any byte of the range.</summary>
    public abstract bool IsByteLockedByOther(long offset, long length);

    /// <summary>Copies bytes of the file.</summary>
    /// <returns>The number of bytes that were copied. It is less than the buffer's length only at the end of the file.</returns>
    public abstract int Read(long offset, Span<byte> buffer);

    /// <summary>Writes all of <paramref name="data"/>. The file grows if necessary.</summary>
    public abstract void Write(long offset, ReadOnlySpan<byte> data);

    /// <summary>
    /// Makes all written bytes of the file and its length durable. Bytes that were written through a mapping need <see cref="MappedRegion.Flush"/> first.
    /// </summary>
    public abstract void FlushData();

    /// <summary>
    /// Closes the file but leaves its mappings, which the caller disposes later. Byte locks that were not released one by one can stay until then.
    /// </summary>
    public abstract void CloseKeepingMappings();

    /// <summary>Removes the mappings, releases the locks and closes the file. Deletes the file if it was never published.</summary>
    public abstract void Dispose();
}
