using Cairn.Platform;

namespace Cairn.Storage;

// Gives space on the disk to the parts of a file with holes before they are written (StoreOptions.ReservesSpace). A write to a hole through a mapping would
// end the process if the disk were full.
//
//   I1  A segment has its space before it leaves the state Free or the partition's spares. A bucket has it before its first slot is stored, and a ghost
//       bucket before its first fingerprint. Everything before the ghosts has its space since the file was created.
//   I2  The pages of the part are also populated. A full ext4 can refuse a page that has its space, because it finds no block to note that the page is
//       written now. Populating reports that instead of ending the process.
//   I3  A part that has its space keeps it. So an opening remembers it, and asks the system once for each part.
internal sealed class FileBacking(StoreFile file, MappedRegion region, StoreLayout layout)
{
    private const int ChunkShift = 14;

    private readonly ulong[] _backed = new ulong[(int)((layout.MappedBytes >> ChunkShift) / 64) + 1];

    /// <summary>Gets whether the disk had no room when space was needed last.</summary>
    public bool IsDiskFull { get; private set; }

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
