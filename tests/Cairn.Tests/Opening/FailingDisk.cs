using Cairn.Platform;

namespace Cairn.Tests.Opening;

/// <summary>
/// The system's platform with a disk of its own for one store, whose size does not change. As on Linux, a flush that fails takes the changed pages for
/// written: the next flush leaves them out unless they were changed again.
/// </summary>
internal sealed unsafe class FailingDisk(string path) : ProxyPlatform
{
    private const int PageBytes = 4096;

    private readonly byte[] _disk = File.ReadAllBytes(path);
    private readonly Dictionary<long, byte[]> _dropped = [];
    private MappedRegion? _region;

    /// <summary>Gets or sets whether each flush of the store's file fails.</summary>
    public bool Fails { get; set; }

    public CairnStore OpenStore(StoreOptions options) => On(() => CairnStore.Open(options));

    public override StoreFile Open(string name) => name == path ? new DiskFile(this, Real.Open(name)) : Real.Open(name);

    /// <summary>Writes all pages but the first to the disk, as the system does by itself at any time.</summary>
    public void WriteBackAllButTheFirstPage() => Flush(PageBytes, _disk.Length - PageBytes);

    /// <summary>Leaves in the file what is on the disk.</summary>
    public void LosePower() => File.WriteAllBytes(path, _disk);

    private void Flush(long offset, long length)
    {
        for (long page = offset; page < offset + length; page += PageBytes)
        {
            var present = new ReadOnlySpan<byte>(_region!.Address + page, PageBytes);
            Span<byte> written = _disk.AsSpan((int)page, PageBytes);
            if (Fails && !present.SequenceEqual(written))
            {
                _dropped[page] = present.ToArray();
            }
            else if (!Fails && !(_dropped.TryGetValue(page, out byte[]? dropped) && present.SequenceEqual(dropped)))
            {
                present.CopyTo(written);
            }
        }

        if (Fails)
        {
            throw new StoreException("The disk failed, because the test says so.");
        }
    }

    private void Touch(long offset, long length)
    {
        for (long page = offset / PageBytes * PageBytes; page < offset + length; page += PageBytes)
        {
            _dropped.Remove(page);
        }
    }

    private sealed class DiskFile(FailingDisk disk, StoreFile real) : ProxyFile(real)
    {
        public override MappedRegion Map(long length, bool writable) => disk._region = new DiskRegion(disk, Real.Map(length, writable));
    }

    private sealed class DiskRegion(FailingDisk disk, MappedRegion real) : ProxyRegion(real)
    {
        public override void Flush(long offset, long length) => disk.Flush(offset, length);

        public override bool Populate(long offset, long length, bool write)
        {
            if (write)
            {
                disk.Touch(offset, length);
            }

            return base.Populate(offset, length, write);
        }
    }
}
