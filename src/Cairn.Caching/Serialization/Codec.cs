using System.Buffers;

namespace Cairn.Caching.Serialization;

// How values of one type become bytes and objects again. One per type and cache; safe from any thread.
//
//   I1  What Serialize wrote, Deserialize of the same format reads, in any process with the same type.
//   I2  Neither is called with null: that a value is null is written in the envelope.
//   I3  Deserialize creates objects of T and of types that T declares, never of a type that only the bytes name.
internal abstract class Codec<T>(CodecOptions? options)
{
    // Of an average of serialized lengths, so that one value out of the ordinary does not decide. Races lose a sample, no more.
    private const int Weight = 8;

    // What an object is guessed to take when no value of its type was ever serialized.
    private const long GuessedBytes = 128;

    private long _averageBytes;

    /// <summary>True if one object may be given to many callers, because nobody can change it or the options say so.</summary>
    public bool IsShareable { get; } = Sharing.IsShareable<T>(options);

    /// <summary>Which serializer this is: a <see cref="CairnFormat"/>, as it is written into envelopes.</summary>
    public abstract byte Format { get; }

    /// <summary>The type's number in envelopes, the same in all processes.</summary>
    public ulong TypeId { get; } = Serialization.TypeId.Of(typeof(T));

    /// <summary>Why values of this type cannot be serialized, with what to do about it; null if they can.</summary>
    public virtual string? Problem => null;

    /// <summary>Codecs of other formats that the type also reads, by format; null until <see cref="Codecs"/> has looked for them.</summary>
    public IReadOnlyDictionary<byte, Codec<T>>? Readers { get; set; }

    public abstract void Serialize(T value, IBufferWriter<byte> target);

    /// <summary>The value. Throws, whatever the serializer throws, if the bytes are not what <see cref="Serialize"/> wrote.</summary>
    public abstract T Deserialize(ReadOnlyMemory<byte> source);

    /// <summary>Bytes on the heap while the value is kept as an object: exact for text, arrays of numbers, and numbers; otherwise a guess.</summary>
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

    /// <summary>Tells how long a value was when serialized, by which others are estimated.</summary>
    public void NoteSerialized(int bytes)
    {
        long average = Volatile.Read(ref _averageBytes);
        Volatile.Write(ref _averageBytes, average == 0 ? Math.Max(1, bytes) : Math.Max(1, average + ((bytes - average) / Weight)));
    }
}
