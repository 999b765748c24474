using System.Buffers;
using System.Text;

namespace Cairn.TortureTests.Damage;

/// <summary>Reads keys by every read operation and checks the values.</summary>
internal sealed class DamageReader(CairnStore store, CairnCollection collection, TimeProvider clock, Random random)
{
    private readonly byte[] _buffer = new byte[512 * 1024];

    /// <summary>Gets whether pinned values stay unchanged. If another program writes into them, the reader reads but does not check them.</summary>
    public bool ArePinsSafe { get; init; } = true;

    /// <summary>Gets the action to call while a value is pinned.</summary>
    public required Action WhilePinned { get; init; }

    public CairnCollection CollectionOf(int key) => DamageValues.IsInCollection(key) ? collection : store.DefaultCollection;

    /// <summary>Reads a key by a random read operation.</summary>
    /// <exception cref="WrongValueException">The key has a value that was never written for it.</exception>
    public void Read(DamageValues values, int key)
    {
        CairnCollection owner = CollectionOf(key);
        string name = values.NameOf(key);
        long now = clock.GetUtcNow().ToUnixTimeMilliseconds();
        string? fault = null;
        switch (random.Next(8))
        {
            case 0:
                fault = owner.Get(name) is { } value ? values.FaultOf(key, value, now) : null;
                break;
            case 1:
                ReadPinned(owner, values, key, now);
                break;
            case 2:
                owner.Read(name, 0, (found, _, _) => fault = FaultOfPinned(values, key, found, now));
                break;
            case 3:
                fault = owner.TryGetStale(name, _buffer, out EntryInfo stale)
                    ? values.FaultOf(key, _buffer.AsSpan(0, stale.ValueBytes), long.MinValue)
                    : null;
                break;
            case 4:
                var writer = new ArrayBufferWriter<byte>();
                fault = owner.TryGet(name, writer) ? values.FaultOf(key, writer.WrittenSpan, now) : null;
                break;
            case 5:
                var peeked = new ArrayBufferWriter<byte>();
                fault = owner.TryPeek(name, peeked, out _) ? values.FaultOf(key, peeked.WrittenSpan, now) : null;
                break;
            case 6:
                ReadMany(owner, values, key, now);
                break;
            default:
                fault = owner.TryGet(name, _buffer, out int length) ? values.FaultOf(key, _buffer.AsSpan(0, length), now) : null;
                break;
        }

        WrongValueException.ThrowIf(fault, name);
    }

    // A pinned value must not change during other writes.
    private void ReadPinned(CairnCollection owner, DamageValues values, int key, long now)
    {
        string name = values.NameOf(key);
        if (!owner.TryPin(name, out PinnedValue? pinned))
        {
            return;
        }

        using (pinned)
        {
            WrongValueException.ThrowIf(FaultOfPinned(values, key, pinned.Value, now), name);
            WhilePinned();
            WrongValueException.ThrowIf(FaultOfPinned(values, key, pinned.Value, now), name);
        }
    }

    private string? FaultOfPinned(DamageValues values, int key, ReadOnlySpan<byte> value, long now) =>
        values.FaultOf(key, value, now) is { } fault && ArePinsSafe ? fault : null;

    private void ReadMany(CairnCollection owner, DamageValues values, int first, long now)
    {
        int[] keys = [.. Enumerable.Range(first, 20).Where(key => key < DamageValues.Keys && CollectionOf(key) == owner)];
        ReadOnlyMemory<byte>[] names = [.. keys.Select(key => (ReadOnlyMemory<byte>)Encoding.UTF8.GetBytes(values.NameOf(key)))];
        var results = new GetManyResult[keys.Length];
        int found = owner.GetMany(names, _buffer, results);
        for (int i = 0; i < found; i++)
        {
            if (results[i].IsHit)
            {
                string? fault = values.FaultOf(keys[i], _buffer.AsSpan(results[i].Offset, results[i].Info.ValueBytes), now);
                WrongValueException.ThrowIf(fault, values.NameOf(keys[i]));
            }
        }
    }
}

/// <summary>Thrown when a key has a value that was never written, or that was written for another key.</summary>
internal sealed class WrongValueException(string message) : Exception(message)
{
    public static void ThrowIf(string? fault, string name)
    {
        if (fault is not null)
        {
            throw new WrongValueException($"The value of '{name.TrimEnd('.')}' {fault}.");
        }
    }
}
