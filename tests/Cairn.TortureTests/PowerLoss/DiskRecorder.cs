namespace Cairn.TortureTests.PowerLoss;

/// <summary>Records the changes that processes make to the files of one directory, in order.</summary>
internal sealed class DiskRecorder
{
    private readonly Lock _lock = new();
    private readonly List<DiskChange> _changes = [];
    private readonly Dictionary<int, Func<byte[]>> _pages = [];
    private readonly Dictionary<int, byte[]> _pagesSeen = [];
    private int _files;

    /// <summary>Gets the number of changes so far: a moment at which the power may fail.</summary>
    public int Count
    {
        get
        {
            lock (_lock)
            {
                SeePages();
                return _changes.Count;
            }
        }
    }

    public IReadOnlyList<DiskChange> Changes
    {
        get
        {
            lock (_lock)
            {
                return [.. _changes];
            }
        }
    }

    /// <summary>Gets or sets an action that runs before each change and throws to prevent it, as on a full or broken disk.</summary>
    public Action<DiskChangeKind, string>? Fault { get; set; }

    public int NewFile()
    {
        lock (_lock)
        {
            return ++_files;
        }
    }

    /// <summary>Adds a file whose content is already on the disk.</summary>
    public int AddBase(string name, byte[] content)
    {
        lock (_lock)
        {
            int file = ++_files;
            _changes.Add(new DiskChange(DiskChangeKind.RangeFlushed, file, 0, content, ""));
            _changes.Add(new DiskChange(DiskChangeKind.Named, file, 0, [], name));
            _changes.Add(new DiskChange(DiskChangeKind.NamesFlushed, 0, _changes.Count, [], ""));
            return file;
        }
    }

    public void Add(DiskChangeKind kind, int file, long offset = 0, byte[]? data = null, string name = "")
    {
        lock (_lock)
        {
            SeePages();
            _changes.Add(new DiskChange(kind, file, offset, data ?? [], name));
        }
    }

    /// <summary>Watches a page that changes through mappings. The recorder reads it at each change, because no event reports its changes.</summary>
    public void Watch(int file, Func<byte[]> readPage)
    {
        lock (_lock)
        {
            _pages[file] = readPage;
        }
    }

    private void SeePages()
    {
        foreach ((int file, Func<byte[]> readPage) in _pages)
        {
            byte[] page = readPage();
            if (!_pagesSeen.TryGetValue(file, out byte[]? seen) || !page.AsSpan().SequenceEqual(seen))
            {
                _pagesSeen[file] = page;
                _changes.Add(new DiskChange(DiskChangeKind.Drifted, file, 0, page, ""));
            }
        }
    }
}
