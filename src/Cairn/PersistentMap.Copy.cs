using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Maps;

namespace Cairn;

// Copies of everything, and enumeration, which copies a few buckets at a time.
public sealed unsafe partial class PersistentMap<TKey, TValue>
{
    // A bucket has seven slots, so one step copies at most a few hundred entries.
    private const int BucketsPerStep = 64;

    private const int FirstBufferBytes = 256;

    // The result is not steady if anything was written during the copy. Then a key that was removed and set again can occur twice.
    private KeyValuePair<TKey, TValue>[] CopyAll(bool wantsValues, out int count, out bool isSteady)
    {
        _engine.ThrowIfClosed();
        long perPartition = _engine.Memory.Layout.BucketsPerPartition;
        var sink = new Sink(_keys, wantsValues ? _values : null, capacity: (int)Math.Min(_engine.CountOf(_collection.Number) + Bucket.Slots, Array.MaxLength));
        byte[] buffer = ArrayPool<byte>.Shared.Rent(FirstBufferBytes);
        isSteady = true;
        try
        {
            for (long first = 0; first < _engine.BucketCount; first += perPartition)
            {
                ulong version = _engine.VersionAt(first);
                Copy(first, first + perPartition, ref buffer, ref sink);
                isSteady &= _engine.VersionAt(first) == version;
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }

        count = sink.Count;
        return sink.Items;
    }

    private IEnumerator<KeyValuePair<TKey, TValue>> Enumerate()
    {
        long perPartition = _engine.Memory.Layout.BucketsPerPartition;
        var sink = new Sink(_keys, _values, capacity: 0);
        for (long first = 0; first < _engine.BucketCount;)
        {
            long end = Math.Min(first + BucketsPerStep, ((first / perPartition) + 1) * perPartition);
            CopyStep(first, end, ref sink);
            for (int i = 0; i < sink.Count; i++)
            {
                yield return sink.Items[i];
            }

            first = end;
        }
    }

    private void CopyStep(long first, long end, ref Sink sink)
    {
        _engine.ThrowIfClosed();
        sink.Clear();
        byte[] buffer = ArrayPool<byte>.Shared.Rent(FirstBufferBytes);
        try
        {
            Copy(first, end, ref buffer, ref sink);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private void Copy(long first, long end, ref byte[] buffer, ref Sink sink)
    {
        if (FixedFormat.SizeOf<TKey>() != 0 && FixedFormat.SizeOf<TValue>() != 0 && _isFixed)
        {
            _engine.CopyFixed<TKey, TValue, Sink>(first, end, _shape, ref buffer, ref sink);
        }
        else if (_engine.Cipher is { } cipher)
        {
            CopySealed(cipher, first, end, ref sink);
        }
        else
        {
            _engine.CopyEntries<TKey, TValue, Sink>(first, end, _collection.Number, ref buffer, ref sink);
        }
    }

    // The copy of an encrypted store. A scan must first find each entry by its tag before the entry can be decrypted.
    private void CopySealed(StoreCipher cipher, long first, long end, ref Sink sink)
    {
        Sink filled = sink;
        OpenedVisitor opened = (ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, in EntryInfo _, uint _) => filled.Add(key, value);
        EntryVisitor visitor = (ReadOnlySpan<byte> tag, in EntryInfo _, uint collection) =>
        {
            if (collection == _collection.Number)
            {
                CairnCollection.VisitSealed(_engine, cipher, tag, collection, opened);
            }
        };
        for (long bucket = first; bucket < end; bucket++)
        {
            _engine.VisitBucket(bucket, visitor);
        }

        sink = filled;
    }

    private struct Sink(MapCodec<TKey> keys, MapCodec<TValue>? values, int capacity) : IEntrySink<TKey, TValue>
    {
        private KeyValuePair<TKey, TValue>[] _items = capacity == 0 ? [] : GC.AllocateUninitializedArray<KeyValuePair<TKey, TValue>>(capacity);
        private int _count;

        public readonly KeyValuePair<TKey, TValue>[] Items => _items;

        public readonly int Count => _count;

        public void Clear() => _count = 0;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public Span<KeyValuePair<TKey, TValue>> Reserve(int count)
        {
            if (_items.Length - _count < count)
            {
                Grow(count);
            }

            return _items.AsSpan(_count, count);
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Take(int count) => _count += count;

        public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
        {
            Reserve(1)[0] = new KeyValuePair<TKey, TValue>(keys.Read(key), values is null ? default! : values.Read(value));
            Take(1);
        }

        private void Grow(int count) => Array.Resize(ref _items, Math.Max(_count + count, Math.Max(16, _items.Length * 2)));
    }
}
