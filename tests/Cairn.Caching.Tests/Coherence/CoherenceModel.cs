using System.Runtime.InteropServices;
using Cairn.Caching.Coherence;

namespace Cairn.Caching.Tests.Coherence;

// One seeded run of changes, fills and hits. Each consists of steps, which run in a random order. Changes also happen inside the coherence's own
// steps: while it reads a ring, while it notifies the sink, and between its check for changes and the keeping. A run uses one thread.
// CoherenceThreadTests covers readers inside those steps.
internal sealed class CoherenceModel
{
    private const int KeyCount = 3;
    private const int Actors = 6;
    private const int Steps = 600;

    private static long s_last;

    private readonly CoherentStore _stage;
    private readonly Random _random;
    private readonly string[] _keys = [.. Enumerable.Range(0, KeyCount).Select(i => $"key:{i}")];
    private readonly ulong[] _hashes;
    private readonly long[] _truth = new long[KeyCount];
    private readonly long[] _acknowledged = new long[KeyCount];
    private readonly bool[] _isChanging = new bool[KeyCount];
    private IEnumerator<bool>? _injected;
    private bool _isInjecting;

    public CoherenceModel(CoherentStore stage, int seed)
    {
        _stage = stage;
        _random = new Random(seed);
        _hashes = [.. _keys.Select(key => stage.Store.DefaultCollection.HashOf(key))];
    }

    /// <summary>Gets a description of a value that was found although a change had been acknowledged; null for none.</summary>
    public string? Fault { get; private set; }

    public int Hits { get; private set; }

    public int Kept { get; private set; }

    public int Refused { get; private set; }

    /// <summary>Runs until all steps are done or an outdated value was found.</summary>
    public void Run()
    {
        for (int key = 0; key < KeyCount; key++)
        {
            _stage.Store.DefaultCollection.Remove(_keys[key]);
            _truth[key] = _acknowledged[key] = ++s_last;
        }

        var actors = new IEnumerator<bool>?[Actors];
        for (int step = 0; step < Steps && Fault is null; step++)
        {
            ref IEnumerator<bool>? actor = ref actors[_random.Next(Actors)];
            actor ??= Choose();
            if (!actor.MoveNext())
            {
                actor = null;
            }
        }
    }

    /// <summary>Sometimes performs a step of a change in the middle of another operation.</summary>
    public void Inject()
    {
        if (_isInjecting || _random.Next(3) != 0)
        {
            return;
        }

        _isInjecting = true;
        _injected ??= Change();
        while (_injected is not null && _random.Next(4) != 0)
        {
            _injected = _injected.MoveNext() ? _injected : null;
        }

        _isInjecting = false;
    }

    private IEnumerator<bool> Choose() => _random.Next(10) switch
    {
        < 2 => Change(),
        < 6 => Fill(_random.Next(KeyCount)),
        _ => Hit(_random.Next(KeyCount)),
    };

    private IEnumerator<bool> Change()
    {
        int key = _random.Next(KeyCount);
        if (_isChanging[key])
        {
            yield break;
        }

        _isChanging[key] = true;
        CairnStore store = _random.Next(2) == 0 ? _stage.Store : _stage.Other;
        CairnCollection cache = store.DefaultCollection;
        long number = ++s_last;
        _truth[key] = number;
        yield return true;
        switch (_random.Next(12))
        {
            case 0:
                _stage.Other.DefaultCollection.Clear();
                break;
            case 1:
                for (int i = 0; i < 2 * store.Engine.Memory.Layout.RingCells; i++)
                {
                    cache.Set($"other:{i % 50}", "x"u8);
                }

                cache.Remove(_keys[key]);
                break;
            case < 6:
                cache.Remove(_keys[key]);
                break;
            default:
                cache.Set(_keys[key], BytesOf(number));
                break;
        }

        yield return true;
        _acknowledged[key] = number;
        _isChanging[key] = false;
    }

    private IEnumerator<bool> Hit(int key)
    {
        long acknowledged = _acknowledged[key];
        Catch(key);
        yield return true;
        if (_stage.Held.TryFind(_hashes[key], out long found))
        {
            Hits++;
            Fault ??= found < acknowledged ? $"{found} was found after {acknowledged} had been acknowledged." : null;
        }
    }

    private IEnumerator<bool> Fill(int key)
    {
        ChangeMark mark = _stage.Coherence.Mark(_hashes[key]);
        yield return true;
        if (!TryRead(key, out long value))
        {
            _stage.Store.DefaultCollection.AcquireLease(_keys[key], TimeSpan.Zero, out StoreLease? lease);
            if (lease is null)
            {
                yield break;
            }

            value = _truth[key];
            yield return true;
            int own = lease.TrySet(BytesOf(value)) ? 1 : 0;
            yield return true;
            lease.Dispose();
            Keep(mark, key, value, own);
        }
        else
        {
            yield return true;
            Keep(mark, key, value, ownChanges: 0);
        }
    }

    // The sink lets other operations run before it removes the value.
    private void Catch(int key)
    {
        _stage.Held.BeforeForgetting = Inject;
        _stage.Coherence.TryCatchUp(_hashes[key]);
        _stage.Held.BeforeForgetting = null;
    }

    private void Keep(in ChangeMark mark, int key, long value, int ownChanges)
    {
        _stage.Held.BeforeForgetting = Inject;
        bool isKept = _stage.Coherence.TryKeep(mark, _hashes[key], ownChanges, (this, key, value), static state =>
        {
            (CoherenceModel model, int key, long value) = state;
            model.Inject();
            model._stage.Held.Keep(model._hashes[key], value);
            return true;
        });
        _stage.Held.BeforeForgetting = null;
        Kept += isKept ? 1 : 0;
        Refused += isKept ? 0 : 1;
    }

    private bool TryRead(int key, out long value)
    {
        value = 0;
        return _stage.Store.DefaultCollection.TryGet(_keys[key], MemoryMarshal.AsBytes(new Span<long>(ref value)), out int _);
    }

    private static byte[] BytesOf(long number) => BitConverter.GetBytes(number);
}
