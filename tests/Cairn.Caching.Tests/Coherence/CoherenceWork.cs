using System.Runtime.InteropServices;
using Cairn.Caching.Coherence;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>One thread of several processes that change, fill and hit a few keys at random.</summary>
internal sealed class CoherenceWork(
    CairnStore store, ICoherence coherence, HeldValues held, SharedNumbers numbers, int writer, int writers)
{
    public const int Keys = 24;

    private readonly string[] _keys = [.. Enumerable.Range(0, Keys).Select(i => $"key:{i}")];

    public long Hits { get; private set; }

    public long Kept { get; private set; }

    public string? Fault { get; private set; }

    public void Run(int seed, long operations)
    {
        var random = new Random(seed);
        for (long i = 0; i < operations && Fault is null; i++)
        {
            int key = random.Next(Keys);
            if (key % writers == writer && random.Next(8) == 0)
            {
                Change(key, random);
            }
            else
            {
                Read(key);
            }
        }
    }

    private void Change(int key, Random random)
    {
        long number = Volatile.Read(ref numbers.Truth(key)) + 1;
        Volatile.Write(ref numbers.Truth(key), number);
        if (random.Next(2) == 0)
        {
            store.DefaultCollection.Remove(_keys[key]);
        }
        else
        {
            store.DefaultCollection.Set(_keys[key], BitConverter.GetBytes(number));
        }

        Volatile.Write(ref numbers.Acknowledged(key), number);
        if (random.Next(500) == 0)
        {
            store.Collection("another").Clear(); // Causes an overrun.
        }
    }

    private void Read(int key)
    {
        ulong hash = store.DefaultCollection.HashOf(_keys[key]);
        long acknowledged = Volatile.Read(ref numbers.Acknowledged(key));
        if (!coherence.TryCatchUp(hash))
        {
            Fault = "The store was closed.";
        }
        else if (!held.TryFind(hash, out long found))
        {
            Fill(key, hash);
        }
        else
        {
            Hits++;
            Fault = found < acknowledged ? $"{_keys[key]} was {found} after {acknowledged} had been acknowledged." : null;
        }
    }

    private void Fill(int key, ulong hash)
    {
        ChangeMark mark = coherence.Mark(hash);
        long value = 0;
        int own = 0;
        if (!store.DefaultCollection.TryGet(_keys[key], MemoryMarshal.AsBytes(new Span<long>(ref value)), out int _))
        {
            store.DefaultCollection.AcquireLease(_keys[key], TimeSpan.Zero, out StoreLease? lease);
            if (lease is null)
            {
                return;
            }

            value = Volatile.Read(ref numbers.Truth(key));
            own = lease.TrySet(BitConverter.GetBytes(value)) ? 1 : 0;
            lease.Dispose();
        }

        if (coherence.TryKeep(mark, hash, own, (held, hash, value), static state =>
            {
                state.held.Keep(state.hash, state.value);
                return true;
            }))
        {
            Kept++;
        }
    }
}
