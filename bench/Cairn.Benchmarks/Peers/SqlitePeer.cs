using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Peers;

// SQLite configured as a cache: a write-ahead log, no synchronisation with the disk, a mapped file, and a page cache that holds the whole file. The
// table is its own index, and the statements are prepared. Each operation is a transaction of its own.
internal sealed unsafe class SqlitePeer : IDisposable
{
    public const string Name = "SQLite 3";

    private readonly string _folder;
    private readonly nint _database;
    private readonly nint _select;
    private readonly nint _replace;

    public SqlitePeer(string folder, int entries, int valueBytes)
    {
        _folder = Directory.CreateDirectory(Path.Combine(folder, "sqlite")).FullName;
        var path = Path.Combine(_folder, "peer.db");
        try
        {
            Check(SqliteNative.Open(path, out _database, SqliteNative.ReadWriteCreate, null));
        }
        catch (DllNotFoundException missing)
        {
            throw new PeerUnavailableException(Name, "libsqlite3.so.0 is not installed (Debian package libsqlite3-0).", missing);
        }

        Execute("PRAGMA journal_mode = WAL");
        Execute("PRAGMA synchronous = OFF");
        Execute("PRAGMA mmap_size = 4294967296");
        Execute("PRAGMA cache_size = -1048576");
        Execute("CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID");
        _select = Prepare("SELECT value FROM entries WHERE key = ?1");
        _replace = Prepare("INSERT OR REPLACE INTO entries (key, value) VALUES (?1, ?2)");
        Load(entries, valueBytes);
    }

    public bool TryGet(ReadOnlySpan<byte> key, Span<byte> destination)
    {
        fixed (byte* keyStart = key)
        {
            Check(SqliteNative.BindBlob(_select, 1, keyStart, key.Length, SqliteNative.StaticBytes));
            var isFound = SqliteNative.Step(_select) == SqliteNative.Row;
            if (isFound)
            {
                var value = SqliteNative.ColumnBlob(_select, 0);
                new ReadOnlySpan<byte>(value, SqliteNative.ColumnBytes(_select, 0)).CopyTo(destination);
            }

            Check(SqliteNative.Reset(_select));
            return isFound;
        }
    }

    public void Set(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        fixed (byte* keyStart = key, valueStart = value)
        {
            Check(SqliteNative.BindBlob(_replace, 1, keyStart, key.Length, SqliteNative.StaticBytes));
            Check(SqliteNative.BindBlob(_replace, 2, valueStart, value.Length, SqliteNative.StaticBytes));
            var result = SqliteNative.Step(_replace);
            Check(SqliteNative.Reset(_replace));
            if (result != SqliteNative.Done)
            {
                throw new InvalidOperationException($"{Name} returned error {result}.");
            }
        }
    }

    public void Dispose()
    {
        // The file is deleted next, so an error on closing loses nothing.
        _ = SqliteNative.FinalizeStatement(_select);
        _ = SqliteNative.FinalizeStatement(_replace);
        _ = SqliteNative.Close(_database);
        Directory.Delete(_folder, recursive: true);
    }

    private void Load(int entries, int valueBytes)
    {
        Span<byte> key = stackalloc byte[Requests.KeyBytes];
        var value = new byte[valueBytes];
        Execute("BEGIN");
        for (var number = 0; number < entries; number++)
        {
            Requests.WriteKey(number, key);
            Set(key, value);
        }

        Execute("COMMIT");
        Execute("PRAGMA wal_checkpoint(TRUNCATE)");
    }

    private void Execute(string sql) => Check(SqliteNative.Execute(_database, sql, 0, 0, 0));

    private nint Prepare(string sql)
    {
        Check(SqliteNative.Prepare(_database, sql, -1, out var statement, 0));
        return statement;
    }

    private static void Check(int error)
    {
        if (error != SqliteNative.Ok)
        {
            throw new InvalidOperationException($"{Name} returned error {error}.");
        }
    }
}

/// <summary>Gets a value in a transaction of its own and copies it.</summary>
internal sealed class SqliteGet(SqlitePeer store, Requests requests, int operations, int valueBytes)
    : OperationContender(SqlitePeer.Name, operations)
{
    private readonly byte[] _destination = new byte[valueBytes];

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (!store.TryGet(requests.Key(i), _destination))
            {
                Misses++;
            }
        }
    }
}

/// <summary>Sets a value in a transaction of its own.</summary>
internal sealed class SqliteSet(SqlitePeer store, Requests requests, int operations, int valueBytes)
    : OperationContender(SqlitePeer.Name, operations)
{
    private readonly byte[] _value = new byte[valueBytes];

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            store.Set(requests.Key(i), _value);
        }
    }
}
