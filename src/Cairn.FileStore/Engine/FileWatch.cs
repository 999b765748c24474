namespace Cairn.FileStore.Engine;

/// <summary>Checks the file at intervals. If no shared word announces changes, also checks it after notifications of the file system.</summary>
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
        // The reference is weak, so that an engine that is not disposed of can still be collected.
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

    // A shared word already announces changes. A watcher would then only cause a useless wake-up for each change.
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
            return null; // The directory is missing or the limit of watches is reached. The checks at intervals remain.
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
