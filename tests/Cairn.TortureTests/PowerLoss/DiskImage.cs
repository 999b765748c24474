using Cairn.Storage;

namespace Cairn.TortureTests.PowerLoss;

// The files that a power loss leaves, chosen at random from the changes that were made:
//
//   - Flushed data is on the disk.
//   - Each sector of 512 bytes that was not flushed has the content after any one of the writes to it, independently of other sectors. Sometimes
//     a written sector is torn in the middle. A mapped sector is never torn, because a disk writes a sector as a whole. But the log does not
//     rely on that.
//   - A file has its length at the last flush, or any later one.
//   - Each name is in its state when the names were flushed, or in a later state, independently of other names.
//   - The content of a store's file behind the first page is arbitrary, unless that page says that all of it was flushed.
internal sealed class DiskImage
{
    private const int SectorBytes = 512;
    private const int PageBytes = 4096;

    private readonly DiskChange[] _changes;
    private readonly Random _random;

    // The share of unflushed changes that reach the disk: none, all, or some.
    private readonly double _kept;

    private DiskImage(DiskChange[] changes, Random random)
    {
        _changes = changes;
        _random = random;
        _kept = random.Next(6) switch
        {
            0 => 0,
            1 => 1,
            _ => random.NextDouble(),
        };
    }

    /// <summary>Writes into an empty directory the files that exist when the power fails after <paramref name="moment"/> changes.</summary>
    public static void Write(IReadOnlyList<DiskChange> changes, int moment, Random random, string directory)
    {
        var image = new DiskImage([.. changes.Take(moment)], random);
        foreach ((string name, int file) in image.Names())
        {
            File.WriteAllBytes(Path.Combine(directory, name), image.ContentOf(file, isStore: name.EndsWith(".cairn", StringComparison.Ordinal)));
        }
    }

    private Dictionary<string, int> Names()
    {
        long flushed = FlushedBefore(DiskChangeKind.NamesFlushed, 0);
        var names = new Dictionary<string, int>(StringComparer.Ordinal);
        var isFrozen = new HashSet<string>(StringComparer.Ordinal);
        for (int i = 0; i < _changes.Length; i++)
        {
            DiskChange change = _changes[i];
            if (change.Kind is not (DiskChangeKind.Named or DiskChangeKind.Unnamed))
            {
                continue;
            }

            if (i >= flushed && (isFrozen.Contains(change.Name) || _random.NextDouble() >= _kept))
            {
                isFrozen.Add(change.Name);
                continue;
            }

            if (change.Kind == DiskChangeKind.Named)
            {
                names[change.Name] = change.File;
            }
            else
            {
                names.Remove(change.Name);
            }
        }

        return names;
    }

    private byte[] ContentOf(int file, bool isStore)
    {
        long flushed = FlushedBefore(DiskChangeKind.Flushed, file);
        var pending = new List<int>();
        var content = new MemoryStream();
        long length = 0;
        for (int i = 0; i < _changes.Length; i++)
        {
            DiskChange change = _changes[i];
            if (change.File != file)
            {
                continue;
            }

            if (change.Kind == DiskChangeKind.RangeFlushed)
            {
                // Earlier changes of the same bytes through a mapping no longer count.
                Apply(content, change);
                pending.RemoveAll(p => IsWithin(_changes[p], change));
            }
            else if (change.IsBytes && i < flushed && change.Kind != DiskChangeKind.Drifted)
            {
                Apply(content, change);
            }
            else if (change.Kind == DiskChangeKind.Extended && (i < flushed || _random.NextDouble() < _kept))
            {
                length = Math.Max(length, change.Offset);
            }
            else if (change.IsBytes)
            {
                pending.Add(i);
            }
        }

        content.SetLength(Math.Max(content.Length, length));
        ApplySome(content, pending);
        byte[] bytes = content.ToArray();
        if (isStore)
        {
            Spoil(bytes);
        }

        return bytes;
    }

    // Returns the number of changes that were made before the start of the last completed flush.
    private long FlushedBefore(DiskChangeKind kind, int file) =>
        _changes.Where(change => change.Kind == kind && change.File == file).Select(change => change.Offset).DefaultIfEmpty(0).Max();

    private static bool IsWithin(DiskChange change, DiskChange range) =>
        change.Offset >= range.Offset && change.Offset + change.Data.Length <= range.Offset + range.Data.Length;

    private static void Apply(MemoryStream content, DiskChange change)
    {
        content.Position = change.Offset;
        content.Write(change.Data);
    }

    // Each sector receives the writes to it up to a random one.
    private void ApplySome(MemoryStream content, List<int> pending)
    {
        var frozen = new HashSet<long>();
        foreach (int index in pending)
        {
            DiskChange change = _changes[index];
            long end = change.Offset + change.Data.Length;
            for (long start = change.Offset; start < end;)
            {
                long sector = start / SectorBytes;
                long stop = Math.Min(end, (sector + 1) * SectorBytes);
                if (!frozen.Contains(sector))
                {
                    bool isKept = _random.NextDouble() < _kept;
                    bool isTorn = change.Kind == DiskChangeKind.Written && _random.Next(16) == 0;
                    if (!isKept || isTorn)
                    {
                        frozen.Add(sector);
                    }

                    if (isKept || isTorn)
                    {
                        int bytes = (int)(stop - start);
                        content.Position = start;
                        content.Write(change.Data, (int)(start - change.Offset), isTorn ? _random.Next(bytes) : bytes);
                    }
                }

                start = stop;
            }
        }
    }

    private unsafe void Spoil(byte[] bytes)
    {
        fixed (byte* start = bytes)
        {
            var super = (Superblock*)start;
            if (bytes.Length < PageBytes || super->State == Superblock.StateClosed)
            {
                return;
            }

            for (int page = PageBytes; page < bytes.Length; page += PageBytes)
            {
                if (_random.Next(8) == 0)
                {
                    _random.NextBytes(bytes.AsSpan(page, Math.Min(PageBytes, bytes.Length - page)));
                }
            }
        }
    }
}
