using System.Data;
using System.Reflection;
using System.Runtime.Serialization;
using System.Xml.Serialization;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Serialization;

// Chooses the codec of a type, and writes values into envelopes and reads them.
//
// The first that exists, in this order:
//   1  a serializer that is registered for exactly the type, the last one; those of the options before those of the services
//   2  one that a factory creates, tried from the last registered to the first; if it declares a format (ICairnSerializer), only if the
//      type does not specify another
//   3  the format that the options, or otherwise CairnSerializerAttribute, name for the type
//   4  the raw form of text, bytes, numbers, times and enumerations
//   5  XML for types that implement IXmlSerializable or carry an attribute of System.Xml.Serialization, and for types with a public constructor without
//      parameters of which a public member carries one
//   6  JSON
internal sealed class Codecs
{
    // Each type that a cache has used has a slot: an index into an array is faster than a dictionary.
    private static int s_types;

    private readonly CodecOptions _options;
    private readonly JsonSettings _json;
    private readonly IHybridCacheSerializerFactory[] _factories; // The first that returns a serializer applies.
    private readonly Lock _gate = new();
    private object?[] _codecs = new object?[64];

    public Codecs(CodecOptions options)
    {
        _options = options;
        _json = new(options);
        IEnumerable<IHybridCacheSerializerFactory> registered = options.Services?.GetServices<IHybridCacheSerializerFactory>() ?? [];
        _factories = [.. options.Factories.Reverse(), .. registered.Reverse().Where(factory => !IsMicrosoftsDefault(factory))];
    }

    public CodecOptions Options => _options;

    /// <summary>Returns the codec of a type, always the same one. <see cref="Codec{T}.Problem"/> shows whether it works.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Codec<T> Of<T>()
    {
        // Acquire; pairs with the release in Create. The codec's fields must be visible with it.
        object?[] codecs = Volatile.Read(ref _codecs);
        int slot = Slot<T>.Index;
        return slot < codecs.Length && Volatile.Read(ref codecs[slot]) is { } codec ? Unsafe.As<Codec<T>>(codec) : Create<T>(slot);
    }

    /// <summary>Writes a value with its envelope into an empty buffer.</summary>
    /// <param name="target">The buffer. It has the envelope if the result is true; otherwise its content is undefined.</param>
    /// <param name="key">The key under which the envelope will be stored.</param>
    /// <param name="header">The times, tags and other fields. This method sets type, format and flags.</param>
    /// <param name="codec">The codec of the value's type.</param>
    /// <param name="value">The value, which may be null.</param>
    /// <param name="compress">False if the cache's caller disabled compression.</param>
    /// <returns>
    /// False if the value is longer than <see cref="CodecOptions.MaximumPayloadBytes"/>. Exceptions of the serializer are passed on.
    /// </returns>
    public bool TryWrite<T>(PooledBuffer target, ReadOnlySpan<char> key, EnvelopeHeader header, Codec<T> codec, T value, bool compress = true)
    {
        header.TypeId = codec.TypeId;
        header.Format = codec.Format;
        header.Flags = value is null ? EnvelopeFlags.Null : EnvelopeFlags.None;
        int start = Envelope.Begin(target, header);
        if (value is not null && !TrySerialize(codec, value, target))
        {
            return false;
        }

        Finish(target, key, start, compress);
        return true;
    }

    /// <summary>Writes a payload that is already serialized with its envelope into an empty buffer.</summary>
    /// <returns>False if the payload is longer than <see cref="CodecOptions.MaximumPayloadBytes"/>.</returns>
    public bool TryWrite(PooledBuffer target, ReadOnlySpan<char> key, EnvelopeHeader header, LocalPayload payload, bool compress = true)
    {
        if (payload.Bytes.Length > _options.MaximumPayloadBytes)
        {
            return false;
        }

        header.TypeId = payload.TypeId;
        header.Format = payload.Format;
        header.Flags = EnvelopeFlags.None;
        int start = Envelope.Begin(target, header);
        target.Write(payload.Bytes);
        Finish(target, key, start, compress);
        return true;
    }

    /// <summary>Serializes a value that is not null to the end of the buffer, without an envelope.</summary>
    /// <returns>False if it is longer than <see cref="CodecOptions.MaximumPayloadBytes"/>. Exceptions of the serializer are passed on.</returns>
    public bool TrySerialize<T>(Codec<T> codec, T value, PooledBuffer target)
    {
        int start = target.WrittenBytes;
        int maxBytes = target.MaxBytes;
        target.MaxBytes = (int)Math.Min((long)start + _options.MaximumPayloadBytes, int.MaxValue);
        try
        {
            codec.Serialize(value, target);
        }
#pragma warning disable CA1031 // Some serializers wrap the exception: any exception after the overflow was caused by it.
        catch (Exception) when (target.HasOverflowed)
#pragma warning restore CA1031
        {
            return false;
        }
        finally
        {
            target.MaxBytes = maxBytes;
        }

        codec.NoteSerialized(target.WrittenBytes - start);

        // A serializer may have caught the exception.
        return !target.HasOverflowed;
    }

