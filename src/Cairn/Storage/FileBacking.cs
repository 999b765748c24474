using Cairn.Platform;

namespace Cairn.Storage;

// Gives space on the disk to the parts of a file with holes before they are written (StoreOptions.ReservesSpace). A write to a hole through a mapping would
// end the process if the disk were full.
//
// A program can also copy a store without its empty parts. The first opening of a file with holes restores I1, because the copy follows no rule.
//
//   I1  A segment has its space before it leaves the state Free or the partition's spares. A bucket has it before its first slot is stored, and a ghost
//       bucket before its first fingerprint. Everything before the ghosts has its space since the file was created.
//   I2  The pages of the part are also populated. A full ext4 can refuse a page that has its space, because it finds no block to note that the page is
//       written now. Populating reports that instead of ending the process.
//   I3  A part that has its space keeps it. So an opening remembers it, and asks the system once for each part.
internal sealed class FileBacking(StoreFile file, MappedRegion region, StoreLayout layout)
{
    private const int ChunkShift = 14;
    private const int ChunkBytes = 1 << ChunkShift;

    private readonly ulong[] _backed = new ulong[(int)((layout.MappedBytes >> ChunkShift) / 64) + 1];

    /// <summary>Gets whether the disk had no room when space was needed last.</summary>
    public bool IsDiskFull { get; private set; }

    /// <summary>Gives space to the holes in the used parts of a file. The caller has the gate, and no other process has the store open.</summary>
    /// <exception cref="StoreException">The disk has no room.</exception>
    public static unsafe void BackUsedHoles(StoreFile file, MappedRegion region, StoreLayout layout)
    {
        if (!file.HasHoles)
        {
            return;
        }

        if (file.ReadsTakeSpace)
        {
            file.Preallocate(0, file.Length);
            return;
        }

        var backing = new FileBacking(file, region, layout);
        var headers = (SegmentHeader*)(region.Address + layout.SegmentHeadersOffset);
        for (long position = 0; file.TryFindHole(position, out long start, out long end); position = end)
        {
            // The rules of I1: all before the ghosts; each chunk of the index that has data, at the edges of the hole; each segment that is neither free nor a spare.
            bool hasSpace = (start >= layout.GhostsOffset || backing.TryBack(start, Math.Min(end, layout.GhostsOffset) - start))
                && (start % ChunkBytes == 0 || start >= layout.SegmentsOffset || backing.TryBack(start, 1))
                && (end % ChunkBytes == 0 || end > layout.SegmentsOffset || backing.TryBack(end - 1, 1));
            long segment = Math.Max(0, (start - layout.SegmentsOffset) / layout.SegmentBytes);
            for (; hasSpace && segment < layout.MaxSegments && layout.SegmentsOffset + (segment * layout.SegmentBytes) < end; segment++)
            {
                hasSpace = headers[segment].State is SegmentState.Free or SegmentState.Spare || backing.TryBack(layout.SegmentsOffset + (segment * layout.SegmentBytes), layout.SegmentBytes);
            }

            if (!hasSpace)
            {
                throw new StoreException(
                    $"The store '{file.Path}' is a sparse copy: a program copied it without its empty parts. The disk has no room for those parts that are in " +
                    "use. Free space on the disk, or put the store elsewhere.");
            }
        }
    }

    public bool TryBack(long offset, long bytes)
    {
        long first = offset >> ChunkShift;
        long last = (offset + bytes - 1) >> ChunkShift;
        while (first <= last && IsBacked(first))
        {
            first++;
        }

        if (first > last)
        {
            return true;
        }

        long start = first << ChunkShift;
        long length = ((last + 1) << ChunkShift) - start;
        IsDiskFull = !file.TryBack(start, length) || !TryPopulate(start, length);
        if (IsDiskFull)
        {
            return false;
        }

        for (long chunk = first; chunk <= last; chunk++)
        {
            Interlocked.Or(ref _backed[chunk / 64], 1UL << (int)(chunk % 64));
        }

        return true;
    }

    // A kernel before Linux 5.14 cannot populate anything, not even the first page.
    private bool TryPopulate(long start, long length) =>
        region.Populate(start, length, write: true) || !region.Populate(0, StoreLayout.PageBytes, write: true);

    // A stale answer costs one more call of the system.
    private bool IsBacked(long chunk) => (Volatile.Read(ref _backed[chunk / 64]) & (1UL << (int)(chunk % 64))) != 0;
}
