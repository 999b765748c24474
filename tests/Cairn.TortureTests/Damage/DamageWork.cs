using System.Text;
using Cairn.TortureTests.Kills;

namespace Cairn.TortureTests.Damage;

/// <summary>Performs random operations of every kind on a store and checks their results as far as a damaged store allows.</summary>
internal sealed class DamageWork
{
    public const string CollectionName = "collection";

    private static readonly byte[] s_filler = new byte[4_000];

    private readonly CairnStore _store;
    private readonly CairnCollection _collection;
    private readonly DamageValues _values;
    private readonly TimeProvider _clock;
    private readonly Random _random;
    private readonly KillSizes _sizes;
    private readonly DamageReader _reader;
    private int _filler;

    public DamageWork(
        CairnStore store, DamageValues values, TimeProvider clock, Random random, KillSizes sizes, bool arePinsSafe = true)
    {
        _store = store;
        _values = values;
        _clock = clock;
        _random = random;
        _sizes = sizes;
        _collection = store.Collection(CollectionName);
        _reader = new DamageReader(store, _collection, clock, random) { ArePinsSafe = arePinsSafe, WhilePinned = FillSome };
    }

    /// <summary>Performs one operation.</summary>
    public void Step()
    {
        int key = _random.Next(DamageValues.Keys);
        switch (_random.Next(100))
        {
            case < 50:
                Write(key);
                break;
            case < 54:
                CollectionOf(key).Remove(NameOf(key));
                break;
            case < 60 when DamageValues.KindOf(key) == DamageKeyKind.Whole:
                Conditional(key);
                break;
            case < 64 when DamageValues.KindOf(key) == DamageKeyKind.Whole:
                Lease(key);
                break;
            case < 67 when DamageValues.KindOf(key) != DamageKeyKind.Whole: // Values of that kind contain their deadline.
                CollectionOf(key).Touch(NameOf(key), Expiration.Sliding(TimeSpan.FromDays(1)));
                break;
            case 67:
                Rarely();
                break;
            case < 72:
                Fill();
                break;
            default:
                _reader.Read(_values, key);
                break;
        }
    }

    /// <summary>Reads a random key of <paramref name="values"/> by a random read operation.</summary>
    public void ReadOf(DamageValues values) => _reader.Read(values, _random.Next(DamageValues.Keys));

    /// <summary>Reads every key by a random read operation.</summary>
    public void ReadAll()
    {
        for (int key = 0; key < DamageValues.Keys; key++)
        {
            _reader.Read(_values, key);
        }
    }

    /// <summary>Lists and counts everything.</summary>
    public void LookAround()
    {
        foreach (StoreEntry entry in _store.DefaultCollection.Entries().Concat(_collection.Entries()))
        {
            _ = (entry.KeyText, entry.Info.ExpiresAt, entry.Info.SlidingInterval, entry.Info.SlidingLimit);
        }

        _ = (_store.GetStatistics(), _store.CollectionNames, _store.GetBiggestKeys(10), _store.GetSizeHistogram());
        Span<ulong> hashes = stackalloc ulong[100];
        for (int partition = 0; partition < _store.PartitionCount; partition++)
        {
            InvalidationCursor cursor = default;
            for (int i = 0; i < 100 && _store.ReadInvalidations(partition, ref cursor, hashes, out _) != InvalidationStatus.None; i++)
            {
                // Reads to the end of the ring.
            }
        }
    }

    /// <summary>Writes more than the store holds.</summary>
    public void Flood()
    {
        StoreStatistics statistics = _store.GetStatistics();
        long bytes = (long)statistics.Segments * statistics.BytesPerSegment * 5 / 4;
        while (bytes > 0)
        {
            bytes -= Fill();
        }
    }

