using Cairn.Platform;

namespace Cairn.Tests.WriteAhead;

/// <summary>
/// The system's platform. It also counts flushes to the disk, and lets a test make operations on the store's other files fail.
/// </summary>
internal sealed class FaultyPlatform : ProxyPlatform
{
    private int _flushes;

    /// <summary>Gets the number of flushes of files of the log.</summary>
    public int Flushes => Volatile.Read(ref _flushes);

    /// <summary>Gets or sets the action before a flush of a file of the log. The action can throw.</summary>
    public Action? OnFlush { get; set; }

    /// <summary>Gets or sets the action before space is reserved for a file of the log. The action can throw.</summary>
    public Action? OnPreallocate { get; set; }

    /// <summary>Gets or sets the action before a write to a file of the log. The action can throw.</summary>
    public Action? OnWrite { get; set; }

    /// <summary>Gets or sets the action before the creation of a file that gets its name later.</summary>
    public Action? OnCreate { get; set; }

    /// <summary>Gets or sets the action before a flush of a directory. The action can throw.</summary>
    public Action? OnFlushDirectory { get; set; }

    public static StoreException Failed(string what) => new($"{what} failed, because the test says so.");

    public CairnStore OpenStore(StoreOptions options) => On(() => CairnStore.Open(options));

    public override StoreFile Open(string path) => Wrap(path, Real.Open(path));

    public override StoreFile OpenReadOnly(string path) => Wrap(path, Real.OpenReadOnly(path));

    public override StoreFile CreateUnnamed(string directory, string nameHint)
    {
        OnCreate?.Invoke();
        return Wrap(nameHint, Real.CreateUnnamed(directory, nameHint));
    }

    public override StoreFile? TryCreate(string path) => Real.TryCreate(path) is { } file ? Wrap(path, file) : null;

    public override void FlushDirectory(string directory)
    {
        OnFlushDirectory?.Invoke();
        Real.FlushDirectory(directory);
    }

    private StoreFile Wrap(string path, StoreFile file) =>
        Path.GetFileName(path).Contains(".log-", StringComparison.Ordinal) ? new FaultyFile(this, file) : file;

    private sealed class FaultyFile(FaultyPlatform platform, StoreFile file) : ProxyFile(file)
    {
        public override void Preallocate(long offset, long length)
        {
            platform.OnPreallocate?.Invoke();
            base.Preallocate(offset, length);
        }

        public override void Write(long offset, ReadOnlySpan<byte> data)
        {
            platform.OnWrite?.Invoke();
            base.Write(offset, data);
        }

        public override void FlushData()
        {
            platform.OnFlush?.Invoke();
            Interlocked.Increment(ref platform._flushes);
            base.FlushData();
        }
    }
}
