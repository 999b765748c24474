using System.Buffers;
using System.Globalization;
using System.Text;
using Cairn.Engine;

namespace Cairn.TortureTests.Reference;

/// <summary>
/// Performs random operations on one thread on a store and on a dictionary with deadlines. A cache may lose any entry at any moment. In that case the
/// dictionary removes it too, and it must not come back. A kept entry must not be lost, but a write can fail for lack of room. No other difference
/// is allowed.
/// </summary>
internal sealed class ReferenceRun : IDisposable
{
    private const int Keys = 24;
    private const int Operations = 250;

    // For a store of one MiB with a segment for each log of each partition. Values longer than a segment need adjacent segments.
    private const int RoomBytes = 350_000;
    private const int LongestInSegment = 3_000;

    private readonly StoreDirectory _directory;
    private readonly Random _random;
    private readonly ManualClock _clock = new();
    private readonly StoreOptions _options;
    private readonly List<string> _log = [];
    private readonly Dictionary<(int Collection, string Key), ReferenceEntry> _entries = [];
    private readonly Dictionary<(int Collection, string Key), ulong> _lastVersions = [];
    private readonly List<(StoreLease Lease, (int Collection, string Key) Id)> _leases = [];
    private readonly HashSet<StoreLease> _cancelled = [];

    // Keys whose value a lease may have carried over since it was written.
    private readonly HashSet<(int Collection, string Key)> _hasCarried = [];
    private readonly string[] _names;
    private readonly byte[] _buffer;
    private readonly bool _isKept;
    private long _latest;
    private CairnStore _store;
    private CairnCollection[] _collections;

    /// <summary>Prepares a run.</summary>
    /// <param name="directory">The directory of the store.</param>
    /// <param name="file">The name of the store's file.</param>
    /// <param name="buffer">A buffer with room for several of the longest values.</param>
    /// <param name="seed">The seed of the random operations.</param>
    /// <param name="encryption">The encryption of the store.</param>
    /// <param name="isKept">Whether the run works on a kept collection. The store also has one that evicts.</param>
    public ReferenceRun(
        StoreDirectory directory, string file, byte[] buffer, int seed, StoreEncryption? encryption = null, bool isKept = false)
    {
        _isKept = isKept;
        _buffer = buffer;
        _directory = directory;
        _random = new Random(seed);
        _options = new StoreOptions
        {
            Path = _directory[file],
            CapacityBytes = StoreLimits.MinCapacityBytes,
            AverageEntryBytes = _random.Next(2) == 0 ? 128 : 2048,
            FlushOnClose = _random.Next(4) == 0,
            RemovesExpired = false, // Only the run itself sweeps, so that a seed repeats it.
            TimeProvider = _clock,
            Encryption = encryption,
        };
        _names = [.. Enumerable.Range(0, Keys).Select(i => i switch
        {
            0 => new string('k', 5_000), // Longer than a segment.
            1 => "ключ",
            _ => $"key {i}",
        })];
        _store = CairnStore.Open(_options);
        _collections = CollectionsOf(_store);
    }

    private long Now => _clock.Now.ToUnixTimeMilliseconds();

    public void Dispose()
    {
        _leases.ForEach(held => held.Lease.Dispose());
        _store.Dispose();
        File.Delete(_options.Path);
    }

    /// <summary>Runs all operations. If it finds a difference, it throws with the last operations and the command that repeats them.</summary>
    public void Run(string replay)
    {
        try
        {
            for (int i = 0; i < Operations; i++)
            {
                _latest = Math.Max(_latest, Now);
                try
                {
                    Step();
                }
                catch (StoreFullException full) when (_isKept)
                {
                    Log($"full: {full.Message}"); // A refused write changes nothing.
                }
            }

            StoreAudit.Check(_store);
        }
        catch (Exception fault)
        {
            throw new InvalidOperationException($"The last operations:\n{string.Join('\n', _log.TakeLast(25))}\nAgain: {replay}", fault);
        }
    }

    private CairnCollection[] CollectionsOf(CairnStore store) =>
    [
        store.DefaultCollection,
        _isKept
            ? store.Collection("kept", new CollectionOptions { Region = StoreRegion.Keep, Durability = Durability.ProcessCrash })
            : store.Collection("other"),
    ];

