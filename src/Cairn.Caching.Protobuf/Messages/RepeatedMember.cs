using System.Diagnostics.CodeAnalysis;
using Cairn.Caching.Protobuf.Values;
using Google.Protobuf;
using Google.Protobuf.Collections;

namespace Cairn.Caching.Protobuf.Messages;

/// <summary>A list. It is absent if it is null or empty. A null item has no wire form.</summary>
/// <remarks>Items are collected and set when the message ends, so that an array is made once even if its items are not adjacent.</remarks>
internal abstract class RepeatedMember<TOwner, TCollection, TItem>(
    int number, WireFormat.WireType wireType, CollectionShape<TCollection, TItem> shape, MemberGetter<TOwner, TCollection> get,
    MemberSetter<TOwner, TCollection>? set) : Member<TOwner>(number, wireType)
{
    public override void Finish(ref TOwner owner, object pending)
    {
        TCollection? there = get(ref owner);
        TCollection list = shape.With(there, (List<TItem>)pending);
        if (!ReferenceEquals(list, there))
        {
            (set ?? throw new InvalidOperationException($"A list of {typeof(TOwner)} is null and cannot be set."))(ref owner, list);
        }
    }

    protected static List<TItem> Pending(ref object? pending) => (List<TItem>)(pending ??= new List<TItem>());

    protected ReadOnlySpan<TItem> Items(ref TOwner owner) => get(ref owner) is { } collection ? shape.Items(collection) : default;

    [DoesNotReturn]
    protected static void ThrowNull() => throw new InvalidOperationException(
        $"A list of {typeof(TOwner)} has an item that is null, for which protocol buffers have no form. Leave it out.");
}

/// <summary>A list of text, bytes or times. Each item has its own tag.</summary>
internal sealed class RepeatedScalarMember<TOwner, TCollection, TItem, TCodec>(
    int number, CollectionShape<TCollection, TItem> shape, MemberGetter<TOwner, TCollection> get, MemberSetter<TOwner, TCollection>? set)
    : RepeatedMember<TOwner, TCollection, TItem>(number, TCodec.WireType, shape, get, set)
    where TCodec : struct, IValueCodec<TItem>
{
    public override void Read(ref ParseContext input, ref TOwner owner, ref object? pending) => Pending(ref pending).Add(TCodec.Read(ref input));

    public override void Write(ref WriteContext output, ref TOwner owner)
    {
        foreach (TItem item in Items(ref owner))
        {
            if (item is null)
            {
                ThrowNull();
            }

            output.WriteTag(Tag);
            TCodec.Write(ref output, item);
        }
    }

    public override int Size(ref TOwner owner)
    {
        ReadOnlySpan<TItem> items = Items(ref owner);
        int size = items.Length * TagBytes;
        foreach (TItem item in items)
        {
            if (item is null)
            {
                ThrowNull();
            }

            size += TCodec.Size(item);
        }

        return size;
    }
}

