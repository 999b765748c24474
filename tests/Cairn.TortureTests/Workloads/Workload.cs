using System.Diagnostics;
using System.Text;
using Cairn.TortureTests.Histories;

namespace Cairn.TortureTests.Workloads;

/// <summary>
/// Random operations of one thread on a few keys, recorded in a journal, among writes of other keys that keep eviction busy. Every value
/// that is read is checked to the last byte.
/// </summary>
internal sealed class Workload
{
    private readonly CairnStore _store;
    private readonly WorkloadKeys _keys;
    private readonly Journal _journal;
    private readonly Random _random;
    private readonly int _worker;
    private readonly int _longest;
    private readonly bool _isReader;
    private readonly byte[] _buffer = new byte[256 * 1024];
    private readonly InvalidationCursor[] _cursors;
    private long _valueNumber;
    private long _filler;

    /// <summary>Prepares the work of one thread.</summary>
    /// <param name="store">The store.</param>
    /// <param name="keys">The keys.</param>
    /// <param name="journal">The journal of the thread.</param>
    /// <param name="random">Chooses the operations.</param>
    /// <param name="worker">A number that no other thread of the run has.</param>
    /// <param name="longest">The maximum length of a value, in bytes.</param>
    /// <param name="isReader">Whether the thread only reads.</param>
    public Workload(
        CairnStore store, WorkloadKeys keys, Journal journal, Random random, int worker, int longest = 60_000, bool isReader = false)
    {
        _store = store;
        _keys = keys;
        _journal = journal;
        _random = random;
        _worker = worker;
        _longest = longest;
        _isReader = isReader;
        _valueNumber = (long)worker << 32;
        _filler = (long)worker << 32;
        _cursors = [.. Enumerable.Range(0, store.PartitionCount).Select(store.GetInvalidationCursor)];
    }

    /// <summary>Gets whether the journal has room for one more step.</summary>
    public bool MayStep => _journal.Room > _keys.Count + 16;

    /// <summary>Performs one operation.</summary>
    public void Step()
    {
        int key = _random.Next(_keys.Count);
        int choice = _isReader ? 50 + _random.Next(25) : _random.Next(100);
        switch (choice)
        {
            case < 20:
                Write(key, () => _keys.CollectionOf(key).Set(_keys.NameOf(key), Value(key), Expiration()) ? Effect.Wrote : Effect.Removed);
                break;
            case < 24:
                WriteIf(key, () => _keys.CollectionOf(key).Add(_keys.NameOf(key), Value(key)));
                break;
            case < 28:
                WriteIf(key, () => _keys.CollectionOf(key).Replace(_keys.NameOf(key), Value(key)));
                break;
            case < 33:
                CompareAndSwap(key);
                break;
            case < 37:
                _keys.CollectionOf(key).Touch(_keys.NameOf(key), Expiration());
                break;
            case < 41:
                Lease(key);
                break;
            case < 46:
                Remove(key);
                break;
            case < 48:
                SetFromStream(key);
                break;
            case < 50:
                SetMany();
                break;
            case < 64:
                Get(key);
                break;
            case < 69:
                GetPinned(key);
                break;
            case < 72:
                GetMany();
                break;
            case < 75:
                LookAround();
                break;
            case < 99:
                Fill();
                break;
            default:
                Clear();
                break;
        }
    }

    /// <summary>Reads every key once.</summary>
    public void ReadAll()
    {
        for (int key = 0; key < _keys.Count; key++)
        {
            Get(key);
        }
    }

    private byte[] Value(int key) => TestValue.Make(key, _valueNumber, Length());

    private int Length()
    {
        int longest = _random.Next(20) switch
        {
            < 12 => 200,
            < 16 => 3_000,
            < 19 => 10_000,
            _ => 60_000,
        };
        return _random.Next(TestValue.HeaderBytes, Math.Min(longest, _longest) + 1);
    }

    // Longer than a run, so that no entry expires. The expiration decides to which log an entry goes, and a sliding one changes entries in place.
    private Expiration Expiration() => _random.Next(4) switch
    {
        0 => TimeSpan.FromHours(1),
        1 => Cairn.Expiration.Sliding(TimeSpan.FromDays(1)),
        _ => Cairn.Expiration.None,
    };

    private void Write(int key, Func<Effect> write)
    {
        _valueNumber++;
        _journal.Begin(key, Effect.Wrote, _valueNumber);
        _journal.End(write());
    }

    private void WriteIf(int key, Func<WriteStatus> write) =>
        Write(key, () => write() == WriteStatus.Stored ? Effect.Wrote : Effect.None);

    private void CompareAndSwap(int key)
    {
        CairnCollection collection = _keys.CollectionOf(key);
        if (!collection.TryGetInfo(_keys.NameOf(key), out EntryInfo info))
        {
            return;
        }

        if (_random.Next(3) == 0)
        {
            _journal.Begin(key, Effect.Removed, 0);
            _journal.End(collection.CompareAndRemove(_keys.NameOf(key), info.Version) == WriteStatus.Stored ? Effect.Removed : Effect.None);
        }
        else
        {
            WriteIf(key, () => collection.CompareAndSwap(_keys.NameOf(key), Value(key), info.Version));
        }
    }