    private void Step()
    {
        var id = (Collection: _isKept || _random.Next(3) == 0 ? 1 : 0, Key: _names[_random.Next(Keys)]);
        CairnCollection target = _collections[id.Collection];
        switch (_random.Next(100))
        {
            case < 18:
                Set(target, id);
                break;
            case < 22:
                Add(target, id);
                break;
            case < 26:
                Replace(target, id);
                break;
            case < 31:
                CompareAndSwap(target, id);
                break;
            case < 37:
                Join(target, id);
                break;
            case < 42:
                Increment(target, id);
                break;
            case < 46:
                Touch(target, id);
                break;
            case < 51:
                Remove(target, id);
                break;
            case < 66:
                Get(target, id);
                break;
            case < 70:
                Info(target, id);
                break;
            case < 73:
                Stale(target, id);
                break;
            case < 76:
                GetAndTouch(target, id);
                break;
            case < 82:
                Lease(target, id);
                break;
            case < 84:
                GetMany(target, id.Collection);
                break;
            case < 86:
                SetMany(target, id.Collection);
                break;
            case < 87:
                List(target, id.Collection);
                break;
            case < 88:
                Clear(target, id.Collection);
                break;
            case < 93:
                AdvanceClock();
                break;
            case < 94:
                OpenAgain();
                break;
            case < 97:
                Sweep();
                break;
            default:
                Fill();
                break;
        }
    }

    // ---- Writing ----

    private void Set(CairnCollection target, (int, string) id)
    {
        byte[] value = Value();
        uint flags = Flags();
        Expiration expiration = Choose(out long deadline, out long slidingMs);
        bool isStream = _random.Next(5) == 0;
        Log($"set {Describe(id)} {value.Length} bytes, until {deadline}, sliding {slidingMs}, stream {isStream}");

        bool isStored;
        try
        {
            isStored = isStream
                ? target.Set(id.Item2, new MemoryStream(value), value.Length, expiration, flags)
                : target.Set(id.Item2, value, expiration, flags);
        }
        catch (StoreFullException) when (_isKept && value.Length + id.Item2.Length <= LongestInSegment)
        {
            Expect(_entries.Sum(entry => entry.Value.Value.Length + entry.Key.Key.Length) > RoomBytes, "there is room");
            throw;
        }

        Expect(isStored, "nothing is pinned, so a set is stored");
        Put(id, value, flags, deadline, slidingMs);
    }

    private void Add(CairnCollection target, (int, string) id)
    {
        byte[] value = Value();
        Expiration expiration = Choose(out long deadline, out long slidingMs);
        WriteStatus status = target.Add(id.Item2, value, expiration);
        Log($"add {Describe(id)} {value.Length} bytes, until {deadline}, sliding {slidingMs}: {status}");
        if (status == WriteStatus.Exists)
        {
            Expect(IsLive(id), "only a value can be in the way");
            return;
        }

        Expect(status == WriteStatus.Stored, "else it is stored");
        Put(id, value, 0, deadline, slidingMs);
    }

    private void Replace(CairnCollection target, (int, string) id)
    {
        byte[] value = Value();
        Expiration expiration = Choose(out long deadline, out long slidingMs);
        WriteStatus status = target.Replace(id.Item2, value, expiration);
        Log($"replace {Describe(id)} {value.Length} bytes, until {deadline}, sliding {slidingMs}: {status}");
        if (ExpectFound(id, status))
        {
            Put(id, value, 0, deadline, slidingMs);
        }
    }

    private void CompareAndSwap(CairnCollection target, (int, string) id)
    {
        ulong version = _lastVersions.GetValueOrDefault(id) + (ulong)_random.Next(2);
        byte[] value = Value();
        bool isRemoval = _random.Next(3) == 0;
        WriteStatus status = isRemoval
            ? target.CompareAndRemove(id.Item2, version)
            : target.CompareAndSwap(id.Item2, value, version);
        Log($"{(isRemoval ? "remove" : "swap")} {Describe(id)} at {version}: {status}");
        if (status == WriteStatus.VersionMismatch)
        {
            Expect(
                IsLive(id) && (_entries[id].Version == 0 || _entries[id].IsPerhapsRewritten || _entries[id].Version != version),
                "the version is the one that was seen");
            return;
        }

        bool hadVersion = _entries.TryGetValue(id, out ReferenceEntry? old) && old.Version == version;
        if (!ExpectFound(id, status))
        {
            return;
        }

        Expect(
            hadVersion || ((old!.Version == 0 || old.IsPerhapsRewritten) && version > _lastVersions.GetValueOrDefault(id)),
            "the version is not the one that was seen");
        if (isRemoval)
        {
            Forget(id);
        }
        else
        {
            Put(id, value, 0, ReferenceEntry.Never, 0);
        }
    }

