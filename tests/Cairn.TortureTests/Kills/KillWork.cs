using System.Globalization;

namespace Cairn.TortureTests.Kills;

/// <summary>The lengths of the values of a run: most are short, some are long.</summary>
/// <param name="ShortBytes">The maximum length of the short values, in bytes.</param>
/// <param name="LeastLongBytes">The minimum length of the long values, in bytes.</param>
/// <param name="MostLongBytes">The maximum length of the long values, in bytes.</param>
/// <param name="LongPerMille">The number of long values among a thousand.</param>
internal sealed record KillSizes(int ShortBytes, int LeastLongBytes, int MostLongBytes, int LongPerMille)
{
    /// <summary>Gets the sizes for stores of one or two MiB, where a long value takes a run of segments.</summary>
    public static KillSizes Runs { get; } = new(2_000, 17_000, 120_000, 20);

    /// <summary>Gets the sizes for a store with segments of 128 KiB, where a long value takes a gap in a segment.</summary>
    public static KillSizes Gaps { get; } = new(2_000, 66_000, 120_000, 300);

    public int Choose(Random random) => random.Next(1000) < LongPerMille
        ? random.Next(LeastLongBytes, MostLongBytes)
        : random.Next(KillValue.LeastBytes, ShortBytes);
}

/// <summary>
/// The part of one process in a run. Only this process writes its own keys. The last of these belong to a collection that it clears now and
/// then, and those before them to a kept collection. It reads the keys of all processes, and checks its hits and misses against the journal.
/// </summary>
internal sealed class KillWork
{
    public const int KeysPerWorker = 1_500;
    private const int ClearedKeysPerWorker = 100;
    private const int KeptKeysPerWorker = 40;
    private const int LongKeptPerMille = 5; // Few, so that kept values leave room for others.

    private readonly CairnStore _store;
    private readonly CairnCollection[] _cleared;
    private readonly CairnCollection _kept;
    private readonly KillJournal _journal;
    private readonly Random _random;
    private readonly KillSizes _sizes;
    private readonly int _firstKey;
    private readonly int _worker;

    public KillWork(CairnStore store, KillJournal journal, int worker, Random random, KillSizes sizes)
    {
        _store = store;
        _store.Engine.SweepIntervalSeconds = 0;
        _journal = journal;
        _worker = worker;
        _firstKey = worker * KeysPerWorker;
        _random = random;
        _sizes = sizes;
        _cleared = [.. Enumerable.Range(0, journal.Keys / KeysPerWorker).Select(w => store.Collection($"cleared by {w}"))];
        _kept = store.Collection(
            "kept", new CollectionOptions { Region = StoreRegion.Keep, Durability = Durability.ProcessCrash });
    }

    /// <summary>Gets the reason why the last set stored nothing. Empty if it stored the value.</summary>
    public string Refusal { get; private set; } = "";

    /// <summary>Performs one operation of a mixture that reaches every step of the read and write protocols.</summary>
    public void DoNext()
    {
        switch (_random.Next(100))
        {
            case < 45:
                Set(RandomOwnKey());
                break;
            case < 52:
                Remove(RandomOwnKey());
                break;
            case < 57:
                Conditional(RandomOwnKey());
                break;
            case < 61:
                Lease(RandomOwnKey());
                break;
            case < 63:
                Touch(RandomOwnKey());
                break;
            case 63 when _random.Next(20) == 0:
                Clear();
                break;
            case 64 or 65:
                _store.SweepExpired();
                break;
            default:
                ReadNext();
                break;
        }
    }

    /// <summary>Reads a random key of any process.</summary>
    public void ReadNext() => Read(_random.Next(_journal.Keys));

    /// <summary>Sets a key to a new value.</summary>
    /// <returns>False if a short value was refused.</returns>
    public bool Set(int key)
    {
        long sequence = _journal.Begin(key);
        byte[] value = NewValue(key, sequence, out Expiration expiration);
        try
        {
            bool isStored = CollectionOf(key).Set(NameOf(key), value, expiration);

            // Acknowledged even if the value was not stored, because the earlier value is gone in that case too.
            Acknowledge(key, sequence, expiration);
            Refusal = isStored ? "" : $"{value.Length} bytes under key {key} of the cache had no room, or not the lock in time";
            return isStored || MayBeRefused(value);
        }
        catch (Exception refusal) when (IsKept(key) && refusal is StoreFullException or StoreBusyException)
        {
            Refusal = $"{value.Length} bytes under key {key}, which is kept: {refusal.GetType().Name}: {refusal.Message}";
            return refusal is StoreFullException && MayBeRefused(value); // A refused write changes nothing.
        }
    }

    // A long value needs adjacent segments. Other processes can take them at the same time, or have kept entries in them.
    private bool MayBeRefused(byte[] value) => value.Length > _sizes.ShortBytes;

