using Cairn.Caching.Protobuf.Values;
using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Messages;

/// <summary>One number, text or byte string. It is absent if it is zero or null, unless it is always written.</summary>
internal sealed class ScalarMember<TOwner, TValue, TCodec>(
    int number, MemberGetter<TOwner, TValue> get, MemberSetter<TOwner, TValue> set, bool isAlwaysWritten)
    : Member<TOwner>(number, TCodec.WireType)
    where TCodec : struct, IValueCodec<TValue>
{
    // Null has no wire form, so it cannot be written even then.
    private readonly bool _isAlwaysWritten = isAlwaysWritten && default(TValue) is not null;

    public override void Read(ref ParseContext input, ref TOwner owner, ref object? pending) => set(ref owner, TCodec.Read(ref input));

    public override void Write(ref WriteContext output, ref TOwner owner)
    {
        TValue value = get(ref owner);
        if (_isAlwaysWritten || !TCodec.IsZero(value))
        {
            output.WriteTag(Tag);
            TCodec.Write(ref output, value);
        }
    }

    public override int Size(ref TOwner owner)
    {
        TValue value = get(ref owner);
        return _isAlwaysWritten || !TCodec.IsZero(value) ? TagBytes + TCodec.Size(value) : 0;
    }
}

/// <summary>One nullable number. It is absent only if it is null.</summary>
internal sealed class NullableMember<TOwner, TValue, TCodec>(int number, MemberGetter<TOwner, TValue?> get, MemberSetter<TOwner, TValue?> set)
    : Member<TOwner>(number, TCodec.WireType)
    where TValue : struct
    where TCodec : struct, IValueCodec<TValue>
{
    public override void Read(ref ParseContext input, ref TOwner owner, ref object? pending) => set(ref owner, TCodec.Read(ref input));

    public override void Write(ref WriteContext output, ref TOwner owner)
    {
        if (get(ref owner) is { } value)
        {
            output.WriteTag(Tag);
            TCodec.Write(ref output, value);
        }
    }

    public override int Size(ref TOwner owner) => get(ref owner) is { } value ? TagBytes + TCodec.Size(value) : 0;
}