    private void Join(CairnCollection target, (int, string) id)
    {
        byte[] addition = TestBytes.Of(_random.Next(4) == 0 ? _random.Next(9_000) : _random.Next(50), _random.Next());
        bool isPrefix = _random.Next(2) == 0;
        WriteStatus status = isPrefix ? target.Prepend(id.Item2, addition) : target.Append(id.Item2, addition);
        Log($"{(isPrefix ? "prepend" : "append")} {Describe(id)} {addition.Length} bytes: {status}");
        if (status == WriteStatus.TooLarge)
        {
            Expect(IsLive(id) && _entries[id].Value.Length + addition.Length > _store.MaxValueBytes, "it is not too large");
            return;
        }

        if (ExpectFound(id, status))
        {
            ReferenceEntry old = _entries[id];
            Rewrite(id, old, isPrefix ? [.. addition, .. old.Value] : [.. old.Value, .. addition]);
        }
    }

    private void Increment(CairnCollection target, (int, string) id)
    {
        long delta = _random.Next(-5, 6);
        long? initial = _random.Next(2) == 0 ? _log.Count * 1_000_000L : null; // Differs from every sum of other numbers.
        WriteStatus status;
        long value;
        try
        {
            status = target.Increment(id.Item2, delta, out value, initial);
        }
        catch (StoreFullException) when (_isKept)
        {
            if (IsLive(id))
            {
                _entries[id].Slide(Now); // The operation reads the entry.
            }

            throw;
        }

        Log($"increment {Describe(id)} by {delta}, from {initial}: {status} {value}");
        bool wasLive = IsLive(id);
        long number = 0;

        // The framework's parser ignores trailing zero bytes, but here they are not part of a number.
        bool isNumber = wasLive && !_entries[id].Value.AsSpan().EndsWith((byte)0) && long.TryParse(
            Encoding.UTF8.GetString(_entries[id].Value), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out number);
        if (wasLive && _entries[id].Value.Length <= 20)
        {
            _entries[id].Slide(Now); // The operation reads the entry.
        }

        switch (status)
        {
            case WriteStatus.NotFound:
                Expect(initial is null, "there is an initial value");
                LoseIfLive(id);
                break;
            case WriteStatus.NotANumber:
                Expect(wasLive && !isNumber, "it is a number");
                break;
            case WriteStatus.Stored when isNumber && value == number + delta:
                Rewrite(id, _entries[id], Encoding.UTF8.GetBytes(value.ToString(CultureInfo.InvariantCulture)));
                break;
            default:
                Expect(status == WriteStatus.Stored && value == initial, "it is the sum, or the initial value if there was none");
                Put(id, Encoding.UTF8.GetBytes(value.ToString(CultureInfo.InvariantCulture)), 0, ReferenceEntry.Never, 0);
                break;
        }
    }

    private void Touch(CairnCollection target, (int, string) id)
    {
        Expiration expiration = Choose(out long deadline, out long slidingMs);
        WriteStatus status = target.Touch(id.Item2, expiration);
        Log($"touch {Describe(id)} until {deadline}, sliding {slidingMs}: {status}");
        if (ExpectFound(id, status))
        {
            ReferenceEntry old = _entries[id];
            Put(id, old.Value, old.Flags, deadline, slidingMs);
        }
    }

    private void Remove(CairnCollection target, (int, string) id)
    {
        bool isRemoved = target.Remove(id.Item2);
        Log($"remove {Describe(id)}: {isRemoved}");
        Expect(!isRemoved || IsLive(id), "there was nothing to remove");
        Forget(id);
    }