    /// <summary>Reads a value from its envelope. Never throws because of the stored bytes.</summary>
    /// <param name="bytes">The complete stored bytes.</param>
    /// <param name="key">The key under which they were stored.</param>
    /// <param name="codec">The codec of the expected type.</param>
    /// <param name="header">The header of the envelope, if the result is Ok.</param>
    /// <param name="value">The value, if the result is Ok.</param>
    public EnvelopeStatus TryRead<T>(ReadOnlyMemory<byte> bytes, ReadOnlySpan<char> key, Codec<T> codec, out EnvelopeHeader header, out T? value)
    {
        value = default;
        EnvelopeStatus status = Envelope.TryRead(bytes, key, codec.TypeId, out header, out ReadOnlyMemory<byte> payload);
        if (status != EnvelopeStatus.Ok)
        {
            return status;
        }

        if (header.IsNull)
        {
            // The value was written as the nullable form of a type that cannot be null here.
            return default(T) is null ? EnvelopeStatus.Ok : EnvelopeStatus.OtherType;
        }

        if (header.Format != codec.Format)
        {
            if (ReaderOf(codec, header.Format) is not { } reader)
            {
                return EnvelopeStatus.OtherFormat;
            }

            codec = reader;
        }

        return header.IsCompressed ? TryReadCompressed(payload, header.PayloadBytes, codec, out value) : TryDeserialize(codec, payload, out value);
    }

    /// <summary>
    /// Reads the serialized form from an envelope, for a first level that gives each reader a copy; null if the value is null.
    /// </summary>
    public EnvelopeStatus TryReadPayload<T>(
        ReadOnlyMemory<byte> bytes, ReadOnlySpan<char> key, Codec<T> codec, out EnvelopeHeader header, out LocalPayload? payload)
    {
        payload = null;
        EnvelopeStatus status = Envelope.TryRead(bytes, key, codec.TypeId, out header, out ReadOnlyMemory<byte> stored);
        if (status != EnvelopeStatus.Ok)
        {
            return status;
        }

        if (header.IsNull)
        {
            return default(T) is null ? EnvelopeStatus.Ok : EnvelopeStatus.OtherType;
        }

        if (header.Format != codec.Format && ReaderOf(codec, header.Format) is null)
        {
            return EnvelopeStatus.OtherFormat;
        }

        if (!header.IsCompressed)
        {
            payload = new(stored.ToArray(), header.Format, header.TypeId);
            return EnvelopeStatus.Ok;
        }

        if (header.PayloadBytes > _options.MaximumPayloadBytes)
        {
            return EnvelopeStatus.TooLarge;
        }

        byte[] plain = GC.AllocateUninitializedArray<byte>(header.PayloadBytes);
        if (!Compression.TryDecompress(stored.Span, plain))
        {
            return EnvelopeStatus.Damaged;
        }

        payload = new(plain, header.Format, header.TypeId);
        return EnvelopeStatus.Ok;
    }

    /// <summary>Creates a copy of a value that is kept in its serialized form. Exceptions of the serializer are passed on.</summary>
    /// <exception cref="InvalidDataException">The value has another type, or a format that is not read for this type.</exception>
    public T Copy<T>(Codec<T> codec, LocalPayload payload)
    {
        if (payload.TypeId == codec.TypeId)
        {
            if (payload.Format == codec.Format)
            {
                return codec.Deserialize(payload.Bytes);
            }

            if (ReaderOf(codec, payload.Format) is { } reader)
            {
                return reader.Deserialize(payload.Bytes);
            }
        }

        throw new InvalidDataException($"The cached value is not a {typeof(T)}, or is in another format.");
    }

    private static EnvelopeStatus TryDeserialize<T>(Codec<T> codec, ReadOnlyMemory<byte> payload, out T? value)
    {
        value = default;
        try
        {
            value = codec.Deserialize(payload);
        }
#pragma warning disable CA1031 // Any exception about unreadable bytes is a miss, also OutOfMemoryException because of a declared length.
        catch (Exception)
#pragma warning restore CA1031
        {
            return EnvelopeStatus.Unreadable;
        }

        // I2 of Codec: null is recorded in the envelope. A null from a payload means that the serializer did not understand it.
        return value is null ? EnvelopeStatus.Unreadable : EnvelopeStatus.Ok;
    }

