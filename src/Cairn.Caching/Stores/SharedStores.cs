namespace Cairn.Caching.Stores;

// The store files that this process has open for its caches. A file is opened once for all its users, and closed when the last user has
// released it.
//
//   I1  A SharedStore in the table has users. The last release removes it from the table, under the same lock.
//   I2  Opening and closing, which may wait for other processes, happen outside the table's lock and under the SharedStore's own.
internal static class SharedStores
{
    private static readonly Lock Gate = new();
    private static readonly Dictionary<Identity, SharedStore> Table = [];

    /// <summary>
    /// Opens a store, or joins an opening of the same file with the same lock time-out, clock, flush on close and encryption.
    /// </summary>
    /// <remarks>
    /// Options that apply only to the creation or opening of a file have an effect for the first user only. A file that was deleted or replaced
    /// since it was opened counts as another store: later callers get the new one.
    /// </remarks>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="IOException">The store cannot be opened; see <see cref="CairnStore.Open"/>.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read and write the file.</exception>
    public static StoreHandle Open(StoreOptions options)
    {
        options.Validate();
        if (options.OpenMode == StoreOpenMode.CreateNew)
        {
            return StoreHandle.Own(CairnStore.Open(options));
        }

        var identity = new Identity(Path.GetFullPath(options.Path), options.LockTimeout, options.TimeProvider, options.FlushOnClose, options.Encryption);
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

            // A store that was replaced is no longer in the table.
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

        /// <summary>The number of users. Guarded by the table's lock.</summary>
        public int Users { get; set; }

        /// <summary>True once the path names another file or none.</summary>
        public bool IsReplaced => _store is { } store && !store.Engine.Memory.File.IsStillAt(store.Path);

        public CairnStore OpenOnce(StoreOptions options)
        {
            lock (_opening)
            {
                // If the store cannot be opened, the next caller tries again.
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
