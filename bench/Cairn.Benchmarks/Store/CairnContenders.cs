using System.Buffers.Binary;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Store;

/// <summary>The product's name in tables.</summary>
internal static class CairnSubject
{
    public const string Name = "Cairn";
}

/// <summary>Gets by byte keys and copies the values.</summary>
internal sealed class CairnGetByBytes(CairnCollection cache, Requests requests, int valueBytes)
    : OperationContender(CairnSubject.Name, requests.Count)
{
    // Longer than a value, so that two threads that copy do not write to the same cache line.
    private readonly byte[] _destination = new byte[valueBytes + 256];

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (!cache.TryGet(requests.Key(i), _destination, out int _))
            {
                Misses++;
            }
        }
    }
}

/// <summary>Gets by string keys and copies the values.</summary>
internal sealed class CairnGetByText(CairnCollection cache, Requests requests, int valueBytes)
    : OperationContender(CairnSubject.Name, requests.Count)
{
    private readonly TextRequests _requests = requests.AsTexts();
    private readonly byte[] _destination = new byte[valueBytes];

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (!cache.TryGet(_requests.Key(i), _destination, out int _))
            {
                Misses++;
            }
        }
    }
}

/// <summary>Gets sixteen byte keys in one call; the cost is counted per key.</summary>
internal sealed class CairnGetMany(CairnCollection cache, Requests requests, int valueBytes)
    : OperationContender(CairnSubject.Name, requests.Count / BatchKeys * BatchKeys)
{
    private const int BatchKeys = 16;

    private readonly ReadOnlyMemory<byte>[] _keys = requests.Memories;
    private readonly byte[] _destination = new byte[BatchKeys * valueBytes];
    private readonly GetManyResult[] _results = new GetManyResult[BatchKeys];

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i += BatchKeys)
        {
            var processed = cache.GetMany(_keys.AsSpan(i, BatchKeys), _destination, _results);
            Misses += BatchKeys - processed;
            foreach (ref readonly var result in _results.AsSpan(0, processed))
            {
                if (!result.IsHit)
                {
                    Misses++;
                }
            }
        }
    }
}

/// <summary>Sets by byte keys and replaces the values.</summary>
internal sealed class CairnSet(CairnCollection cache, Requests requests, int valueBytes)
    : OperationContender(CairnSubject.Name, requests.Count, StoreScale.SetPasses)
{
    private readonly byte[] _value = new byte[valueBytes];

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            cache.Set(requests.Key(i), _value);
        }
    }
}

/// <summary>Sets the integers 0, 1, 2 ..., each with itself as value.</summary>
internal sealed class CairnIntegerSet(CairnCollection cache, int entries) : OperationContender(CairnSubject.Name, entries)
{
    protected override void Run(int first, int count)
    {
        Span<byte> integer = stackalloc byte[sizeof(int)];
        for (var i = first; i < first + count; i++)
        {
            BinaryPrimitives.WriteInt32LittleEndian(integer, i);
            cache.Set(integer, integer);
        }
    }
}

/// <summary>Gets the integers 0, 1, 2 ... and checks each value.</summary>
internal sealed class CairnIntegerGet(CairnCollection cache, int entries) : OperationContender(CairnSubject.Name, entries)
{
    protected override void Run(int first, int count)
    {
        Span<byte> key = stackalloc byte[sizeof(int)];
        Span<byte> value = stackalloc byte[sizeof(int)];
        for (var i = first; i < first + count; i++)
        {
            BinaryPrimitives.WriteInt32LittleEndian(key, i);
            if (!cache.TryGet(key, value, out int _))
            {
                Misses++;
            }
            else if (BinaryPrimitives.ReadInt32LittleEndian(value) != i)
            {
                throw new InvalidDataException($"The store returned another value for {i}.");
            }
        }
    }
}
