namespace Cairn.FileStore.Engine;

/// <summary>Looks at the file now and then, and where nothing tells of others' changes, also when the system says that it changed.</summary>
internal sealed class FileWatch : IDisposable
{
    private readonly ITimer _timer;
    private readonly WeakReference<FileEngine> _engine;
    private readonly Lock _gate = new();
    private readonly string _path;
    private FileSystemWatcher? _watcher;
    private bool _isDisposed;

    public FileWatch(FileEngine engine, TimeSpan interval, TimeProvider clock)
    {
        // Weakly: a cache that nobody disposes of ends when nobody uses it.
        _engine = new WeakReference<FileEngine>(engine);
        _path = engine.FilePath;
        _timer = clock.CreateTimer(static state => ((FileWatch)state!).Look(), this, interval, interval);
        Listen();
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
            _timer.Dispose();
            _watcher?.Dispose();
            _watcher = null;
        }
    }

    private void Look()
    {
        if (!_engine.TryGetTarget(out FileEngine? engine))
        {
            Dispose();
            return;
        }

        engine.Look();
        Listen();
    }

    // Where a word in memory tells of changes, a listener would only be woken by every one of them for nothing.
    private void Listen()
    {
        lock (_gate)
        {
            bool isNeeded = !_isDisposed && _engine.TryGetTarget(out FileEngine? engine) && !engine.IsShared;
            if (isNeeded == (_watcher is not null))
            {
                return;
            }

            _watcher?.Dispose();
            _watcher = isNeeded ? TryCreateWatcher() : null;
        }
    }

    private FileSystemWatcher? TryCreateWatcher()
    {
        try
        {
            var watcher = new FileSystemWatcher(Path.GetDirectoryName(_path)!, Path.GetFileName(_path))
            {
                NotifyFilter = NotifyFilters.LastWrite | NotifyFilters.FileName | NotifyFilters.Size,
            };
            watcher.Changed += (_, _) => LookSoon();
            watcher.Created += (_, _) => LookSoon();
            watcher.Renamed += (_, _) => LookSoon();
            watcher.Deleted += (_, _) => LookSoon();
            watcher.EnableRaisingEvents = true;
            return watcher;
        }
        catch (Exception e) when (e is IOException or ArgumentException or UnauthorizedAccessException or PlatformNotSupportedException)
        {
            return null; // No directory, or no more watches to be had: looking now and then has to do.
        }
    }

    private void LookSoon()
    {
        if (_engine.TryGetTarget(out FileEngine? engine))
        {
            engine.Look();
        }
    }
}
