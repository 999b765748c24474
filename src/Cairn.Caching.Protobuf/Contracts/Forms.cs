using Google.Protobuf;
using ProtoBuf;
using ProtoBuf.Serializers;

namespace Cairn.Caching.Protobuf.Contracts;

// The forms of types that protobuf-net has none for.

/// <summary>A <see cref="DateTimeOffset"/>: the local time as protobuf-net writes a DateTime, and the minutes of the offset as field 4.</summary>
internal sealed class OffsetTimeForm : ISerializer<DateTimeOffset>
{
    private const int ValueField = 1;
    private const int ScaleField = 2;
    private const int OffsetField = 4;
    private const int FirstOrLastMoment = 15;

    // The unit of each scale, the largest first.
    private static readonly long[] Units =
    [
        TimeSpan.TicksPerDay, TimeSpan.TicksPerHour, TimeSpan.TicksPerMinute, TimeSpan.TicksPerSecond, TimeSpan.TicksPerMillisecond, 1,
    ];

    public SerializerFeatures Features => SerializerFeatures.CategoryMessage | SerializerFeatures.WireTypeString;

    public DateTimeOffset Read(ref ProtoReader.State state, DateTimeOffset value)
    {
        long number = 0;
        long minutes = 0;
        int scale = 0;
        for (int field = state.ReadFieldHeader(); field > 0; field = state.ReadFieldHeader())
        {
            switch (field)
            {
                case ValueField:
                    state.Hint(WireType.SignedVarint);
                    number = state.ReadInt64();
                    break;
                case ScaleField:
                    scale = state.ReadInt32();
                    break;
                case OffsetField:
                    state.Hint(WireType.SignedVarint);
                    minutes = state.ReadInt64();
                    break;
                default:
                    state.SkipField();
                    break;
            }
        }

        long ticks = scale switch
        {
            FirstOrLastMoment => number < 0 ? 0 : DateTime.MaxValue.Ticks,
            >= 0 when scale < Units.Length => checked((number * Units[scale]) + DateTime.UnixEpoch.Ticks),
            _ => throw new InvalidDataException($"The stored time has the scale {scale}, which does not exist."),
        };
        return new DateTimeOffset(ticks, TimeSpan.FromMinutes(minutes));
    }

    public void Write(ref ProtoWriter.State state, DateTimeOffset value)
    {
        long ticks = value.Ticks - DateTime.UnixEpoch.Ticks;
        bool isFirst = value.Ticks == 0;
        bool isExtreme = isFirst || value.Ticks == DateTime.MaxValue.Ticks;
        int scale = isExtreme ? FirstOrLastMoment : ticks == 0 ? 0 : Array.FindIndex(Units, unit => ticks % unit == 0);
        WriteSigned(ref state, ValueField, isFirst ? -1 : isExtreme ? 1 : ticks / Units[scale]);
        if (scale != 0)
        {
            state.WriteInt32Varint(ScaleField, scale);
        }

        WriteSigned(ref state, OffsetField, value.Offset.Ticks / TimeSpan.TicksPerMinute);
    }

    private static void WriteSigned(ref ProtoWriter.State state, int field, long number)
    {
        if (number != 0)
        {
            state.WriteFieldHeader(field, WireType.SignedVarint);
            state.WriteInt64(number);
        }
    }
}

/// <summary>A message of a type that protoc generated, as an item of a list or a member of a contract. It reads and writes itself.</summary>
internal sealed class GeneratedForm<T> : ISerializer<T>
    where T : class, IMessage<T>, new()
{
    public SerializerFeatures Features => SerializerFeatures.CategoryScalar | SerializerFeatures.WireTypeString;

    public T Read(ref ProtoReader.State state, T value)
    {
        value ??= new T();
        value.MergeFrom(state.AppendBytes(Array.Empty<byte>()));
        return value;
    }

    public void Write(ref ProtoWriter.State state, T value) => state.WriteBytes(value.ToByteArray());
}

/// <summary>A <see cref="Version"/> as text.</summary>
internal sealed class VersionForm : ISerializer<Version>
{
    public SerializerFeatures Features => SerializerFeatures.CategoryScalar | SerializerFeatures.WireTypeString;

    public Version Read(ref ProtoReader.State state, Version value) => Version.Parse(state.ReadString());

    public void Write(ref ProtoWriter.State state, Version value) => state.WriteString(value.ToString());
}
