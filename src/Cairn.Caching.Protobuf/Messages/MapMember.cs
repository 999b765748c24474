using System.Diagnostics.CodeAnalysis;
using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Messages;

/// <summary>A key and its value. On the wire they are fields 1 and 2 of a message.</summary>
internal struct MapEntry<TKey, TValue>
{
    public TKey Key;
    public TValue Value;
}

/// <summary>Creates and fills dictionaries of a type.</summary>
internal sealed class MapShape<TMap, TKey, TValue>(Func<TMap> create)
    where TKey : notnull
    where TMap : IEnumerable<KeyValuePair<TKey, TValue>>
{
    /// <summary>Returns the dictionary with more entries. Later entries replace earlier ones.</summary>
    public TMap With(TMap? map, List<MapEntry<TKey, TValue>> added)
    {
        TMap target = map is IDictionary<TKey, TValue> { IsReadOnly: false } ? map : create();
        var dictionary = (IDictionary<TKey, TValue>)target;
        if (map is not null && !ReferenceEquals(map, target))
        {
            Copies.Take(map.Count());
            foreach ((TKey key, TValue value) in map)
            {
                dictionary[key] = value;
            }
        }

        foreach (MapEntry<TKey, TValue> entry in added)
        {
            dictionary[entry.Key] = entry.Value;
        }

        return target;
    }
}

/// <summary>A dictionary. It is absent if it is null or empty. A null value has no wire form.</summary>
internal sealed class MapMember<TOwner, TMap, TKey, TValue>(
    int number, MessageContract<MapEntry<TKey, TValue>> entries, MapShape<TMap, TKey, TValue> shape, MemberGetter<TOwner, TMap> get,
    MemberSetter<TOwner, TMap>? set) : Member<TOwner>(number, WireFormat.WireType.LengthDelimited)
    where TKey : notnull
    where TMap : IEnumerable<KeyValuePair<TKey, TValue>>
{
    public override void Read(ref ParseContext input, ref TOwner owner, ref object? pending)
    {
        MapEntry<TKey, TValue> entry = entries.Create();
        Nested.Read(ref input, entries, ref entry, isGroup: false);
        ((List<MapEntry<TKey, TValue>>)(pending ??= new List<MapEntry<TKey, TValue>>())).Add(entry);
    }

    public override void Finish(ref TOwner owner, object pending)
    {
        TMap? there = get(ref owner);
        TMap map = shape.With(there, (List<MapEntry<TKey, TValue>>)pending);
        if (!ReferenceEquals(map, there))
        {
            (set ?? throw new InvalidOperationException($"A dictionary of {typeof(TOwner)} is null and cannot be set."))(ref owner, map);
        }
    }

    public override void Write(ref WriteContext output, ref TOwner owner)
    {
        if (get(ref owner) is { } map)
        {
            foreach ((TKey key, TValue value) in map)
            {
                MapEntry<TKey, TValue> entry = Entry(key, value);
                Nested.Write(ref output, entries, Tag, ref entry, isGroup: false);
            }
        }
    }

    public override int Size(ref TOwner owner)
    {
        int size = 0;
        if (get(ref owner) is { } map)
        {
            foreach ((TKey key, TValue value) in map)
            {
                MapEntry<TKey, TValue> entry = Entry(key, value);
                size += TagBytes + Nested.Size(entries, ref entry, isGroup: false, TagBytes);
            }
        }

        return size;
    }

    private static MapEntry<TKey, TValue> Entry(TKey key, TValue value)
    {
        if (value is null)
        {
            ThrowNull();
        }

        return new MapEntry<TKey, TValue> { Key = key, Value = value };
    }

    [DoesNotReturn]
    private static void ThrowNull() => throw new InvalidOperationException(
        $"A dictionary of {typeof(TOwner)} has a value that is null, for which protocol buffers have no form. Leave it out.");
}
