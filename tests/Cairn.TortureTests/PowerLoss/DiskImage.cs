using Cairn.Storage;

namespace Cairn.TortureTests.PowerLoss;

// The files that a power loss leaves, by chance, of what was done to them:
//
//   - What was flushed is there.
//   - Of what was not, each sector of 512 bytes has what any one of the writes to it left, independently of every other sector; now and then one
//     is torn in the middle, but not of what is mapped: a disk writes a sector whole, and the log does without that.
//   - A file is as long as it was when it was flushed, or as at any time since.
//   - Each name is where it was when the names were flushed, or as at any time since, independently of every other name.
//   - Of a store's file, what is behind the first page may be anything, unless that page says that all of it was flushed.
internal sealed class DiskImage
{
    private const int SectorBytes = 512;
    private const int PageBytes = 4096;

    private readonly DiskChange[] _changes;
    private readonly Random _random;

    // How much of what was not flushed is on the disk: nothing, all, or some.
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

    /// <summary>Writes into an empty directory what is there when the power fails after so many changes.</summary>
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
                // Earlier drifting of the same bytes is past.
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

    // How many changes were made before the last flush began that has ended.
    private long FlushedBefore(DiskChangeKind kind, int file) =>
        _changes.Where(change => change.Kind == kind && change.File == file).Select(change => change.Offset).DefaultIfEmpty(0).Max();

    private static bool IsWithin(DiskChange change, DiskChange range) =>
        change.Offset >= range.Offset && change.Offset + change.Data.Length <= range.Offset + range.Data.Length;

    private static void Apply(MemoryStream content, DiskChange change)
    {
        content.Position = change.Offset;
        content.Write(change.Data);
    }

    // Each sector takes the writes to it up to one of them.
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