    private void Lease(CairnCollection target, (int, string) id)
    {
        if (_leases.Count > 0 && _random.Next(2) == 0)
        {
            UseLease();
            return;
        }

        LeaseStatus status = target.AcquireLease(id.Item2, TimeSpan.Zero, out StoreLease? lease);
        Log($"lease {Describe(id)}: {status}");
        switch (status)
        {
            case LeaseStatus.Hit:
                Expect(IsLive(id), "there is no value");
                break;
            case LeaseStatus.Held:
                // A value that had expired, and was cleaned up or was too long for the lease to carry, does not return when the clock goes back.
                Expect(!IsLive(id) || _entries[id].EffectiveDeadline <= _latest, "there is a value");
                LoseIfLive(id);
                Expect(_leases.Exists(held => held.Id == id && !_cancelled.Contains(held.Lease)), "no caller holds it");
                break;
            case LeaseStatus.Acquired:
                _hasCarried.Add(id);
                _leases.ForEach(held => CancelIf(held.Id == id, held.Lease)); // The lease has expired, or its marker was evicted.
                _leases.Add((lease!, id));
                if (IsLive(id))
                {
                    LoseIfLive(id); // The entry was evicted.
                }
                else if (_entries.TryGetValue(id, out ReferenceEntry? expired))
                {
                    expired.Version = 0; // The lease carries the value as an entry of its own, which becomes valid again if the clock goes back.
                }

                break;
            default:
                Expect(_isKept || id.Item2.Length > 4000, "nothing is pinned, so there is room for a lease");
                break;
        }
    }

    private void UseLease()
    {
        int index = _random.Next(_leases.Count);
        (StoreLease lease, (int Collection, string Key) id) = _leases[index];
        _leases.RemoveAt(index);
        byte[] value = Value();
        bool isSet = _random.Next(4) != 0 && TrySet(lease, value);
        Log($"use the lease of {Describe(id)}: {isSet}");
        if (isSet)
        {
            Expect(!_cancelled.Contains(lease), "the lease was cancelled");
            Put(id, value, 0, ReferenceEntry.Never, 0);
        }
        else if (_entries.TryGetValue(id, out ReferenceEntry? carried))
        {
            carried.IsPerhapsRewritten = true; // Rewritten without the lease, if the lease still carried the value.
        }

        lease.Dispose();
        Expect(!lease.IsHeld, "a lease that was given back is not held");
    }

    private bool TrySet(StoreLease lease, byte[] value)
    {
        try
        {
            return lease.TrySet(value);
        }
        catch (StoreFullException) when (_isKept)
        {
            return false;
        }
    }

    private void SetMany(CairnCollection target, int collection)
    {
        // A single item if entries are kept, so that the call cannot fail halfway for lack of room.
        StoreItem[] items =
        [
            .. Enumerable.Range(0, _isKept ? 1 : _random.Next(1, 12))
                .Select(_ => new StoreItem(Encoding.UTF8.GetBytes(_names[_random.Next(Keys)]), Value())),
        ];
        int stored = target.SetMany(items);
        Log($"set {items.Length} of {collection}: {stored}");
        Expect(stored == items.Length, "nothing is pinned, so all are stored");
        foreach (StoreItem item in items)
        {
            Put((collection, Encoding.UTF8.GetString(item.Key.Span)), item.Value.ToArray(), 0, ReferenceEntry.Never, 0);
        }
    }

    private void Clear(CairnCollection target, int collection)
    {
        Log($"clear {collection}");
        Expect(target.Clear(), "no process holds a lock");
        foreach ((int, string) id in _entries.Keys.Where(id => id.Collection == collection).ToList())
        {
            _entries.Remove(id);
        }

        _leases.ForEach(held => CancelIf(held.Id.Collection == collection, held.Lease));
    }

    private void Fill()
    {
        int count = _random.Next(30);
        Log($"fill {count}");
        for (int i = 0; i < count; i++)
        {
            bool isStored = _store.DefaultCollection.Set($"filler {_random.Next(10_000)}", new byte[_random.Next(4_000)]);
            Expect(isStored || _isKept, "nothing is pinned, so a set is stored");
        }
    }

    // ---- Reading ----

