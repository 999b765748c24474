using System.Numerics;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;
using FASTER.core;

namespace Cairn.Benchmarks.Peers;

// FASTER held in memory. The log is larger than all entries, so that no record goes to a device and every set updates in place.
// There is one hash bucket (of seven slots) for every two entries, as its documentation advises. Each record is locked
// separately, the minimum that makes concurrent in-place updates safe, as in Cairn.
internal sealed class FasterPeer : IDisposable
{
    public const string Name = "FASTER 2.6.5";

    private const int BucketBytes = 64;
    private const int EntriesPerBucket = 2;
    private const int RecordOverheadBytes = 24;
    private const long LeastMemoryBytes = 64L << 20;

    private readonly NullDevice _device = new();
    private readonly FasterKV<SpanByte, SpanByte> _store;
    private readonly ClientSession<SpanByte, SpanByte, SpanByte, SpanByteAndMemory, Empty, SpanByteFunctions<Empty>> _session;

    public FasterPeer(int entries, int valueBytes)
    {
        var logBytes = (long)entries * (RecordOverheadBytes + Requests.KeyBytes + valueBytes) * 2;
        var settings = new FasterKVSettings<SpanByte, SpanByte>
        {
            IndexSize = (long)BitOperations.RoundUpToPowerOf2((ulong)entries * BucketBytes / EntriesPerBucket),
            MemorySize = (long)BitOperations.RoundUpToPowerOf2((ulong)Math.Max(logBytes, LeastMemoryBytes)),
            LogDevice = _device,
            ConcurrencyControlMode = ConcurrencyControlMode.RecordIsolation,
        };
        _store = new FasterKV<SpanByte, SpanByte>(settings);
        _session = _store.For(new SpanByteFunctions<Empty>()).NewSession<SpanByteFunctions<Empty>>();

        var key = new byte[Requests.KeyBytes];
        var value = new byte[valueBytes];
        UsedCache.Fill(entries, number =>
        {
            Requests.WriteKey(number, key);
            Set(key, value);
        });
    }

    public unsafe bool TryGet(ReadOnlySpan<byte> key, Span<byte> destination)
    {
        fixed (byte* keyStart = key, destinationStart = destination)
        {
            var fixedKey = SpanByte.FromPointer(keyStart, key.Length);
            var output = new SpanByteAndMemory(destinationStart, destination.Length);
            return _session.Read(ref fixedKey, ref output).Found;
        }
    }

    public unsafe void Set(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        fixed (byte* keyStart = key, valueStart = value)
        {
            var fixedKey = SpanByte.FromPointer(keyStart, key.Length);
            var fixedValue = SpanByte.FromPointer(valueStart, value.Length);
            _session.Upsert(ref fixedKey, ref fixedValue);
        }
    }

    public void Dispose()
    {
        _session.Dispose();
        _store.Dispose();
        _device.Dispose();
    }
}

/// <summary>Gets a value and copies it.</summary>
internal sealed class FasterGet(FasterPeer store, Requests requests, int valueBytes)
    : OperationContender(FasterPeer.Name, requests.Count)
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

/// <summary>Sets a value in place.</summary>
internal sealed class FasterSet(FasterPeer store, Requests requests, int valueBytes)
    : OperationContender(FasterPeer.Name, requests.Count, StoreScale.SetPasses)
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
