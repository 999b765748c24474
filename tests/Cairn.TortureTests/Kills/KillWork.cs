using System.Globalization;

namespace Cairn.TortureTests.Kills;

/// <summary>How long the values of a run are: most short, some long.</summary>
/// <param name="ShortBytes">The longest of the short ones.</param>
/// <param name="LeastLongBytes">The shortest of the long ones.</param>
/// <param name="MostLongBytes">The longest of all.</param>
/// <param name="LongPerMille">How many of a thousand values are long.</param>
internal sealed record KillSizes(int ShortBytes, int LeastLongBytes, int MostLongBytes, int LongPerMille)
{
    /// <summary>For stores of a MiB or two: the long ones take a run of segments.</summary>
    public static KillSizes Runs { get; } = new(2_000, 17_000, 120_000, 20);

    /// <summary>For a store whose segments hold 128 KiB: the long ones take a gap in a segment.</summary>
    public static KillSizes Gaps { get; } = new(2_000, 66_000, 120_000, 300);

    public int Choose(Random random) => random.Next(1000) < LongPerMille
        ? random.Next(LeastLongBytes, MostLongBytes)
        : random.Next(KillValue.LeastBytes, ShortBytes);
}

/// <summary>
/// One process's part of a run. It alone writes its own keys, the last of which are a collection that it clears now and then, and those before a
/// collection whose entries are kept; it reads everybody's, and judges what it reads, and what it does not find, by the journal.
/// </summary>
internal sealed class KillWork
{
    public const int KeysPerWorker = 1_500;
    private const int ClearedKeysPerWorker = 100;
    private const int KeptKeysPerWorker = 40;
    private const int LongKeptPerMille = 5; // So that what is kept leaves room for others.

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

    /// <summary>Why the last set stored nothing; empty if it did.</summary>
    public string Refusal { get; private set; } = "";

    /// <summary>One operation of the mixture that reaches every step of the protocols of reading and writing.</summary>
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

    /// <summary>Reads a key of anybody.</summary>
    public void ReadNext() => Read(_random.Next(_journal.Keys));

    /// <summary>Sets a key to a new value.</summary>
    /// <returns>False if it was refused, though it is short.</returns>
    public bool Set(int key)
    {
        long sequence = _journal.Begin(key);
        byte[] value = NewValue(key, sequence, out Expiration expiration);
        try
        {
            bool isStored = CollectionOf(key).Set(NameOf(key), value, expiration);

            // Also if it was not stored: the earlier value is gone then.
            Acknowledge(key, sequence, expiration);
            Refusal = isStored ? "" : $"{value.Length} bytes under key {key} of the cache had no room, or not the lock in time";
            return isStored || MayBeRefused(value);
        }
        catch (Exception refusal) when (IsKept(key) && refusal is StoreFullException or StoreBusyException)
        {
            Refusal = $"{value.Length} bytes under key {key}, which is kept: {refusal.GetType().Name}: {refusal.Message}";
            return refusal is StoreFullException && MayBeRefused(value); // And nothing has changed.
        }
    }

    // A long value needs segments side by side. Others may take them at the same time, or keep what they have there.
    private bool MayBeRefused(byte[] value) => value.Length > _sizes.ShortBytes;

    /// <summary>Reads a key. Returns the sequence of the write whose value it holds, or 0.</summary>
    /// <exception cref="InvalidDataException">The value is wrong, torn, stale, came back, or is past its time.</exception>
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
        key % KeysPerWorker >= KeysPerWorker - ClearedKeysPerWorker ? _cleared[key / KeysPerWorker] : IsKept(key) ? _kept : _store;

    private static bool IsKept(int key) =>
        key % KeysPerWorker is < KeysPerWorker - ClearedKeysPerWorker and >= KeysPerWorker - ClearedKeysPerWorker - KeptKeysPerWorker;

    // The few kept keys are written as often as each fourth of the others together.
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
            // And nothing has changed.
        }
    }

    // Each replaces the value or leaves everything as it is.
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
            // And nothing has changed.
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
                return; // Given back.
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
                // And nothing has changed.
            }
        }
    }

    // Values with a deadline say so themselves, so it must not be moved.
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
                // And nothing has changed.
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