    private void Get(CairnCollection target, (int, string) id)
    {
        byte[]? found;
        EntryInfo info = default;
        switch (_random.Next(4))
        {
            case 0:
                found = target.Get(id.Item2);
                break;
            case 1:
                var writer = new ArrayBufferWriter<byte>();
                found = target.TryGet(id.Item2, writer, out info) ? writer.WrittenSpan.ToArray() : null;
                break;
            case 2:
                found = null;
                target.Read(id.Item2, 0, (value, _, _) => found = value.ToArray());
                break;
            default:
                found = target.TryPin(id.Item2, out PinnedValue? pinned) ? pinned.Value.ToArray() : null;
                info = pinned?.Info ?? default;
                pinned?.Dispose();
                break;
        }

        Log($"get {Describe(id)}: {(found is null ? "miss" : $"{found.Length} bytes")}");
        ExpectValue(id, found, info);
    }

    private void Info(CairnCollection target, (int, string) id)
    {
        bool isFound = target.TryGetInfo(id.Item2, out EntryInfo info);
        Log($"info {Describe(id)}: {isFound}");
        Expect(isFound == target.Contains(id.Item2), "it contains what it has information of");
        if (!isFound)
        {
            LoseIfLive(id);
            return;
        }

        Expect(IsLive(id), "there is no value");
        ReferenceEntry entry = _entries[id];
        Expect(info.ValueBytes == entry.Value.Length, "it has another length");
        ExpectInfo(entry, info);
        Seen(id, entry, info.Version);
    }

    private void Stale(CairnCollection target, (int, string) id)
    {
        Span<byte> buffer = _buffer;
        bool isFound = target.TryGetStale(id.Item2, buffer, out EntryInfo info);
        Log($"stale {Describe(id)}: {isFound}");
        if (!isFound)
        {
            _entries.Remove(id);
            return;
        }

        Expect(_entries.TryGetValue(id, out ReferenceEntry? entry), "there was no value since it was removed");
        Expect(buffer[..info.ValueBytes].SequenceEqual(entry!.Value), "it is another value");
        ExpectInfo(entry, info);
        if (entry.IsLive(Now))
        {
            entry.Slide(Now);
        }
    }

    private void GetAndTouch(CairnCollection target, (int, string) id)
    {
        Expiration expiration = Choose(out long deadline, out long slidingMs);
        Span<byte> buffer = _buffer.AsSpan(0, _random.Next(2) == 0 ? _store.MaxValueBytes : _random.Next(100));
        bool isFound;
        EntryInfo info;
        try
        {
            isFound = target.TryGetAndTouch(id.Item2, expiration, buffer, out info);
        }
        catch (StoreFullException) when (_isKept)
        {
            if (IsLive(id) && buffer.Length >= _entries[id].Value.Length)
            {
                _entries[id].Slide(Now); // The operation reads the entry.
            }

            throw;
        }

        Log($"get {Describe(id)} and touch until {deadline}, sliding {slidingMs}: {isFound} {info.ValueBytes} bytes");
        if (info.Version == 0)
        {
            LoseIfLive(id);
            return;
        }

        Expect(IsLive(id), "there is no value");
        ReferenceEntry entry = _entries[id];
        Expect(isFound == buffer.Length >= entry.Value.Length, "it is found if it fits");
        Expect(!isFound || buffer[..info.ValueBytes].SequenceEqual(entry.Value), "it is another value");
        Put(id, entry.Value, entry.Flags, deadline, slidingMs);
    }

    private void GetMany(CairnCollection target, int collection)
    {
        string[] names = [.. Enumerable.Range(0, _random.Next(1, 30)).Select(_ => _names[_random.Next(Keys)])];
        ReadOnlyMemory<byte>[] keys = [.. names.Select(name => (ReadOnlyMemory<byte>)Encoding.UTF8.GetBytes(name))];
        Span<byte> buffer = _buffer.AsSpan(0, _random.Next(4) == 0 ? 2_000 : _buffer.Length);
        var results = new GetManyResult[keys.Length];
        int count = target.GetMany(keys, buffer, results);
        Log($"get {keys.Length} of {collection}: {count}");
        for (int i = 0; i < count; i++)
        {
            byte[]? found = results[i].IsHit ? buffer.Slice(results[i].Offset, results[i].Info.ValueBytes).ToArray() : null;
            ExpectValue((collection, names[i]), found, results[i].Info);
        }

        Expect(count == keys.Length || IsLive((collection, names[count])), "it stops only at a value");
    }

