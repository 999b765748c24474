namespace Cairn.Caching.Serialization;

// Converts values of one type to bytes and back. There is one codec for each type and cache. Safe from any thread.
//
//   I1  Deserialize reads the bytes that Serialize of the same format wrote, in any process with the same type.
//   I2  Neither is called with null: the envelope records that a value is null.
//   I3  Deserialize creates objects of T and of types that T declares, never of a type that only the bytes name.
internal abstract class Codec<T>(CodecOptions? options)
{
    // The weight of the moving average of serialized lengths, so that a single unusual value has little effect. A race loses one sample.
    private const int Weight = 8;

    // The assumed size of an object if no value of its type was serialized yet.
    private const long GuessedBytes = 128;

    private long _averageBytes;

    /// <summary>True if many callers may receive the same object, because it is immutable or the options allow it.</summary>
    public bool IsShareable { get; } = Sharing.IsShareable<T>(options);

    /// <summary>The format that the codec writes: a <see cref="CairnFormat"/>, as recorded in envelopes.</summary>
    public abstract byte Format { get; }

    /// <summary>The number of the type in envelopes, the same in all processes.</summary>
    public ulong TypeId { get; } = Serialization.TypeId.Of(typeof(T));

    /// <summary>The reason why values of this type cannot be serialized, with a remedy; null if they can.</summary>
    public virtual string? Problem => null;

    /// <summary>Codecs of additional formats that the type reads, by format; null until <see cref="Codecs"/> has determined them.</summary>
    public IReadOnlyDictionary<byte, Codec<T>>? Readers { get; set; }

    public abstract void Serialize(T value, IBufferWriter<byte> target);

    /// <summary>Deserializes a value. Throws the serializer's exception if <see cref="Serialize"/> did not write the bytes.</summary>
    public abstract T Deserialize(ReadOnlyMemory<byte> source);

    /// <summary>Returns the heap bytes of the value as an object: exact for text, arrays of numbers, and numbers; otherwise an estimate.</summary>
    public virtual long EstimateBytes(T value)
    {
        if (ObjectSize.TryGet(value, out long bytes))
        {
            return bytes;
        }

        // Objects take about twice the bytes of their JSON: names are not repeated, but text is UTF-16 and each object has a header.
        long average = Volatile.Read(ref _averageBytes);
        return average == 0 ? GuessedBytes : ObjectSize.Align(ObjectSize.HeaderBytes + (2 * average));
    }

    /// <summary>Records the serialized length of a value, from which the sizes of others are estimated.</summary>
    public void NoteSerialized(int bytes)
    {
        long average = Volatile.Read(ref _averageBytes);
        Volatile.Write(ref _averageBytes, average == 0 ? Math.Max(1, bytes) : Math.Max(1, average + ((bytes - average) / Weight)));
    }
}
