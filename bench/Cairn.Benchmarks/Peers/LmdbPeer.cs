using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Peers;

// LMDB configured as a cache: a writable map, no synchronisation with the disk, and one transaction per operation, because callers
// are independent. One read transaction is reset and renewed, which is the cheapest way to start one.
internal sealed unsafe class LmdbPeer : IDisposable
{
    public const string Name = "LMDB 0.9.24";

    private const int RecordOverheadBytes = 40;
    private const long LeastMapBytes = 64L << 20;

    private readonly string _folder;
    private readonly nint _environment;
    private readonly nint _readTransaction;
    private readonly uint _database;

    public LmdbPeer(string folder, int entries, int valueBytes)
    {
        _folder = Directory.CreateDirectory(Path.Combine(folder, "lmdb")).FullName;
        try
        {
            Check(LmdbNative.CreateEnvironment(out _environment));
        }
        catch (DllNotFoundException missing)
        {
            throw new PeerUnavailableException(Name, "liblmdb.so.0 is not installed (Debian package liblmdb0).", missing);
        }

        // In the worst case, B+tree pages filled in key order are half empty, and a commit needs room for the old and the new pages.
        var mapBytes = Math.Max((long)entries * (RecordOverheadBytes + Requests.KeyBytes + valueBytes) * 3, LeastMapBytes);
        Check(LmdbNative.SetMapSize(_environment, (nuint)mapBytes));
        Check(LmdbNative.Open(_environment, _folder, LmdbNative.NoSync | LmdbNative.WriteMap, 0x180));
        _database = Load(entries, valueBytes);

        Check(LmdbNative.BeginTransaction(_environment, 0, LmdbNative.ReadOnly, out _readTransaction));
        LmdbNative.ResetTransaction(_readTransaction);
    }

    public bool TryGet(ReadOnlySpan<byte> key, Span<byte> destination)
    {
        fixed (byte* keyStart = key)
        {
            var keyView = new LmdbBytes(key.Length, keyStart);
            Check(LmdbNative.RenewTransaction(_readTransaction));
            var isFound = LmdbNative.Get(_readTransaction, _database, ref keyView, out var value) == 0;
            if (isFound)
            {
                new ReadOnlySpan<byte>(value.Start, (int)value.Length).CopyTo(destination);
            }

            LmdbNative.ResetTransaction(_readTransaction);
            return isFound;
        }
    }

    public void Set(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        Check(LmdbNative.BeginTransaction(_environment, 0, 0, out var transaction));
        Put(transaction, _database, key, value);
        Check(LmdbNative.Commit(transaction));
    }

    public void Dispose()
    {
        LmdbNative.AbortTransaction(_readTransaction);
        LmdbNative.CloseEnvironment(_environment);
        Directory.Delete(_folder, recursive: true);
    }

    private uint Load(int entries, int valueBytes)
    {
        Check(LmdbNative.BeginTransaction(_environment, 0, 0, out var transaction));
        Check(LmdbNative.OpenDatabase(transaction, null, 0, out var database));
        Span<byte> key = stackalloc byte[Requests.KeyBytes];
        var value = new byte[valueBytes];
        for (var number = 0; number < entries; number++)
        {
            Requests.WriteKey(number, key);
            Put(transaction, database, key, value);
        }

        Check(LmdbNative.Commit(transaction));
        return database;
    }

    private static void Put(nint transaction, uint database, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        fixed (byte* keyStart = key, valueStart = value)
        {
            var keyView = new LmdbBytes(key.Length, keyStart);
            var valueView = new LmdbBytes(value.Length, valueStart);
            Check(LmdbNative.Put(transaction, database, ref keyView, ref valueView, 0));
        }
    }

    private static void Check(int error)
    {
        if (error != 0)
        {
            throw new InvalidOperationException($"{Name} returned error {error}.");
        }
    }
}

/// <summary>Gets a value in a transaction of its own and copies it.</summary>
internal sealed class LmdbGet(LmdbPeer store, Requests requests, int valueBytes)
    : OperationContender(LmdbPeer.Name, requests.Count)
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

/// <summary>Sets a value and commits.</summary>
internal sealed class LmdbSet(LmdbPeer store, Requests requests, int operations, int valueBytes)
    : OperationContender(LmdbPeer.Name, operations)
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