    private void List(CairnCollection target, int collection)
    {
        string[] listed = [.. target.Entries(KeyFilter.Glob("k*")).Select(entry => entry.KeyText).Order(StringComparer.Ordinal)];
        Log($"list {collection}: {listed.Length}");
        Expect(listed.SequenceEqual(listed.Distinct(StringComparer.Ordinal)), "a key is listed once");
        foreach (string name in listed)
        {
            Expect(IsLive((collection, name)), "there is no such key");
        }

        foreach ((int, string) id in _entries.Keys.Where(id => id.Collection == collection && id.Key[0] == 'k').ToList())
        {
            if (!listed.Contains(id.Item2, StringComparer.Ordinal))
            {
                LoseIfLive(id);
            }
        }
    }

    // ---- Time ----

    private void AdvanceClock()
    {
        TimeSpan time = _random.Next(10) == 0
            ? TimeSpan.FromMilliseconds(-_random.Next(3_000))
            : TimeSpan.FromMilliseconds(_random.Next(_random.Next(2) == 0 ? 40_000 : 1_000));
        _clock.Advance(time);
        Log($"the clock moves by {time}");
    }

    // Removes everything that has expired, except for values that a lease carries.
    private void Sweep()
    {
        _store.Engine.SweepIntervalSeconds = 0;
        SweepTurn turn = _store.SweepExpired();
        Log($"sweep: {turn}");
        if (!turn.IsComplete)
        {
            return; // The last sweep requested a pause.
        }

        foreach (((int Collection, string Key) id, ReferenceEntry entry) in _entries.ToArray())
        {
            if (!entry.IsLive(Now) && !_leases.Exists(held => held.Id == id))
            {
                Span<byte> buffer = _buffer;
                bool isThere = _collections[id.Collection].TryGetStale(id.Key, buffer, out _);
                Expect(!isThere || _hasCarried.Contains(id), $"{Describe(id)} has been swept");
                if (!isThere)
                {
                    _entries.Remove(id);
                }
            }
        }
    }

    private void OpenAgain()
    {
        bool isSecond = _random.Next(2) == 0;
        Log(isSecond ? "open again" : "close and open again");
        CairnStore before = _store;
        if (isSecond)
        {
            _store = CairnStore.Open(_options);
            before.Dispose();
        }
        else
        {
            before.Dispose();
            _store = CairnStore.Open(_options);
        }

        // Leases end when their store closes.
        _leases.Clear();
        _collections = CollectionsOf(_store);
    }

    // ---- The reference ----

    private void Put((int, string) id, byte[] value, uint flags, long deadline, long slidingMs)
    {
        Forget(id);
        _hasCarried.Remove(id);
        var entry = new ReferenceEntry { Value = value, Flags = flags };
        entry.Expire(deadline, slidingMs, Now);
        if (entry.IsLive(Now))
        {
            _entries[id] = entry;
        }
    }

    private void Rewrite((int, string) id, ReferenceEntry old, byte[] value)
    {
        Forget(id);
        var entry = new ReferenceEntry { Value = value, Flags = old.Flags };
        entry.ExpireLike(old);
        _entries[id] = entry;
    }

    private void Forget((int, string) id)
    {
        _entries.Remove(id);
        _leases.ForEach(held => CancelIf(held.Id == id, held.Lease));
    }

    private void CancelIf(bool isCancelled, StoreLease lease)
    {
        if (isCancelled)
        {
            _cancelled.Add(lease);
        }
    }

    private bool IsLive((int, string) id) => _entries.TryGetValue(id, out ReferenceEntry? entry) && entry.IsLive(Now);

    // Handles a miss although the model has a value: the entry was evicted and must not come back. A kept entry may be missing only if it had expired
    // before the clock went back.
    private void LoseIfLive((int, string) id)
    {
        if (IsLive(id))
        {
            Expect(!_isKept || _entries[id].EffectiveDeadline <= _latest, "it is kept");
            _entries.Remove(id);
        }
    }