    private void Finish(PooledBuffer target, ReadOnlySpan<char> key, int start, bool compress)
    {
        int payloadBytes = target.WrittenBytes - start;
        bool isCompressed = compress && !_options.DisableCompression && payloadBytes >= Math.Max(1, _options.CompressionThresholdBytes)
            && Compression.TryCompress(target, start, _options.CompressionQuality);
        Envelope.End(target, key, payloadBytes, isCompressed);
    }

    private EnvelopeStatus TryReadCompressed<T>(ReadOnlyMemory<byte> payload, int payloadBytes, Codec<T> codec, out T? value)
    {
        value = default;
        if (payloadBytes > _options.MaximumPayloadBytes)
        {
            return EnvelopeStatus.TooLarge;
        }

        byte[] plain = ArrayPool<byte>.Shared.Rent(payloadBytes);
        try
        {
            return Compression.TryDecompress(payload.Span, plain.AsSpan(0, payloadBytes))
                ? TryDeserialize(codec, plain.AsMemory(0, payloadBytes), out value)
                : EnvelopeStatus.Damaged;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(plain);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private Codec<T> Create<T>(int slot)
    {
        // Outside the lock: this runs factories of serializers, which may request other codecs.
        Codec<T> codec = Choose<T>(out bool isJsonInsteadOfXml);
        lock (_gate)
        {
            if (slot >= _codecs.Length)
            {
                object?[] larger = new object?[Math.Max(slot + 1, 2 * _codecs.Length)];
                _codecs.CopyTo(larger, 0);

                // Release; pairs with the acquire in Of. The copied elements must be visible with the array.
                Volatile.Write(ref _codecs, larger);
            }

            if (_codecs[slot] is { } other)
            {
                return (Codec<T>)other;
            }

            // Release; pairs with the acquire in Of.
            Volatile.Write(ref _codecs[slot], codec);
        }

        if (isJsonInsteadOfXml)
        {
            _options.OnJsonInsteadOfXml?.Invoke(typeof(T));
        }

        return codec;
    }

    private Codec<T> Choose<T>(out bool isJsonInsteadOfXml)
    {
        isJsonInsteadOfXml = false;
        if (Registered<T>() is { } registered)
        {
            return Wrap(registered);
        }

        CairnFormat asked = FormatOf(typeof(T));
        if (FromFactories<T>(asked) is { } made)
        {
            return Wrap(made);
        }

        if (asked != CairnFormat.Automatic)
        {
            return OfFormat<T>(asked);
        }

        if (Raw<T>() is { } raw)
        {
            return raw;
        }

        bool isMarked = IsMarkedAsXml(typeof(T));
        isJsonInsteadOfXml = isMarked && !CanBeXml(typeof(T));
        return OfFormat<T>(isMarked && !isJsonInsteadOfXml ? CairnFormat.Xml : CairnFormat.Json);
    }

    private Codec<T> Wrap<T>(IHybridCacheSerializer<T> serializer) =>
        serializer is ICairnSerializer { Format: <= CairnFormat.Automatic or > CairnFormat.Custom } own
            ? new UnavailableCodec<T>($"{serializer.GetType()} says it writes format {own.Format}, which is none. Custom is for formats without a number.", _options)
            : new SerializerCodec<T>(serializer, _options);

    private IHybridCacheSerializer<T>? Registered<T>() =>
        _options.Serializers.OfType<IHybridCacheSerializer<T>>().LastOrDefault()
        ?? _options.Services?.GetServices<IHybridCacheSerializer<T>>().LastOrDefault(serializer => !IsMicrosoftsDefault(serializer));

    // An application that uses both implementations also registers Microsoft's serializers for text, bytes and all other types. They were not
    // chosen for this cache, and would override its own choice for a type.
    private static bool IsMicrosoftsDefault(object serializer) => serializer.GetType().Namespace == "Microsoft.Extensions.Caching.Hybrid.Internal";

    private IHybridCacheSerializer<T>? FromFactories<T>(CairnFormat asked)
    {
        foreach (IHybridCacheSerializerFactory factory in _factories)
        {
            if (factory.TryCreateSerializer(out IHybridCacheSerializer<T>? serializer)
                && (asked == CairnFormat.Automatic || serializer is not ICairnSerializer own || own.Format == asked))
            {
                return serializer;
            }
        }

        return null;
    }

    // In a positional record, the compiler puts an attribute of a property on the parameter of the constructor.
    [UnconditionalSuppressMessage("Trimming", "IL2070", Justification = "A member that was trimmed is not serialized either. XML itself requires untrimmed types.")]
    private static bool IsMarkedAsXml(Type type) =>
        typeof(IXmlSerializable).IsAssignableFrom(type)
        || AreXml(type.CustomAttributes)
        || Array.Exists(type.GetMembers(BindingFlags.Public | BindingFlags.Instance), static member => AreXml(member.CustomAttributes))
        || Array.Exists(
            type.GetConstructors(), static constructor => Array.Exists(constructor.GetParameters(), static parameter => AreXml(parameter.CustomAttributes)));

    // The framework's serializer cannot create a type without such a constructor, so a marked member does not choose XML for it. A mark of the
    // type itself does: the failure then names the type.
    [UnconditionalSuppressMessage("Trimming", "IL2070", Justification = "A constructor that was trimmed cannot be used by the serializer either.")]
    private static bool CanBeXml(Type type) =>
        type.IsValueType || type.GetConstructor(Type.EmptyTypes) is not null || typeof(IXmlSerializable).IsAssignableFrom(type) || AreXml(type.CustomAttributes);

    // Data of the attributes only: the attributes themselves are not created.
    private static bool AreXml(IEnumerable<CustomAttributeData> attributes) =>
        attributes.Any(static attribute => attribute.AttributeType.Namespace == typeof(XmlRootAttribute).Namespace);

    private CairnFormat FormatOf(Type type) =>
        _options.Formats.TryGetValue(type, out CairnFormat format) ? format
        : type.GetCustomAttribute<CairnSerializerAttribute>(inherit: false)?.Format ?? CairnFormat.Automatic;

    private Codec<T>? Raw<T>() =>
        typeof(T) == typeof(string) ? (Codec<T>)(object)new StringCodec()
        : typeof(T) == typeof(byte[]) ? (Codec<T>)(object)new BytesCodec(_options)
        : typeof(T) == typeof(ReadOnlyMemory<byte>) ? (Codec<T>)(object)new MemoryCodec(_options)
        : FixedCodecs.Find<T>();

    private Codec<T> OfFormat<T>(CairnFormat format)
    {
        switch (format)
        {
            case CairnFormat.Json:
                return new JsonCodec<T>(_json, _options);

            case CairnFormat.Xml or CairnFormat.Binary:
                return OfReflection<T>(format);

            case CairnFormat.Protobuf:
                return new UnavailableCodec<T>($"The format of {typeof(T)} is Protobuf, but no serializer for it is registered.", _options);

            default:
                return Raw<T>() is { } raw && format == CairnFormat.Raw
                    ? raw
                    : new UnavailableCodec<T>(
                        $"{typeof(T)} cannot be written as {format}. Choose Json, Xml, Binary or Protobuf, or register an IHybridCacheSerializer for it.",
                        _options);
        }
    }

    private Codec<T> OfReflection<T>(CairnFormat format)
    {
        if (typeof(DataSet).IsAssignableFrom(typeof(T)) || typeof(DataTable).IsAssignableFrom(typeof(T)))
        {
            return new UnavailableCodec<T>(
                $"{typeof(T)} is not serialized: its data names the types that are created from it. Cache a type of your own, or register an IHybridCacheSerializer for it.",
                _options);
        }

        if (format == CairnFormat.Binary && !typeof(T).IsDefined(typeof(DataContractAttribute), inherit: false))
        {
            return new UnavailableCodec<T>($"The format of {typeof(T)} is Binary, but the type has no [DataContract]. Add it, or choose another format.", _options);
        }

        if (Reflection.IsAllowed)
        {
            return format == CairnFormat.Xml ? new XmlCodec<T>(_options) : new BinaryCodec<T>(_options);
        }

        return new UnavailableCodec<T>(
            $"The format of {typeof(T)} is {format}, which needs reflection, and reflection is off. Register an IHybridCacheSerializer for it.", _options);
    }

    // Returns the codec for a value in another format than the type's own: only formats that the type declares to read as well.
    private Codec<T>? ReaderOf<T>(Codec<T> codec, byte format)
    {
        if (codec.Readers is { } known)
        {
            return known.GetValueOrDefault(format);
        }

        var readers = new Dictionary<byte, Codec<T>>();
        foreach (CairnFormat other in typeof(T).GetCustomAttribute<CairnSerializerAttribute>(inherit: false)?.AlsoReads ?? [])
        {
            readers[(byte)other] = FromFactories<T>(other) is { } made && made is ICairnSerializer
                ? Wrap(made)
                : OfFormat<T>(other);
        }

        codec.Readers = readers;
        return readers.GetValueOrDefault(format);
    }

    private static class Slot<T>
    {
        public static readonly int Index = Interlocked.Increment(ref s_types) - 1;
    }
}
