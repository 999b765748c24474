namespace Cairn.Platform;

/// <summary>What the files of all systems have in common: their mappings, their temporary name, and the end of both.</summary>
internal abstract class SystemFile : StoreFile
{
    private readonly List<MappedRegion> _regions = [];
    private bool _isDisposed;

    /// <summary>Gets or sets the name that no process must open; null if the file is published or has no name.</summary>
    protected string? TemporaryName { get; set; }

    public sealed override bool TryLockByte(long offset) => TryLockRange(offset, 1);

    public sealed override void UnlockByte(long offset) => UnlockRange(offset, 1);

    public sealed override void CloseKeepingMappings()
    {
        lock (_regions)
        {
            _isDisposed = true;
            _regions.Clear();
        }

        Close(abandoned: null);
    }

    public sealed override void Dispose()
    {
        lock (_regions)
        {
            if (_isDisposed)
            {
                return;
            }

            _isDisposed = true;
            foreach (MappedRegion region in _regions)
            {
                region.Dispose(); // Before the close: a mapping would keep the locks alive (P1), and Windows does not delete a mapped file.
            }
        }

        Close(TemporaryName is { } name && IsStillAt(name) ? name : null);
    }

    /// <summary>Creates a mapping that ends with this file.</summary>
    protected MappedRegion Add(Func<MappedRegion> map)
    {
        lock (_regions)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            MappedRegion region = map();
            _regions.Add(region);
            return region;
        }
    }

    /// <summary>Closes the file. Deletes its temporary name, if it is not null.</summary>
    protected abstract void Close(string? abandoned);
}