    private void Lease(int key)
    {
        CairnCollection collection = _keys.CollectionOf(key);
        if (collection.AcquireLease(_keys.NameOf(key), TimeSpan.Zero, out StoreLease? lease) == LeaseStatus.Acquired)
        {
            if (_random.Next(4) != 0)
            {
                Write(key, () => lease!.TrySet(Value(key)) ? Effect.Wrote : Effect.None);
            }

            lease!.Dispose();
        }
    }

    private void Remove(int key)
    {
        _journal.Begin(key, Effect.Removed, 0);
        _keys.CollectionOf(key).Remove(_keys.NameOf(key));
        _journal.End(Effect.Removed);
    }

    private void SetFromStream(int key)
    {
        Write(key, () =>
        {
            byte[] value = TestValue.Make(key, _valueNumber, _random.Next(_longest));
            using var source = new MemoryStream(value);
            return _keys.CollectionOf(key).Set(_keys.NameOf(key), source, value.Length) ? Effect.Wrote : Effect.Removed;
        });
    }

    // Records one operation for each key, because SetMany returns only the number of stored items.
    private void SetMany()
    {
        int key = _random.Next(_keys.Count);
        Write(key, () =>
        {
            StoreItem[] items = [new(Encoding.UTF8.GetBytes(_keys.NameOf(key)), Value(key))];
            return _keys.CollectionOf(key).SetMany(items) == 1 ? Effect.Wrote : Effect.Removed;
        });
    }

    private void Get(int key)
    {
        long start = Stopwatch.GetTimestamp();
        bool isHit = _keys.CollectionOf(key).TryGet(_keys.NameOf(key), _buffer, out int length);
        long end = Stopwatch.GetTimestamp();
        if (isHit)
        {
            _journal.Add(key, Effect.Read, TestValue.Check(_buffer.AsSpan(0, length), key), start, end);
        }
    }

    private void GetPinned(int key)
    {
        long start = Stopwatch.GetTimestamp();
        if (!_keys.CollectionOf(key).TryPin(_keys.NameOf(key), out PinnedValue? pinned))
        {
            return;
        }

        using (pinned)
        {
            long end = Stopwatch.GetTimestamp();
            long number = TestValue.Check(pinned.Value, key);
            _journal.Add(key, Effect.Read, number, start, end);
            for (int i = _random.Next(4); i > 0; i--)
            {
                Fill();
                if (TestValue.Check(pinned.Value, key) != number)
                {
                    throw new TornValueException($"The pinned value {number} of key {key} changed.");
                }
            }
        }
    }

    private void GetMany()
    {
        int first = _random.Next(_keys.Count);
        CairnCollection collection = _keys.CollectionOf(first);
        int[] keys = [.. _keys.KeysOf(collection).Where(key => key >= first).Take(20)];
        ReadOnlyMemory<byte>[] names = [.. keys.Select(key => (ReadOnlyMemory<byte>)Encoding.UTF8.GetBytes(_keys.NameOf(key)))];
        var results = new GetManyResult[keys.Length];
        long start = Stopwatch.GetTimestamp();
        int found = collection.GetMany(names, _buffer, results);
        long end = Stopwatch.GetTimestamp();
        for (int i = 0; i < found; i++)
        {
            if (results[i].IsHit)
            {
                long number = TestValue.Check(_buffer.AsSpan(results[i].Offset, results[i].Info.ValueBytes), keys[i]);
                _journal.Add(keys[i], Effect.Read, number, start, end);
            }
        }
    }

    // Performs operations that must succeed for every content of the store.
    private void LookAround()
    {
        Span<ulong> hashes = stackalloc ulong[16];
        int partition = _random.Next(_cursors.Length);
        _store.ReadInvalidations(partition, ref _cursors[partition], hashes, out _);
        if (_random.Next(20) == 0)
        {
            var cursor = default(ScanCursor);
            _store.DefaultCollection.Scan(ref cursor, null, (key, _) =>
            {
                if (key[0] is not ((byte)'k' or (byte)'f'))
                {
                    throw new TornValueException("A scan found a key that no process wrote.");
                }
            });
            _store.GetStatistics();
        }
    }

    private void Fill() => _store.DefaultCollection.Set($"filler:{_filler++}", _buffer.AsSpan(0, Math.Min(Length(), 3_000)));

    private void Clear()
    {
        CairnCollection collection = _keys.Collections[_random.Next(_keys.Collections.Count)];
        long start = Stopwatch.GetTimestamp();
        bool isCleared = collection.Clear();
        long end = Stopwatch.GetTimestamp();
        foreach (int key in isCleared ? _keys.KeysOf(collection) : [])
        {
            _journal.Add(key, Effect.Removed, 0, start, end);
        }
    }
}
