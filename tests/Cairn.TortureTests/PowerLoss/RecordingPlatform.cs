using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.TortureTests.PowerLoss;

/// <summary>
/// The system's platform for one directory. It also records everything that would reach the disk, and it has a boot id of its own.
/// </summary>
internal sealed unsafe class RecordingPlatform : ProxyPlatform, IDisposable
{
    private readonly Lock _lock = new();
    private readonly Lock _rangeLock = new();
    private readonly Dictionary<FileIdentity, int> _files = [];
    private readonly Dictionary<int, StoreFile> _watched = [];
    private readonly string _directory;

    /// <summary>Creates a platform. The content of the directory counts as durable.</summary>
    public RecordingPlatform(string directory, string bootId)
    {
        _directory = directory;
        BootId = bootId;
        foreach (string path in Directory.GetFiles(directory))
        {
            using StoreFile file = Real.OpenReadOnly(path);
            _files[file.Identity] = Recorder.AddBase(Path.GetFileName(path), File.ReadAllBytes(path));
        }
    }

    public DiskRecorder Recorder { get; } = new();

    public override string BootId { get; }

    public override long? MemoryLimitBytes => null;

    /// <summary>Opens a store on this platform.</summary>
    public CairnStore OpenStore(StoreOptions options) => On(() => CairnStore.Open(options));

    public void Dispose()
    {
        foreach (StoreFile file in _watched.Values)
        {
            file.Dispose();
        }
    }

    public override StoreFile Open(string path) => Wrap(Real.Open(path), isNew: false);

    public override StoreFile OpenReadOnly(string path) => Wrap(Real.OpenReadOnly(path), isNew: false);

    public override StoreFile CreateUnnamed(string directory, string nameHint)
    {
        Recorder.Fault?.Invoke(DiskChangeKind.Named, nameHint);
        return Wrap(Real.CreateUnnamed(directory, nameHint), isNew: true);
    }

    public override StoreFile? TryCreate(string path)
    {
        Recorder.Fault?.Invoke(DiskChangeKind.Named, path);
        if (Real.TryCreate(path) is not { } real)
        {
            return null;
        }

        RecordedFile file = Wrap(real, isNew: true);
        Recorder.Add(DiskChangeKind.Named, file.Number, name: Path.GetFileName(path));
        return file;
    }

    public override void Delete(string path)
    {
        Recorder.Fault?.Invoke(DiskChangeKind.Unnamed, path);
        Real.Delete(path);
        Recorder.Add(DiskChangeKind.Unnamed, 0, name: Path.GetFileName(path));
    }

    public override void FlushDirectory(string directory)
    {
        Recorder.Fault?.Invoke(DiskChangeKind.NamesFlushed, directory);
        int before = Recorder.Count;
        Real.FlushDirectory(directory);
        Recorder.Add(DiskChangeKind.NamesFlushed, 0, before);
    }

    private RecordedFile Wrap(StoreFile real, bool isNew)
    {
        lock (_lock)
        {
            if (isNew || !_files.TryGetValue(real.Identity, out int number))
            {
                number = Recorder.NewFile();
                _files[real.Identity] = number;
            }

            return new RecordedFile(this, real, number);
        }
    }

    // A separate mapping observes the first page of a mapped file, which is the store's file.
    private void Watch(StoreFile file, int number)
    {
        lock (_lock)
        {
            if (!_watched.ContainsKey(number) && file.Length >= StoreLayout.SuperblockBytes && file.IsStillAt(file.Path))
            {
                StoreFile own = Real.Open(file.Path);
                byte* page = own.Map(StoreLayout.SuperblockBytes, writable: false).Address;
                _watched[number] = own;
                Recorder.Watch(number, () => new ReadOnlySpan<byte>(page, StoreLayout.SuperblockBytes).ToArray());
            }
        }
    }

    private sealed class RecordedFile(RecordingPlatform platform, StoreFile real, int number) : ProxyFile(real)
    {
        public int Number => number;

        private DiskRecorder Recorder => platform.Recorder;

        public override bool TryPublish(string path, bool replace)
        {
            Recorder.Fault?.Invoke(DiskChangeKind.Named, path);
            if (!Real.TryPublish(path, replace))
            {
                return false;
            }

            Assert.Equal(platform._directory, System.IO.Path.GetDirectoryName(Real.Path));
            Recorder.Add(DiskChangeKind.Named, number, name: System.IO.Path.GetFileName(Real.Path));
            return true;
        }

        public override void Preallocate(long offset, long length)
        {
            Recorder.Fault?.Invoke(DiskChangeKind.Extended, Path);
            Real.Preallocate(offset, length);
            Recorder.Add(DiskChangeKind.Extended, number, offset + length);
        }

        public override void ZeroRange(long offset, long length)
        {
            Recorder.Fault?.Invoke(DiskChangeKind.Written, Path);
            Real.ZeroRange(offset, length);
            Recorder.Add(DiskChangeKind.Written, number, offset, new byte[length]);
        }

        public override void Write(long offset, ReadOnlySpan<byte> data)
        {
            byte[] bytes = data.ToArray();
            try
            {
                Recorder.Fault?.Invoke(DiskChangeKind.Written, Path);
            }
            catch (StoreException)
            {
                bytes = bytes[..(bytes.Length / 2)]; // A disk that becomes full writes as much as it can.
                Real.Write(offset, bytes);
                Recorder.Add(DiskChangeKind.Written, number, offset, bytes);
                throw;
            }

            Real.Write(offset, data);
            Recorder.Add(DiskChangeKind.Written, number, offset, bytes);
        }

        public override void FlushData()
        {
            Recorder.Fault?.Invoke(DiskChangeKind.Flushed, Path);
            int before = Recorder.Count;
            Real.FlushData();
            Recorder.Add(DiskChangeKind.Flushed, number, before);
        }

        public override MappedRegion Map(long length, bool writable)
        {
            var region = new RecordedRegion(this, Real.Map(length, writable));
            if (writable)
            {
                platform.Watch(Real, number);
            }

            return region;
        }

        public void FlushRange(MappedRegion region, long offset, long length)
        {
            Recorder.Fault?.Invoke(DiskChangeKind.RangeFlushed, Path);

            // One flush at a time: bytes that were read earlier must not replace those of a flush that began later.
            lock (platform._rangeLock)
            {
                long end = Math.Min(offset + length, Length);
                byte[] bytes = end <= offset ? [] : new ReadOnlySpan<byte>(region.Address + offset, (int)(end - offset)).ToArray();
                region.Flush(offset, length);
                Recorder.Add(DiskChangeKind.RangeFlushed, number, offset, bytes);
            }
        }
    }

    private sealed class RecordedRegion(RecordedFile file, MappedRegion real) : ProxyRegion(real)
    {
        public override void Flush(long offset, long length) => file.FlushRange(Real, offset, length);
    }
}
