using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Messages;

// Reads and writes a message within another: after its length, or between two tags.
internal static class Nested
{
    public static WireFormat.WireType WireType(bool isGroup) => isGroup ? WireFormat.WireType.StartGroup : WireFormat.WireType.LengthDelimited;

    /// <summary>Reads a message into <paramref name="value"/> and keeps the fields that the input does not have.</summary>
    public static void Read<T>(ref ParseContext input, MessageContract<T> contract, ref T value, bool isGroup)
    {
        if (value is IMessage message)
        {
            ReadInto(ref input, message, isGroup);
            return;
        }

        MessageAdapter<T> adapter = MessageAdapter<T>.Take(contract, value);
        ReadInto(ref input, adapter, isGroup);
        value = adapter.Value;
        adapter.GiveBack();
    }

    /// <summary>Writes a message with its tag, or with both tags of a group.</summary>
    public static void Write<T>(ref WriteContext output, MessageContract<T> contract, uint tag, ref T value, bool isGroup)
    {
        output.WriteTag(tag);
        if (value is IMessage message)
        {
            WriteFrom(ref output, message, isGroup);
        }
        else
        {
            Nesting.Enter<T>();
            if (!isGroup)
            {
                output.WriteLength(contract.Size(ref value));
            }

            contract.Write(ref output, ref value);
            Nesting.Leave();
        }

        if (isGroup)
        {
            output.WriteTag(WireFormat.MakeTag(WireFormat.GetTagFieldNumber(tag), WireFormat.WireType.EndGroup));
        }
    }

    /// <summary>Returns the size of the message with its length or its end tag, but without the tag before it.</summary>
    public static int Size<T>(MessageContract<T> contract, ref T value, bool isGroup, int tagBytes)
    {
        int size;
        if (value is IMessage message)
        {
            size = message.CalculateSize();
        }
        else
        {
            Nesting.Enter<T>();
            size = contract.Size(ref value);
            Nesting.Leave();
        }

        return size + (isGroup ? tagBytes : CodedOutputStream.ComputeLengthSize(size));
    }

    public static void ReadInto(ref ParseContext input, IMessage message, bool isGroup)
    {
        if (isGroup)
        {
            input.ReadGroup(message);
        }
        else
        {
            input.ReadMessage(message);
        }
    }

    private static void WriteFrom(ref WriteContext output, IMessage message, bool isGroup)
    {
        if (isGroup)
        {
            output.WriteGroup(message);
        }
        else
        {
            output.WriteMessage(message);
        }
    }
}

/// <summary>One value that has members. It is absent if it is null, so a struct is always present.</summary>
internal sealed class MessageMember<TOwner, TValue>(
    int number, bool isGroup, MemberGetter<TOwner, TValue> get, MemberSetter<TOwner, TValue> set)
    : Member<TOwner>(number, Nested.WireType(isGroup))
{
    public override void Read(ref ParseContext input, ref TOwner owner, ref object? pending)
    {
        TValue value = get(ref owner);
        value ??= MessageContract<TValue>.Instance.Create();
        Nested.Read(ref input, MessageContract<TValue>.Instance, ref value, isGroup);
        set(ref owner, value);
    }

    public override void Write(ref WriteContext output, ref TOwner owner)
    {
        if (get(ref owner) is { } value)
        {
            Nested.Write(ref output, MessageContract<TValue>.Instance, Tag, ref value, isGroup);
        }
    }

    public override int Size(ref TOwner owner) => get(ref owner) is { } value ? TagBytes + Nested.Size(MessageContract<TValue>.Instance, ref value, isGroup, TagBytes) : 0;
}

/// <summary>One nullable struct that has members. It is absent only if it is null.</summary>
internal sealed class NullableMessageMember<TOwner, TValue>(
    int number, bool isGroup, MemberGetter<TOwner, TValue?> get, MemberSetter<TOwner, TValue?> set)
    : Member<TOwner>(number, Nested.WireType(isGroup))
    where TValue : struct
{
    public override void Read(ref ParseContext input, ref TOwner owner, ref object? pending)
    {
        TValue value = get(ref owner) ?? MessageContract<TValue>.Instance.Create();
        Nested.Read(ref input, MessageContract<TValue>.Instance, ref value, isGroup);
        set(ref owner, value);
    }

    public override void Write(ref WriteContext output, ref TOwner owner)
    {
        if (get(ref owner) is { } value)
        {
            Nested.Write(ref output, MessageContract<TValue>.Instance, Tag, ref value, isGroup);
        }
    }

    public override int Size(ref TOwner owner) => get(ref owner) is { } value ? TagBytes + Nested.Size(MessageContract<TValue>.Instance, ref value, isGroup, TagBytes) : 0;
}