    private bool ExpectFound((int, string) id, WriteStatus status)
    {
        if (status == WriteStatus.NotFound)
        {
            LoseIfLive(id);
            return false;
        }

        Expect(status == WriteStatus.Stored, "it is stored or not found");
        Expect(IsLive(id), "there is no value");
        return true;
    }

    private void ExpectValue((int, string) id, byte[]? found, EntryInfo info)
    {
        if (found is null)
        {
            LoseIfLive(id);
            return;
        }

        Expect(IsLive(id), "there is no value");
        ReferenceEntry entry = _entries[id];
        Expect(found.AsSpan().SequenceEqual(entry.Value), "it is another value");
        if (info.Version != 0)
        {
            ExpectInfo(entry, info);
            Seen(id, entry, info.Version);
        }

        entry.Slide(Now);
    }

    private void ExpectInfo(ReferenceEntry entry, EntryInfo info)
    {
        Expect(info.Flags == entry.Flags, "it has other flags");
        long deadline = info.ExpiresAt?.ToUnixTimeMilliseconds() ?? ReferenceEntry.Never;
        Expect(deadline == entry.EffectiveDeadline, $"it expires at {deadline}, not {entry.EffectiveDeadline}");
        Expect((info.SlidingInterval?.TotalMilliseconds ?? 0) == entry.SlidingMs, "it slides by another interval");
        Expect(info.Type == EntryType.Value, "it is no value");
    }

    // Versions grow with every write and do not change between writes.
    private void Seen((int, string) id, ReferenceEntry entry, ulong version)
    {
        ulong last = _lastVersions.GetValueOrDefault(id);
        bool isExpected = entry.Version == 0 || entry.IsPerhapsRewritten ? version > last : version == entry.Version;
        Expect(isExpected || (entry.IsPerhapsRewritten && version == entry.Version), $"its version is {version} after {last}");
        entry.Version = version;
        entry.IsPerhapsRewritten = false;
        _lastVersions[id] = version;
    }

    private byte[] Value() => _random.Next(8) switch
    {
        0 => Encoding.UTF8.GetBytes($"{_random.Next(-100, 100)}"),
        1 => [],
        2 => TestBytes.Of(_random.Next(20_000), _random.Next()),
        3 when _random.Next(5) == 0 => TestBytes.Of(_random.Next(_store.MaxValueBytes + 1), _random.Next()),
        _ => TestBytes.Of(_random.Next(300), _random.Next()),
    };

    private uint Flags() => _random.Next(3) == 0 ? (uint)_random.Next() : 0;

    private Expiration Choose(out long deadline, out long slidingMs)
    {
        deadline = ReferenceEntry.Never;
        slidingMs = 0;
        long milliseconds = _random.Next(2) == 0 ? _random.Next(1, 2_000) : _random.Next(1, 100_000);
        switch (_random.Next(8))
        {
            case 0 or 1:
                deadline = Now + milliseconds;
                return TimeSpan.FromMilliseconds(milliseconds);
            case 2:
                deadline = Now + milliseconds - 200;
                return Expiration.At(DateTimeOffset.FromUnixTimeMilliseconds(deadline));
            case 3:
                slidingMs = milliseconds;
                return Expiration.Sliding(TimeSpan.FromMilliseconds(milliseconds));
            case 4:
                slidingMs = milliseconds;
                deadline = Now + _random.Next(100_000);
                return Expiration.Sliding(TimeSpan.FromMilliseconds(milliseconds), DateTimeOffset.FromUnixTimeMilliseconds(deadline));
            default:
                return _random.Next(2) == 0 ? default : Expiration.None;
        }
    }

    private void Log(string what) => _log.Add(string.Create(CultureInfo.InvariantCulture, $"{_log.Count,4} at {Now}: {what}"));

    private static string Describe((int Collection, string Key) id) =>
        $"{id.Collection}/{(id.Key.Length > 20 ? $"{id.Key[..4]}..." : id.Key)}";

    private static void Expect(bool isTrue, string rule)
    {
        if (!isTrue)
        {
            throw new InvalidOperationException($"This broke the rule: {rule}.");
        }
    }
}