/// <summary>A list of numbers, packed after one tag and one length. It can also read items that each have a tag.</summary>
internal sealed class PackedMember<TOwner, TCollection, TItem, TPacked, TCodec>(
    int number, CollectionShape<TCollection, TItem> shape, MemberGetter<TOwner, TCollection> get, MemberSetter<TOwner, TCollection>? set)
    : RepeatedMember<TOwner, TCollection, TItem>(number, WireFormat.WireType.LengthDelimited, shape, get, set)
    where TCodec : struct, IPackedCodec<TItem, TPacked>
{
    private readonly FieldCodec<TPacked> _codec = TCodec.Packed(WireFormat.MakeTag(number, WireFormat.WireType.LengthDelimited));

    public override bool Accepts(uint tag) => tag == Tag || WireFormat.GetTagWireType(tag) == TCodec.WireType;

    public override void Read(ref ParseContext input, ref TOwner owner, ref object? pending)
    {
        var numbers = new RepeatedField<TPacked>();
        numbers.AddEntriesFrom(ref input, _codec);
        List<TItem> items = Pending(ref pending);
        items.EnsureCapacity(items.Count + numbers.Count);
        foreach (TPacked packed in numbers)
        {
            items.Add(TCodec.From(packed));
        }
    }

    public override void Write(ref WriteContext output, ref TOwner owner)
    {
        ReadOnlySpan<TItem> items = Items(ref owner);
        if (items.IsEmpty)
        {
            return;
        }

        output.WriteTag(Tag);
        output.WriteLength(SizeOf(items));
        foreach (TItem item in items)
        {
            TCodec.Write(ref output, item);
        }
    }

    public override int Size(ref TOwner owner)
    {
        ReadOnlySpan<TItem> items = Items(ref owner);
        if (items.IsEmpty)
        {
            return 0;
        }

        int size = SizeOf(items);
        return TagBytes + CodedOutputStream.ComputeLengthSize(size) + size;
    }

    private static int SizeOf(ReadOnlySpan<TItem> items)
    {
        int size = 0;
        foreach (TItem item in items)
        {
            size += TCodec.Size(item);
        }

        return size;
    }
}

/// <summary>A list of values that have members.</summary>
internal sealed class RepeatedMessageMember<TOwner, TCollection, TItem>(
    int number, bool isGroup, CollectionShape<TCollection, TItem> shape, MemberGetter<TOwner, TCollection> get, MemberSetter<TOwner, TCollection>? set)
    : RepeatedMember<TOwner, TCollection, TItem>(number, Nested.WireType(isGroup), shape, get, set)
{
    private static readonly bool s_isGenerated = typeof(IMessage).IsAssignableFrom(typeof(TItem));

    // Found at the first use, because a type may have a list of itself. Two threads that race here find the same object.
    private MessageContract<TItem>? _contract;

    private MessageContract<TItem> Contract => _contract ??= MessageContract<TItem>.Instance;

    public override void Read(ref ParseContext input, ref TOwner owner, ref object? pending)
    {
        var gathering = (Gathering?)pending;
        if (gathering is null)
        {
            pending = gathering = new Gathering(s_isGenerated ? null : MessageAdapter<TItem>.Take(Contract, default!));
        }

        TItem item = Contract.Create();
        if (gathering.Adapter is { } adapter)
        {
            adapter.Value = item;
            Nested.ReadInto(ref input, adapter, isGroup);
            item = adapter.Value;
        }
        else
        {
            Nested.ReadInto(ref input, (IMessage)item!, isGroup);
        }

        gathering.Items.Add(item);
    }

    public override void Finish(ref TOwner owner, object pending)
    {
        var gathering = (Gathering)pending;
        gathering.Adapter?.GiveBack();
        base.Finish(ref owner, gathering.Items);
    }

    public override void Write(ref WriteContext output, ref TOwner owner)
    {
        ReadOnlySpan<TItem> items = Items(ref owner);
        for (int i = 0; i < items.Length; i++)
        {
            TItem item = items[i];
            if (item is null)
            {
                ThrowNull();
            }

            Nested.Write(ref output, Contract, Tag, ref item, isGroup);
        }
    }

    public override int Size(ref TOwner owner)
    {
        ReadOnlySpan<TItem> items = Items(ref owner);
        int size = items.Length * TagBytes;
        for (int i = 0; i < items.Length; i++)
        {
            TItem item = items[i];
            if (item is null)
            {
                ThrowNull();
            }

            size += Nested.Size(Contract, ref item, isGroup, TagBytes);
        }

        return size;
    }

    // Collects the items of a message until it ends. One adapter reads all of them.
    private sealed class Gathering(MessageAdapter<TItem>? adapter)
    {
        public List<TItem> Items { get; } = [];

        public MessageAdapter<TItem>? Adapter => adapter;
    }
}