    /// <summary>Reads a key. Returns the sequence of the write whose value it holds, or 0.</summary>
    /// <exception cref="InvalidDataException">The value is wrong, torn, stale, resurrected, or past its deadline.</exception>
    public long Read(int key)
    {
        long floor = _journal.Floor(key);
        long kept = _journal.Kept(key);
        long now = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        CairnCollection collection = CollectionOf(key);
        string name = NameOf(key);
        string? fault = null;
        long sequence = 0;
        long deadline = KillValue.NoDeadline;
        bool isFound;
        switch (_random.Next(3))
        {
            case 0:
                byte[]? copy = collection.Get(name);
                isFound = copy is not null;
                fault = isFound ? KillValue.FaultOf(key, copy, out sequence, out deadline) : null;
                break;
            case 1:
                isFound = collection.TryPin(name, out PinnedValue? pinned);
                using (pinned)
                {
                    fault = isFound ? KillValue.FaultOf(key, pinned!.Value, out sequence, out deadline) : null;
                }

                break;
            default:
                isFound = collection.Read(name, 0, (value, _, _) => fault = KillValue.FaultOf(key, value, out sequence, out deadline));
                break;
        }

        long begun = _journal.Begun(key);
        if (!isFound)
        {
            return kept == 0 || _journal.Kept(key) != kept
                ? 0
                : throw new InvalidDataException($"Key {key}: the value of write {kept} is kept, and not there.");
        }

        fault ??= sequence < floor ? $"of write {sequence} came back: {floor} is the earliest that may be read"
            : sequence > begun ? $"of write {sequence} is not written yet: {begun} is the last that was begun"
            : deadline <= now ? $"of write {sequence} was read {now - deadline} ms after its expiry"
            : null;
        if (fault is not null)
        {
            throw new InvalidDataException($"Key {key}: the value {fault}.");
        }

        _journal.RaiseFloor(key, sequence);
        return sequence;
    }

    private static string NameOf(int key) => key.ToString("D6", CultureInfo.InvariantCulture);

    private CairnCollection CollectionOf(int key) =>
        key % KeysPerWorker >= KeysPerWorker - ClearedKeysPerWorker ? _cleared[key / KeysPerWorker] : IsKept(key) ? _kept : _store.DefaultCollection;

    private static bool IsKept(int key) =>
        key % KeysPerWorker is < KeysPerWorker - ClearedKeysPerWorker and >= KeysPerWorker - ClearedKeysPerWorker - KeptKeysPerWorker;

    // The kept keys are few. They are written a quarter as often as all other keys together.
    public int RandomOwnKey() => _firstKey + (_random.Next(5) == 0
        ? KeysPerWorker - ClearedKeysPerWorker - 1 - _random.Next(KeptKeysPerWorker)
        : _random.Next(KeysPerWorker));

    private void Acknowledge(int key, long sequence, Expiration expiration)
    {
        _journal.RaiseFloor(key, sequence);
        if (IsKept(key) && expiration.Kind == Expiration.ExpirationKind.None)
        {
            _journal.Keep(key, sequence);
        }
    }

    private byte[] NewValue(int key, long sequence, out Expiration expiration)
    {
        long deadline = KillValue.NoDeadline;
        expiration = Expiration.None;
        if (_random.Next(10) == 0)
        {
            _journal.Keep(key, 0);
            deadline = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() + _random.Next(5, 2_000);
            expiration = Expiration.At(DateTimeOffset.FromUnixTimeMilliseconds(deadline));
        }

        int length = IsKept(key) && _random.Next(1000) >= LongKeptPerMille
            ? _random.Next(KillValue.LeastBytes, _sizes.ShortBytes)
            : _sizes.Choose(_random);
        return KillValue.Encode(key, sequence, length, deadline);
    }

    private void Remove(int key)
    {
        _journal.Keep(key, 0);
        long sequence = _journal.Begin(key);
        try
        {
            CollectionOf(key).Remove(NameOf(key));
            _journal.RaiseFloor(key, sequence);
        }
        catch (StoreBusyException) when (IsKept(key))
        {
            // A refused write changes nothing.
        }
    }

    // Each of these operations replaces the value or changes nothing.
    private void Conditional(int key)
    {
        CairnCollection collection = CollectionOf(key);
        string name = NameOf(key);
        bool isPresent = collection.TryGetInfo(name, out EntryInfo info);
        long sequence = _journal.Begin(key);
        byte[] value = NewValue(key, sequence, out Expiration expiration);
        try
        {
            WriteStatus status = !isPresent ? collection.Add(name, value, expiration)
                : _random.Next(2) == 0 ? collection.CompareAndSwap(name, value, info.Version, expiration)
                : collection.Replace(name, value, expiration);
            if (status == WriteStatus.Stored)
            {
                Acknowledge(key, sequence, expiration);
            }
        }
        catch (StoreFullException) when (IsKept(key))
        {
            // A refused write changes nothing.
        }
    }

    private void Lease(int key)
    {
        if (CollectionOf(key).AcquireLease(NameOf(key), TimeSpan.Zero, out StoreLease? lease) != LeaseStatus.Acquired)
        {
            return;
        }

        using (lease)
        {
            if (_random.Next(4) == 0)
            {
                return; // The lease is released.
            }

            long sequence = _journal.Begin(key);
            byte[] value = NewValue(key, sequence, out Expiration expiration);
            try
            {
                if (lease!.TrySet(value, expiration))
                {
                    Acknowledge(key, sequence, expiration);
                }
            }
            catch (StoreFullException) when (IsKept(key))
            {
                // A refused write changes nothing.
            }
        }
    }

    // A value with a deadline contains the deadline, so the deadline must not be moved.
    private void Touch(int key)
    {
        CairnCollection collection = CollectionOf(key);
        if (collection.TryGetInfo(NameOf(key), out EntryInfo info) && info.ExpiresAt is null)
        {
            try
            {
                collection.Touch(NameOf(key), Expiration.None);
            }
            catch (StoreFullException) when (IsKept(key))
            {
                // A refused write changes nothing.
            }
        }
    }

    private void Clear()
    {
        int first = _firstKey + KeysPerWorker - ClearedKeysPerWorker;
        var sequences = new long[ClearedKeysPerWorker];
        for (int i = 0; i < sequences.Length; i++)
        {
            sequences[i] = _journal.Begin(first + i);
        }

        if (_cleared[_worker].Clear())
        {
            for (int i = 0; i < sequences.Length; i++)
            {
                _journal.RaiseFloor(first + i, sequences[i]);
            }
        }
    }
}
