namespace Cairn.Caching.Stores;

// The store files that this process has open for its caches. A file is opened once, whoever asks for it, and closed when the last who
// asked has given it back.
//
//   I1  A SharedStore in the table has users. The last to give it back takes it out, under the same lock.
//   I2  Opening and closing, which may wait for other processes, happen outside the table's lock and inside the SharedStore's own.
internal static class SharedStores
{
    private static readonly Lock Gate = new();
    private static readonly Dictionary<Identity, SharedStore> Table = [];

    /// <summary>Opens a store, or joins an opening of the same file with the same lock time-out, clock, way of closing and key.</summary>
    /// <remarks>
    /// What describes only how a file is created or opened matters to the first alone. A file that was deleted or replaced since it was
    /// opened is another store by now: who asks then gets that one.
    /// </remarks>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="IOException">As <see cref="CairnStore.Open"/>.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read and write the file.</exception>
    public static StoreHandle Open(StoreOptions options)
    {
        options.Validate();
        if (options.OpenMode == StoreOpenMode.CreateNew)
        {
            return StoreHandle.Own(CairnStore.Open(options));
        }

        var identity = new Identity(Path.GetFullPath(options.Path), options.LockTimeout, options.Clock, options.FlushOnClose, options.Encryption);
        SharedStore shared = Join(identity);
        try
        {
            return new StoreHandle(shared.OpenOnce(options), () => Leave(identity, shared));
        }
        catch
        {
            Leave(identity, shared);
            throw;
        }
    }

    private static SharedStore Join(in Identity identity)
    {
        lock (Gate)
        {
            if (!Table.TryGetValue(identity, out SharedStore? shared) || shared.IsReplaced)
            {
                shared = new SharedStore();
                Table[identity] = shared;
            }

            shared.Users++;
            return shared;
        }
    }

    private static void Leave(in Identity identity, SharedStore shared)
    {
        lock (Gate)
        {
            if (--shared.Users > 0)
            {
                return;
            }

            // One that was replaced is not in the table any more.
            if (Table.TryGetValue(identity, out SharedStore? current) && current == shared)
            {
                Table.Remove(identity);
            }
        }

        shared.Close();
    }

    private readonly record struct Identity(string FullPath, TimeSpan LockTimeout, TimeProvider Clock, bool FlushOnClose, StoreEncryption? Encryption);

    private sealed class SharedStore
    {
        private readonly Lock _opening = new();
        private volatile CairnStore? _store;

        /// <summary>Guarded by the table's lock.</summary>
        public int Users { get; set; }

        /// <summary>True once the path names another file, or none.</summary>
        public bool IsReplaced => _store is { } store && !store.Engine.Memory.File.IsStillAt(store.Path);

        public CairnStore OpenOnce(StoreOptions options)
        {
            lock (_opening)
            {
                // If it cannot be opened, the next who asks tries again.
                return _store ??= CairnStore.Open(options);
            }
        }

        public void Close()
        {
            lock (_opening)
            {
                _store?.Dispose();
            }
        }
    }
}