    /// <summary>Sets <paramref name="count"/> new keys and returns how many of them can be read right after they were set.</summary>
    public int CountWorkingWrites(int count)
    {
        int working = 0;
        for (int i = 0; i < count; i++)
        {
            string name = $"fresh:{_filler++}";
            byte[] value = Encoding.UTF8.GetBytes(name);
            if (_store.DefaultCollection.Set(name, value) && _store.DefaultCollection.Get(name) is { } found)
            {
                WrongValueException.ThrowIf(found.AsSpan().SequenceEqual(value) ? null : "is not what was set a moment ago", name);
                working++;
            }
        }

        return working;
    }

    private string NameOf(int key) => _values.NameOf(key);

    private CairnCollection CollectionOf(int key) => _reader.CollectionOf(key);

    private void Write(int key)
    {
        CairnCollection collection = CollectionOf(key);
        long sequence = _values.Begin(key);
        switch (DamageValues.KindOf(key))
        {
            case DamageKeyKind.Joined:
                byte[] part = _values.Joined(key, sequence);
                WriteStatus status = _random.Next(2) == 0 ? collection.Append(NameOf(key), part) : collection.Prepend(NameOf(key), part);
                if (status != WriteStatus.Stored)
                {
                    collection.Set(NameOf(key), part);
                }

                break;

            case DamageKeyKind.Number:
                collection.Increment(NameOf(key), 1, out _, initialValue: 1);
                break;

            case DamageKeyKind.Whole when _random.Next(20) == 0:
                byte[] streamed = NewValue(key, sequence, out Expiration ofStream);
                collection.Set(NameOf(key), new MemoryStream(streamed), streamed.Length, ofStream);
                break;

            default:
                collection.Set(NameOf(key), NewValue(key, sequence, out Expiration expiration), expiration, (uint)_random.Next(2));
                break;
        }
    }

    private byte[] NewValue(int key, long sequence, out Expiration expiration)
    {
        long deadline = KillValue.NoDeadline;
        switch (_random.Next(10))
        {
            case 0:
                deadline = _clock.GetUtcNow().ToUnixTimeMilliseconds() + _random.Next(1_000, 100_000);
                expiration = Expiration.At(DateTimeOffset.FromUnixTimeMilliseconds(deadline));
                break;
            case 1:
                expiration = Expiration.Sliding(TimeSpan.FromDays(1));
                break;
            default:
                expiration = Expiration.None;
                break;
        }

        return _values.Whole(key, sequence, _sizes.Choose(_random), deadline);
    }

    private void Conditional(int key)
    {
        CairnCollection collection = CollectionOf(key);
        string name = NameOf(key);
        bool isPresent = collection.TryGetInfo(name, out EntryInfo info);
        byte[] value = NewValue(key, _values.Begin(key), out Expiration expiration);
        _ = _random.Next(4) switch
        {
            0 => collection.Replace(name, value, expiration),
            1 => collection.CompareAndRemove(name, info.Version),
            _ when isPresent => collection.CompareAndSwap(name, value, info.Version, expiration),
            _ => collection.Add(name, value, expiration),
        };
    }

    private void Lease(int key)
    {
        if (CollectionOf(key).AcquireLease(NameOf(key), TimeSpan.Zero, out StoreLease? lease) != LeaseStatus.Acquired)
        {
            return;
        }

        if (_random.Next(2) == 0)
        {
            byte[] value = NewValue(key, _values.Begin(key), out Expiration expiration);
            lease!.TrySet(value, expiration);
        }

        // Some leases are abandoned, for later callers to deal with.
        if (_random.Next(3) != 0)
        {
            lease!.Dispose();
        }
    }

    private void Rarely()
    {
        switch (_random.Next(8))
        {
            case 0:
                _collection.Clear();
                break;
            case 1:
                _store.DefaultCollection.Clear();
                break;
            default:
                (_clock as ManualClock)?.Advance(TimeSpan.FromSeconds(_random.Next(20)));
                break;
        }
    }

    private void FillSome()
    {
        for (int i = _random.Next(10); i > 0; i--)
        {
            Fill();
        }
    }

    private int Fill()
    {
        int length = _random.Next(s_filler.Length);
        _store.DefaultCollection.Set($"filler:{_filler++}", s_filler.AsSpan(0, length));
        return length + 40;
    }
}
